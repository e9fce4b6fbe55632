//! `machineadm bootstrap`: makes this machine what its configuration says.
use super::{
    closing::Closing,
    delivered::{self, Delivered},
    run::{Run, is_node, lock, machine_for, write_failure},
};
use crate::{
    api_servers::ApiServers,
    cli::{Bootstrap, ModeArgument, Output},
    command_error::{CommandError, all_succeeded},
    context::{expanded, given, silent_machine, sources},
    provider::Waiting,
    show,
};
use documents::Source;
use engine::{
    Manifests, Mode, Prune, Wanted, makes_node,
    outcome::{FailureOutcome, Reason, Stage},
};
use host::{
    FileState, Host, Inspect, Linux, Progress,
    contract::{self, Exit},
    linux::input::Care,
};
use jiff::Timestamp;
use objects::shell;
use std::path::Path;
use zeroize::Zeroizing;

pub(crate) fn run(asked: &Bootstrap, mode: ModeArgument, root: &Path) -> Result<Exit, CommandError> {
    let prune = prune(asked.prune, mode.into())?;
    let (mode, seen) = (mode.into(), silent_machine(root)?);
    let (sources, origin) = match asked.files.is_empty() {
        false => {
            let sources = sources(&asked.files, Care::Applying);
            (sources.map_err(|error| marked_if_idle(error, mode, &seen))?, Origin::Given)
        }
        true => saved_or_delivered(mode, &seen)?,
    };
    let delivered = match origin {
        Origin::Given => Delivered::among(&sources, &seen),
        Origin::Saved => Some(Delivered::of_saved(&sources)),
    };
    let run = Run {
        mode,
        prune,
        manifests: manifests(asked.force),
        output: asked.output,
        started: Timestamp::now(),
        root,
        again: again(asked, Allowed { prune, manifests: manifests(asked.force) }, mode, root),
        delivered,
        closing: None,
    };
    if let (Origin::Saved, Some(saved)) = (origin, &run.delivered) {
        delivered::warn_of_another(saved, &seen);
    }
    go(&run, sources, origin, &asked.abandon, seen)
}

/// Runs documents that a command made of its flags.
pub(super) fn of_sources(sources: Vec<Source>, output: Option<Output>, root: &Path) -> Result<Exit, CommandError> {
    of_sources_with(sources, output, root, None)
}

/// The same; a run that succeeds prints at its end what the command adds.
pub(super) fn of_sources_with(
    sources: Vec<Source>,
    output: Option<Output>,
    root: &Path,
    closing: Option<&dyn Closing>,
) -> Result<Exit, CommandError> {
    let again = command_line(&[], Allowed::default(), Mode::Provision, root);
    let (mode, prune, started) = (Mode::Provision, Prune::List, Timestamp::now());
    let manifests = Manifests::Respected;
    let run = Run { mode, prune, manifests, output, started, root, again, delivered: None, closing };
    go(&run, sources, Origin::Given, &[], silent_machine(root)?)
}

/// Where a configuration came from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// From the user of this command, or delivered by a first-boot tool.
    Given,
    /// From an earlier run.
    Saved,
}

fn go(
    run: &Run<'_>,
    sources: Vec<Source>,
    origin: Origin,
    abandon: &[String],
    mut seen: Linux,
) -> Result<Exit, CommandError> {
    let root = run.root;
    let text = documents::joined(&sources);
    let given = given(sources).map_err(|error| marked_if_idle(error, run.mode, &seen))?;
    let _lock = lock(&seen, "machineadm bootstrap").map_err(|error| marked_if_idle(error, run.mode, &seen))?;
    seen.remove_leftovers()?;
    engine::check_records(&seen)?;
    let begun = run.begun(&seen);
    let early = (run.mode == Mode::Provision).then(|| Early::keep(&seen, &text, &begun)).transpose()?;
    let undo = |early: Option<Early>, error: CommandError| {
        let undone = early.map_or(Ok(()), |early| early.undo(&seen).map_err(CommandError::from));
        all_succeeded([Err(error), undone]).map(|()| Exit::Input)
    };
    let configuration = match expanded(given, text, &seen, Waiting::AsConfigured) {
        Ok(configuration) => configuration,
        // Of what was just given nothing is to stay; of what was saved the outcome has to tell.
        Err(unusable) if unusable.exit == Exit::Input && origin == Origin::Given => {
            return undo(early, marked(unusable.error(), run.mode, &seen));
        }
        Err(unusable) => return run.give_up(*unusable, &seen),
    };
    if let Err(error) = can_succeed(run.mode, &configuration.wanted, &seen) {
        return undo(early, error);
    }
    let abandoned = match abandoned(abandon, &seen) {
        Ok(abandoned) => abandoned,
        Err(error) => return undo(early, error),
    };
    let mut linux = machine_for(&configuration, root)?;
    if let Err(cause) = engine::check_unfinished(&configuration.wanted, &abandoned, &linux, &ApiServers) {
        return undo(early, CommandError::from(&cause));
    }
    abandoned.iter().try_for_each(|id| linux.note(id, Progress::New))?;
    configuration.wanted.warnings(run.mode).iter().for_each(|warning| warn!("{warning}"));
    run.go(&configuration, None, &mut linux)
}

/// The command that repeats this run. Mode provision continues with the configuration that it saved.
fn again(asked: &Bootstrap, allowed: Allowed, mode: Mode, root: &Path) -> String {
    let files = if mode == Mode::Provision { &[][..] } else { &asked.files };
    command_line(files, allowed, mode, root)
}

/// What flags allow a run to do besides.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowed {
    pub(super) prune: Prune,
    pub(super) manifests: Manifests,
}

/// A call of `bootstrap`, to be pasted into a shell.
pub(super) fn command_line(files: &[String], allowed: Allowed, mode: Mode, root: &Path) -> String {
    let Allowed { prune, manifests } = allowed;
    let mut command = show::status::command(mode, root);
    files.iter().for_each(|file| command.push_str(&format!(" -f {}", shell::quoted(file))));
    command.push_str(if prune == Prune::Restore { " --prune" } else { "" });
    command + if manifests == Manifests::Overwritten { " --force" } else { "" }
}

/// Refuses what can't succeed before anything is changed: only a running system becomes a node.
pub(super) fn can_succeed(mode: Mode, wanted: &Wanted, linux: &Linux) -> Result<(), CommandError> {
    let node = wanted.documents.iter().find(|document| makes_node(document)).filter(|_| mode == Mode::Provision);
    match node {
        Some(document) if !linux.live() => Err(CommandError::invalid(format!(
            "{} needs the running system, and --root names the root file system of another one",
            document.kind
        ))
        .with_remedy("pass --mode prepare: it runs everything before that document")),
        _ => Ok(()),
    }
}

/// What becomes of edits of others in a manifest.
pub(super) const fn manifests(force: bool) -> Manifests {
    if force { Manifests::Overwritten } else { Manifests::Respected }
}

/// Whether what no document names any more goes, which only mode post does.
pub(super) fn prune(asked: bool, mode: Mode) -> Result<Prune, CommandError> {
    match (asked, mode) {
        (false, _) => Ok(Prune::List),
        (true, Mode::Post) => Ok(Prune::Restore),
        (true, _) => {
            Err(CommandError::usage("--prune requires --mode post: the other modes do not evaluate every document"))
        }
    }
}

/// The heading of a report and its first problem.
const CAUSE_LINES: usize = 3;

/// The same before this process holds the lock: a run at work has its own say.
fn marked_if_idle(error: CommandError, mode: Mode, linux: &Linux) -> CommandError {
    match linux.lock_holder() {
        Ok(Some(_)) => error,
        _ => marked(error, mode, linux),
    }
}

/// Invalid input of a machine that is no node yet: whoever polls must learn of it, and nothing else is written.
fn marked(error: CommandError, mode: Mode, linux: &Linux) -> CommandError {
    if mode != Mode::Provision || is_node(linux) || error.exit() != Exit::Input {
        return error;
    }
    let cause = error.text().lines().map(str::trim).filter(|line| !line.is_empty()).take(CAUSE_LINES);
    let cause = cause.collect::<Vec<_>>().join(" ");
    let failure = FailureOutcome::new(Stage::Configuration.name(), Reason::ConfigurationInvalid, cause);
    match write_failure(linux, &failure) {
        Ok(()) => error,
        Err(unwritten) => error.and(CommandError::from(unwritten).with_exit(Exit::Input)),
    }
}

/// The journal ids of commands that were interrupted and that the operator gives up; what they left is his to know.
fn abandoned(commands: &[String], linux: &Linux) -> Result<Vec<String>, CommandError> {
    let started = linux.unfinished()?;
    let mut abandoned = Vec::new();
    for command in commands {
        let is_named = |id: &&String| engine::command_name(id) == Some(command);
        let before = abandoned.len();
        abandoned.extend(started.iter().filter(is_named).cloned());
        if abandoned.len() == before {
            let text = format!("--abandon {command}: no such command was interrupted here");
            return Err(CommandError::invalid(text));
        }
    }
    Ok(abandoned)
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

/// Without `-f`: the configuration of a run that was interrupted, else the one that a first-boot tool delivered. Only mode
/// provision saves its configuration, and only it is what first boot runs.
fn saved_or_delivered(mode: Mode, linux: &Linux) -> Result<(Vec<Source>, Origin), CommandError> {
    if mode != Mode::Provision {
        return Err(CommandError::usage(format!(
            "--mode {} needs -f FILE: only provision saves its configuration",
            mode.name()
        )));
    }
    let refused = |error: CommandError| marked_if_idle(error, mode, linux);
    if let Some(saved) = saved(linux).map_err(|error| refused(error.into()))? {
        return Ok((saved, Origin::Saved));
    }
    let missing = || {
        let delivered = linux.place_of(contract::DELIVERED);
        CommandError::invalid(format!(
            "no run was interrupted here and {} does not exist: there is no configuration to run",
            delivered.display()
        ))
        .with_remedy("pass a configuration with -f FILE")
    };
    let sources = delivered::read(linux).map_err(refused)?.ok_or_else(missing)?;
    Ok((sources, Origin::Given))
}

fn saved(linux: &Linux) -> host::Result<Option<Vec<Source>>> {
    linux.state().restore()?;
    let file = linux.file(contract::CONFIGURATION)?;
    Ok(file.map(|file| {
        let bytes = Zeroizing::new(file.contents.expose().clone());
        vec![Source { name: contract::CONFIGURATION.into(), bytes }]
    }))
}
