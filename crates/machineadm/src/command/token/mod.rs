//! `machineadm token`: the bootstrap tokens of a cluster.
pub(crate) mod arguments;
mod create;
mod delete;
pub(super) mod join_command;
mod list;
pub(super) mod taken;
mod wanted;

use crate::{command_error::CommandError, show::tokens::Stream};
use arguments::{Action, Token};
use cluster::Effect;
use discovery::BootstrapToken;
use host::{contract::Exit, linux::entropy};

/// Runs what is asked for.
pub(crate) fn run(asked: &Token) -> Result<Exit, CommandError> {
    match &asked.action {
        Action::Create(create) => create::run(create, asked),
        Action::List(list) => list::run(list, asked),
        Action::Delete(delete) => delete::run(delete, asked),
        Action::Generate(generate) => {
            let token = generated()?.expose();
            let object = serde_json::json!({"token": token.as_str()});
            Stream::of(generate.output).put(&format!("{}\n", token.as_str()), &object)?;
            Ok(Exit::Done)
        }
    }
}

/// A random token.
pub(super) fn generated() -> Result<BootstrapToken, CommandError> {
    let mut failure = None;
    let token = BootstrapToken::generate(|buffer| failure = entropy(buffer).err().or(failure.take()));
    match failure {
        None => Ok(token),
        Some(error) => Err(error.into()),
    }
}

/// `(dry run)` behind what was only tried.
const fn tried(effect: Effect) -> &'static str {
    match effect {
        Effect::Real => "",
        Effect::DryRun => " (dry run)",
    }
}
