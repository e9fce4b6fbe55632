//! `machineadm help`, and what the parser answers: help is a result, the rest is invalid use.
use crate::{Cli, command_error::CommandError, show};
use clap::{
    Args, CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};
use host::contract::Exit;

/// Commands that users of kubeadm type, and what does that here.
const HABITS: &[(&str, &str)] = &[
    (
        "upgrade",
        "machineadm does not upgrade a node in place: Cluster API replaces machines. `machineadm config convert` converts a \
         kubeadm file for another Kubernetes version",
    ),
    ("certificate-key", "use `machineadm certs key`"),
    ("renew", "run `kubeadm certs renew`; machineadm copies certificates and renews none"),
    ("check-expiration", "run `kubeadm certs check-expiration`; machineadm copies certificates and renews none"),
    ("generate-csr", "run `kubeadm certs generate-csr`; machineadm copies certificates and renews none"),
    ("print", "use `machineadm config defaults`"),
    ("migrate", "use `machineadm config convert`"),
    ("images", "run `kubeadm config images list`; machineadm pulls no images"),
    ("kubeconfig", "run `kubeadm kubeconfig`; `machineadm discover -o kubeconfig` prints one without credentials"),
];

#[derive(Debug, Args)]
pub(crate) struct Help {
    /// Command; default: list all commands
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Without a command: what there is.
pub(crate) fn all() -> Result<Exit, CommandError> {
    print(&Cli::command().render_help().to_string())?;
    Ok(Exit::Input)
}

pub(crate) fn run(asked: &Help) -> Result<Exit, CommandError> {
    let mut command = Cli::command();
    command.build();
    let mut found = &mut command;
    for (at, word) in asked.command.iter().enumerate() {
        found = found.find_subcommand_mut(word).ok_or_else(|| {
            let path = asked.command[..=at].join(" ");
            advice(word).unwrap_or_else(|| CommandError::usage(format!("there is no command `machineadm {path}`")))
        })?;
    }
    print(&found.render_help().to_string())?;
    Ok(Exit::Done)
}

/// The parser ends its text without a line end where examples follow.
fn print(help: &str) -> Result<(), CommandError> {
    show::print_text(&format!("{}\n", help.trim_end()))
}

/// What the parser answers instead of a command: `--help` and `--version` are results, the rest is invalid use.
pub(crate) fn parser_answer(answer: &clap::Error) -> Result<Exit, CommandError> {
    if !answer.use_stderr() {
        print(&answer.to_string())?;
        return Ok(Exit::Done);
    }
    let unknown = match answer.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if answer.kind() == ErrorKind::InvalidSubcommand => advice(word),
        _ => None,
    };
    Err(unknown.unwrap_or_else(|| CommandError::report(Exit::Input, answer.to_string())))
}

/// Where somebody who knows kubeadm finds it here.
fn advice(word: &str) -> Option<CommandError> {
    let (word, text) = HABITS.iter().find(|(habit, _)| *habit == word)?;
    Some(CommandError::invalid(format!("machineadm has no command `{word}`")).with_remedy(*text))
}
