//! `machineadm version`.
use crate::{cli::Version, command_error::CommandError, show};
use host::contract::Exit;
use serde_json::json;

pub(crate) fn run(asked: &Version) -> Result<Exit, CommandError> {
    let version = env!("CARGO_PKG_VERSION");
    match asked.output {
        Some(output) => show::machine_readable(
            &json!({"version": version, "documents": [documents::v1alpha1::API_VERSION]}),
            output,
        ),
        None => show::print(format!("machineadm {version}\n")),
    }?;
    Ok(Exit::Done)
}
