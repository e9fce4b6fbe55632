//! `machineadm token`: the bootstrap tokens of a cluster.
pub(crate) mod arguments;
mod create;
mod delete;
mod join_command;
mod list;
mod wanted;

use crate::{context::failed, show};
use arguments::Token;
use discovery::BootstrapToken;
use host::{contract::Exit, linux::entropy};

/// Runs what is asked for.
pub(crate) fn run(asked: &Token) -> Exit {
    let done = match asked {
        Token::Create(asked) => create::run(asked),
        Token::List(asked) => list::run(asked),
        Token::Delete(asked) => delete::run(asked),
        Token::Generate => generated().map(|token| {
            show::print(&format!("{}\n", token.expose().as_str()));
            Exit::Done
        }),
    };
    done.unwrap_or_else(|exit| exit)
}

/// A random token.
fn generated() -> Result<BootstrapToken, Exit> {
    let mut failure = None;
    let token = BootstrapToken::generate(|buffer| failure = entropy(buffer).err().or(failure.take()));
    match failure {
        None => Ok(token),
        Some(error) => Err(failed(error)),
    }
}

/// `(dry run)` behind what was only tried.
fn tried(dry_run: bool) -> &'static str {
    if dry_run { " (dry run)" } else { "" }
}

fn effect(dry_run: bool) -> cluster::Effect {
    if dry_run { cluster::Effect::DryRun } else { cluster::Effect::Real }
}
