//! `machineadm bootstrap`: makes this machine what its configuration says.
use super::run::{Run, lock, machine_for};
use crate::{
    cli::{Bootstrap, ModeArgument},
    command_error::{CommandError, all_succeeded},
    context::{expanded, given, silent_machine, sources},
};
use documents::Source;
use host::{
    FileState, Inspect, Linux,
    contract::{self, Exit},
    linux::input::Care,
};
use jiff::Timestamp;
use machine::Mode;
use std::path::Path;
use zeroize::Zeroizing;

pub(crate) fn run(asked: &Bootstrap, mode: ModeArgument, root: &Path) -> Result<Exit, CommandError> {
    let seen = silent_machine(root)?;
    let sources = match asked.files.is_empty() {
        false => sources(&asked.files, Care::Applying)?,
        true => kept(&seen)?,
    };
    let text = documents::joined(&sources);
    let given = given(sources)?;
    let _lock = lock(&seen, "machineadm bootstrap")?;
    let run = Run { mode: mode.into(), output: asked.output, started: Timestamp::now() };
    let begun = run.begun(&seen);
    let early = (run.mode == Mode::Provision).then(|| Early::keep(&seen, &text, &begun)).transpose()?;
    let configuration = match expanded(given, text, &seen) {
        Ok(configuration) => configuration,
        // Of what was just given nothing is to stay; of what was kept the outcome has to tell.
        Err(unusable) if unusable.exit == Exit::Input && !asked.files.is_empty() => {
            let undone = early.map_or(Ok(()), |early| early.undo(&seen).map_err(CommandError::from));
            return all_succeeded([Err(unusable.error()), undone]).map(|()| Exit::Input);
        }
        Err(unusable) => return run.give_up(*unusable, &seen),
    };
    let mut linux = machine_for(&configuration, root)?;
    run.go(&configuration, None, &mut linux)
}

/// What is kept before anything is fetched, because that may take longer than the machine stays up.
struct Early {
    before: Vec<(&'static str, Option<FileState>)>,
}

impl Early {
    fn keep(linux: &Linux, text: &[u8], outcome: &[u8]) -> host::Result<Self> {
        let mut before = Vec::new();
        for (path, bytes) in [(contract::CONFIGURATION, text), (contract::OUTCOME, outcome)] {
            before.push((path, linux.file(path)?));
            // A disk that takes nothing is the run's to tell, in its outcome.
            let _ = linux.state().write(path, bytes, 0o600);
        }
        Ok(Self { before })
    }

    /// Puts back what was there: something is wrong with the configuration, and nothing is to change.
    fn undo(self, linux: &Linux) -> host::Result<()> {
        self.before.into_iter().try_for_each(|(path, before)| match before {
            Some(before) => linux.state().write(path, before.contents.expose(), 0o600),
            None => linux.state().remove(path),
        })
    }
}

/// The configuration of a run that was cut short.
fn kept(linux: &Linux) -> Result<Vec<Source>, CommandError> {
    match linux.file(contract::CONFIGURATION)? {
        Some(file) => {
            let bytes = Zeroizing::new(file.contents.expose().clone());
            Ok(vec![Source { name: contract::CONFIGURATION.into(), bytes }])
        }
        None => Err(CommandError::usage("no run was cut short here, so there is nothing to go on with: give -f FILE")),
    }
}
