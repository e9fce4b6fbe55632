//! A command of the user's.
use super::{Act, AfterFailure, Effect, Sort, Undone};
use crate::{Checks, Look, PlanError, World, fingerprint::Parts, look::Stage};
use documents::{
    Secret,
    v1alpha1::{Command, Program, Repeat},
};
use host::Call;
use objects::{hex, shell};
use outcome::ActSort;
use sha2::{Digest, Sha256};
use std::time::Duration;

/// How long an `unless` may take in a run, and in a plan, whose user waits for it. The field's documentation names both.
const CHECK: Duration = Duration::from_secs(60);
pub(crate) const CHECK_IN_PLAN: Duration = Duration::from_secs(5);

/// A command of a CommandsConfig.
#[derive(Clone, Debug)]
pub(crate) struct CommandAct(pub(crate) Command, pub(crate) Arguments);

/// Whether a plan shows a command's arguments: those of a document that came encrypted are secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arguments {
    Shown,
    Hidden,
}

pub(super) const SORT: Sort = Sort {
    sort: ActSort::Command,
    left_behind: |id, _| {
        let name = command_name(id).unwrap_or(id);
        Ok(Some(format!(
            "the command {name} was started and did not finish, and this configuration has no such command; put it back, \
             or check what it left and pass --abandon {name}"
        )))
    },
};

/// The first words of the journal id of a command, whatever its definition.
pub(crate) fn id_prefix(command: &Command) -> String {
    format!("{} {}", ActSort::Command.id(), command.name)
}

/// The name of the command of a journal id; `None` for one of another act.
pub fn command_name(id: &str) -> Option<&str> {
    let (sort, rest) = ActSort::of(id)?;
    (sort == ActSort::Command).then(|| rest.split(' ').next().unwrap_or(rest))
}

impl Act for CommandAct {
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The environment is left out: a token in it may be renewed without the work being new.
    fn sort(&self) -> ActSort {
        ActSort::Command
    }

    fn id(&self) -> String {
        let Command { program, creates, unless, .. } = &self.0;
        let mut digest = Sha256::new();
        let mut add = |part: &[u8]| {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        };
        match program {
            Program::Argv(argv) => argv.iter().for_each(|word| add(word.as_bytes())),
            Program::Shell(script) => {
                add(b"\0shell");
                add(script.expose().as_bytes());
            }
        }
        add(creates.as_deref().unwrap_or_default().as_bytes());
        add(unless.as_ref().map(|text| text.expose().as_bytes()).unwrap_or_default());
        format!("{} {}", id_prefix(&self.0), hex::encode(&digest.finalize()[..8]))
    }

    fn repeat(&self) -> Repeat {
        self.0.repeat
    }

    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        let done = match (&self.0.creates, &self.0.unless) {
            (None, None) => return Ok(Effect::Unseen),
            (Some(path), _) if look.host.exists(path)? => true,
            (_, Some(_)) if look.checks == Checks::LeftOut => return Ok(Effect::NotChecked),
            (_, Some(test)) => match look.stage {
                Stage::Run => look.host.succeeds(&self.check(test, CHECK)).map_err(not_ended)?,
                Stage::Preview => match look.host.succeeds(&self.check(test, CHECK_IN_PLAN)) {
                    Err(host::Error::Program { .. }) => return Ok(Effect::NotChecked),
                    checked => checked?,
                },
            },
            (Some(_), None) => false,
        };
        Ok(if done { Effect::Done } else { Effect::Absent })
    }

    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        let call = match &self.0.program {
            Program::Argv(argv) => Call::Argv(argv.clone()),
            Program::Shell(script) => Call::Script(script.clone()),
        };
        Ok(world.host.run(&self.program(call, self.0.timeout))?)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Ended
    }

    /// What a user's command left unfinished, only that command knows; it is run again.
    fn undo(&self, _: &mut World<'_>) -> Result<Undone, PlanError> {
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        let Command { program, environment, .. } = &self.0;
        let call = match (program, self.1) {
            (Program::Argv(argv), Arguments::Shown) => shell::command(argv),
            (Program::Argv(argv), Arguments::Hidden) => {
                format!("{}, {} not shown", argv.first().map(String::as_str).unwrap_or_default(), arguments(argv.len()))
            }
            (Program::Shell(script), _) => match script.expose().lines().count() {
                1 => "shell script, 1 line".to_owned(),
                lines => format!("shell script, {lines} lines"),
            },
        };
        let variables: Vec<&str> = environment.keys().map(String::as_str).collect();
        match variables.is_empty() {
            true => call,
            false => format!("{call}, with {}", variables.join(", ")),
        }
    }

    /// All of it, unlike its id: a variable such as `LD_PRELOAD` makes another command of it.
    fn compares(&self, parts: &mut Parts) {
        let Command { name, program, repeat, creates, unless, environment, timeout, needs_reboot } = &self.0;
        parts.text("command").text(name);
        match program {
            Program::Argv(argv) => parts.text("argv").list(argv),
            Program::Shell(script) => parts.text("shell").text(script.expose()),
        };
        parts.text(match repeat {
            Repeat::Once => "once",
            Repeat::Always => "always",
        });
        parts.maybe(creates.as_deref()).maybe(unless.as_ref().map(|test| test.expose().as_str()));
        parts.text(&environment.len().to_string());
        for (variable, value) in environment {
            parts.text(variable).text(value.expose());
        }
        parts.text(&timeout.as_nanos().to_string()).text(&needs_reboot.to_string());
    }

    fn needs_reboot(&self) -> bool {
        self.0.needs_reboot
    }
}

fn arguments(words: usize) -> String {
    match words.saturating_sub(1) {
        1 => "1 argument".into(),
        many => format!("{many} arguments"),
    }
}

impl CommandAct {
    fn check(&self, test: &Secret<String>, within: Duration) -> host::Program {
        let name = format!("unless of command \"{}\"", self.0.name);
        host::Program { name, ..self.program(Call::Script(test.clone()), within) }
    }

    fn program(&self, call: Call, within: Duration) -> host::Program {
        let Command { name, environment, .. } = &self.0;
        host::Program { name: name.clone(), call, environment: environment.clone(), within }
    }
}

/// Why an `unless` gives no answer: its time limit is not the command's own, which the user would look at first.
fn not_ended(error: host::Error) -> host::Error {
    match error {
        host::Error::Program { program, how, output } => {
            let how = format!("{how}; this limit is fixed, and the command's timeout does not change it");
            host::Error::Program { program, how, output }
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_of_unless_names_its_time_limits() {
        let kind = documents::KINDS.iter().find(|kind| kind.kind == "CommandsConfig").unwrap();
        let schema = (kind.schema)().to_string();
        let limits = format!("within {}s in a run and {}s in a plan", CHECK.as_secs(), CHECK_IN_PLAN.as_secs());
        assert!(schema.contains(&limits), "{schema}");
    }
}
