//! `machineadm explain`: what a kind or a field means.
use crate::{cli::Explain, show};
use host::contract::Exit;

pub(crate) fn run(asked: &Explain) -> Exit {
    match documents::explain(asked.what.as_deref().unwrap_or_default()) {
        Ok(text) => {
            show::print(&text);
            Exit::Done
        }
        Err(error) => super::wrong_use(&error.to_string()),
    }
}
