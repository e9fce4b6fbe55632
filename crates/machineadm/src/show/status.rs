//! An outcome for people.
use super::{count, padded, sign, sources};
use engine::{
    Mode,
    outcome::{Action, AddedTurn, FailureOutcome, Outcome, Stage, State, StepOutcome, TurnOutcome},
};
use jiff::{Timestamp, tz::TimeZone};
use objects::{one_line, shell};
use std::path::Path;

/// Whether the run that an outcome tells of is still at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    /// Somebody holds the lock.
    AtWork(String),
    /// Nobody does.
    Idle,
}

/// One word for the whole.
pub(crate) fn verdict(outcome: &Outcome, now: &Now) -> String {
    match (outcome.state, now) {
        (State::Succeeded, _) => "SUCCEEDED".into(),
        (State::Running, Now::AtWork(_)) => "RUNNING".into(),
        (State::Failed, _) => {
            let at = outcome.failure.as_ref().map_or("an unknown step", |failure| &failure.phase);
            format!("FAILED at {}", one_line(at))
        }
        (State::Running | State::NotReached, _) => {
            let at = outcome.phases.iter().find(|phase| phase.state == State::Running);
            format!("INTERRUPTED{}", at.map(|phase| format!(" at {}", one_line(&phase.name))).unwrap_or_default())
        }
    }
}

/// Where an outcome is read, and when.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// Whether its run is still at work.
    pub(crate) now: &'a Now,
    /// The time.
    pub(crate) clock: Timestamp,
    /// The file.
    pub(crate) file: &'a Path,
    /// The root file system that was asked for.
    pub(crate) root: &'a Path,
    /// The command that repeats the run, if it is known.
    pub(crate) again: Option<&'a str>,
}

/// Renders an outcome.
pub(crate) fn text(outcome: &Outcome, reading: &Reading<'_>) -> String {
    let Reading { now, clock, file, .. } = *reading;
    let end = match (outcome.finished, now) {
        (Some(finished), _) => Some(finished),
        (None, Now::AtWork(_)) => Some(clock),
        (None, Now::Idle) => None,
    };
    let took = end.map(|end| format!(", {} s", tenths(end.duration_since(outcome.started).as_secs_f64())));
    let started = outcome.started.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ");
    let mut text = format!(
        "{}  {}   {}, started {started}{}\n{}\n",
        one_line(&outcome.machine),
        verdict(outcome, now),
        outcome.mode.name(),
        took.unwrap_or_default(),
        sources(&outcome.sources)
    );
    let failed_at = |stage| outcome.failure.as_ref().filter(|failure| failure.stage() == Some(stage));
    for stage in [Stage::Configuration, Stage::Start] {
        text.push_str(&failed_at(stage).map(failure_lines).unwrap_or_default());
    }
    let width = outcome.phases.iter().map(|turn| title(turn).chars().count()).max().unwrap_or_default().clamp(18, 60);
    for phase in &outcome.phases {
        text.push_str(&turn_line(phase, width));
        let failure = outcome.failure.as_ref().filter(|failure| failure.is_of(phase));
        text.push_str(&failure.map(failure_lines).unwrap_or_default());
    }
    text.push_str(&failed_at(Stage::End).map(failure_lines).unwrap_or_default());
    if let Some(why) = &outcome.reboot {
        text.push_str(&format!("    A reboot is needed: {}\n", one_line(why)));
    }
    outcome.remarks.iter().for_each(|remark| text.push_str(&format!("    {}\n", one_line(remark))));
    text.push_str(&next_step(outcome, reading));
    text.push_str(&format!("\noutcome {}\n", one_line(&file.to_string_lossy())));
    text
}

fn turn_line(phase: &TurnOutcome, width: usize) -> String {
    let (mark, time) = match phase.state {
        State::Succeeded => ("✔", format!("{} s", tenths(phase.seconds))),
        State::Failed => ("✘", format!("{} s", tenths(phase.seconds))),
        State::Running => ("▸", String::new()),
        State::NotReached => ("·", String::new()),
    };
    let is_preflight = phase.added() == Some(AddedTurn::Preflight);
    let done = phase.steps.iter().filter(|step| step.state == State::Succeeded).count();
    let what = match phase.state {
        State::NotReached => "not reached".into(),
        State::Succeeded if is_preflight && !phase.remarks.is_empty() => one_line(&phase.remarks[0]),
        State::Succeeded if phase.steps.is_empty() => "nothing to do".into(),
        State::Succeeded => done_in_words(phase),
        State::Failed if phase.steps.is_empty() => String::new(),
        State::Failed | State::Running => format!("{done} of {}", count(phase.steps.len(), "step")),
    };
    let line = format!("  {} {} {:>8}   {what}", sign(mark), padded(&title(phase), width), time);
    let mut text = format!("{}\n", line.trim_end());
    // What preflight has done stands above already.
    let above = usize::from(is_preflight && phase.state == State::Succeeded);
    for remark in phase.remarks.iter().skip(above) {
        text.push_str(&format!("        {}\n", one_line(remark)));
    }
    text
}

/// A document with its place in the stream.
fn title(turn: &TurnOutcome) -> String {
    match turn.document {
        Some(number) => format!("{number} {}", one_line(&turn.name)),
        None => one_line(&turn.name),
    }
}

/// What was done, as one would tell it: `2 created, containerd restarted`.
fn done_in_words(phase: &TurnOutcome) -> String {
    let actions: Vec<(Action, &str)> = phase.steps.iter().filter_map(StepOutcome::action).collect();
    let of = |wanted: Action| actions.iter().filter(|(action, _)| *action == wanted).count();
    let mut words = Vec::new();
    for (action, word) in [(Action::Create, "created"), (Action::Change, "changed"), (Action::Delete, "deleted")] {
        match of(action) {
            0 => {}
            many => words.push(format!("{many} {word}")),
        }
    }
    for (action, target) in &actions {
        match action {
            Action::Load => words.push(format!("{target} loaded")),
            Action::Enable | Action::Disable => words.push(format!("{target} {action}d")),
            Action::Mask | Action::Unmask | Action::Start => words.push(format!("{target} {action}ed")),
            Action::Stop => words.push(format!("{target} stopped")),
            Action::Restart => words.push(format!("{target} restarted")),
            Action::Refresh => words.push(format!("{target} refreshed")),
            Action::Run => words.push(format!("{target} ran")),
            _ => {}
        }
    }
    one_line(&words.join(", "))
}

fn failure_lines(failure: &FailureOutcome) -> String {
    let mut text = String::new();
    if let Some(step) = &failure.step {
        text.push_str(&format!("        {}\n", one_line(step)));
    }
    // A cause may have several lines: none of them may look like one of another turn.
    failure.cause.lines().for_each(|line| text.push_str(&format!("        {}\n", one_line(line))));
    for line in &failure.output {
        text.push_str(&format!("          | {}\n", one_line(line)));
    }
    if let Some(advice) = &failure.advice {
        text.push_str(&format!("    Remedy:  {}\n", one_line(advice)));
    }
    text
}

fn next_step(outcome: &Outcome, reading: &Reading<'_>) -> String {
    let Reading { now, root, again, .. } = *reading;
    let stage = outcome.failure.as_ref().and_then(FailureOutcome::stage);
    if stage == Some(Stage::Configuration) && outcome.failure.as_ref().is_some_and(|failure| failure.advice.is_some()) {
        return String::new();
    }
    let has_started = stage != Some(Stage::Start);
    match (outcome.state, now) {
        (State::Failed | State::Running, Now::Idle) if has_started && outcome.mode == Mode::Provision => {
            format!("    Then:    {}   (continues with the saved configuration)\n", resume(root))
        }
        (State::Failed | State::Running, Now::Idle) => match again {
            Some(again) => format!("    Then:    {again}\n"),
            None => format!("    Then:    {} -f FILE   (FILE is your configuration)\n", command(outcome.mode, root)),
        },
        (_, Now::AtWork(who)) => format!("    A run is in progress: {}\n", one_line(who)),
        _ => String::new(),
    }
}

/// The command that continues an interrupted run, to be pasted into a shell.
pub(crate) fn resume(root: &Path) -> String {
    command(Mode::Provision, root)
}

/// The call of `bootstrap` without its files.
pub(crate) fn command(mode: Mode, root: &Path) -> String {
    let root = root.to_string_lossy();
    let mut words = vec!["machineadm", "bootstrap"];
    if root != "/" {
        words.extend(["--root", &root]);
    }
    if mode != Mode::Provision {
        words.extend(["--mode", mode.name()]);
    }
    shell::command(&words)
}

fn tenths(seconds: f64) -> String {
    format!("{:.1}", seconds.max(0.0))
}
