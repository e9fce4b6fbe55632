//! The question before something that cannot be undone: a person answers it on a terminal, or `--yes` does.
use crate::{
    command_error::CommandError,
    show::log::{self, Level},
};
use clap::Args;
use std::io::{self, BufRead, IsTerminal};

/// Of the commands that ask before they act.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Confirmation {
    /// Do not ask for confirmation; required if standard input and standard error are not a terminal
    #[arg(short, long)]
    yes: bool,
}

/// How a command was confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confirmed {
    /// By `--yes`, at once.
    InAdvance,
    /// By a person, who may have taken their time.
    OnTerminal,
}

impl Confirmation {
    /// Refuses to start where nobody can be asked.
    pub(crate) fn check(self) -> Result<(), CommandError> {
        if self.yes { Ok(()) } else { on_terminal("--yes") }
    }

    /// Shows what will happen and asks; everything but `y` and `yes` is a no.
    pub(crate) fn ask(self, what: &str, question: &str) -> Result<Confirmed, CommandError> {
        self.check()?;
        if self.yes {
            log::print(Level::Info, what);
            return Ok(Confirmed::InAdvance);
        }
        ask(what, question).map(|()| Confirmed::OnTerminal)
    }
}

/// Refuses where nobody can be asked; this option confirms in advance.
pub(crate) fn on_terminal(option: &str) -> Result<(), CommandError> {
    match is_terminal() {
        true => Ok(()),
        false => Err(CommandError::usage(format!(
            "confirmation is required, and standard input and standard error are not a terminal: pass {option} to confirm, \
             or --dry-run to change nothing"
        ))),
    }
}

/// Shows what will happen and asks a person.
pub(crate) fn ask(what: &str, question: &str) -> Result<(), CommandError> {
    // Also with --quiet: nobody can agree to what they do not see.
    log::print(Level::Warning, &format!("{what}{question} [y/N] "));
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    match read.is_ok() && is_yes(&answer) {
        true => Ok(()),
        false => Err(CommandError::failed("not confirmed: nothing was changed")),
    }
}

fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        for (answer, is) in
            [("y\n", true), ("Yes\r\n", true), ("", false), ("\n", false), ("n\n", false), ("yy", false)]
        {
            assert_eq!(is_yes(answer), is, "{answer:?}");
        }
    }
}
