//! `machineadm explain`: what a kind or a field means.
use crate::{cli::Explain, command_error::CommandError, show};
use host::contract::Exit;

pub(crate) fn run(asked: &Explain) -> Result<Exit, CommandError> {
    let text = documents::explain(asked.what.as_deref().unwrap_or_default());
    let text = text.map_err(|error| CommandError::usage(error.to_string()))?;
    show::print_text(&text)?;
    Ok(Exit::Done)
}
