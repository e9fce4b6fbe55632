//! An outcome for people.
use super::{count, padded, sign, sources};
use engine::outcome::{CONFIGURATION, END, FailureOutcome, Outcome, START, State, TurnOutcome};
use jiff::{Timestamp, tz::TimeZone};
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
            format!("FAILED at {}", outcome.failure.as_ref().map_or("an unknown place", |failure| &failure.phase))
        }
        (State::Running | State::NotReached, _) => {
            let at = outcome.phases.iter().find(|phase| phase.state == State::Running);
            format!("INTERRUPTED{}", at.map(|phase| format!(" at {}", phase.name)).unwrap_or_default())
        }
    }
}

/// Renders an outcome.
pub(crate) fn text(outcome: &Outcome, now: &Now, clock: Timestamp, place: &Path) -> String {
    let end = match (outcome.finished, now) {
        (Some(finished), _) => Some(finished),
        (None, Now::AtWork(_)) => Some(clock),
        (None, Now::Idle) => None,
    };
    let took = end.map(|end| format!(", {} s", tenths(end.duration_since(outcome.started).as_secs_f64())));
    let started = outcome.started.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ");
    let mut text = format!(
        "{}  {}   {}, started {started}{}\n{}\n",
        outcome.machine,
        verdict(outcome, now),
        outcome.mode.name(),
        took.unwrap_or_default(),
        sources(&outcome.sources)
    );
    let failed_at = |place: &str| outcome.failure.as_ref().filter(|failure| failure.phase == place);
    for place in [CONFIGURATION, START] {
        text.push_str(&failed_at(place).map(failure_lines).unwrap_or_default());
    }
    let width = outcome.phases.iter().map(|turn| title(turn).chars().count()).max().unwrap_or_default().clamp(18, 60);
    for phase in &outcome.phases {
        text.push_str(&turn_line(phase, width));
        let failure = failed_at(&phase.name).filter(|failure| failure.document == phase.document);
        text.push_str(&failure.map(failure_lines).unwrap_or_default());
    }
    text.push_str(&failed_at(END).map(failure_lines).unwrap_or_default());
    if let Some(why) = &outcome.reboot {
        text.push_str(&format!("    A reboot is needed: {why}\n"));
    }
    text.push_str(&next_step(outcome, now));
    text.push_str(&format!("\noutcome {}\n", place.display()));
    text
}

fn turn_line(phase: &TurnOutcome, width: usize) -> String {
    let (mark, time) = match phase.state {
        State::Succeeded => ("✔", format!("{} s", tenths(phase.seconds))),
        State::Failed => ("✘", format!("{} s", tenths(phase.seconds))),
        State::Running => ("▸", String::new()),
        State::NotReached => ("·", String::new()),
    };
    let done = phase.steps.iter().filter(|step| step.state == State::Succeeded).count();
    let what = match phase.state {
        State::NotReached => "not reached".into(),
        State::Succeeded if phase.steps.is_empty() => "nothing to do".into(),
        State::Succeeded => done_in_words(phase),
        State::Failed | State::Running => format!("{done} of {}", count(phase.steps.len(), "step")),
    };
    let mut text = format!("  {} {} {:>8}   {what}\n", sign(mark), padded(&title(phase), width), time);
    for remark in &phase.remarks {
        text.push_str(&format!("        {remark}\n"));
    }
    text
}

/// A document with its place in the stream.
fn title(turn: &TurnOutcome) -> String {
    match turn.document {
        Some(number) => format!("{number} {}", turn.name),
        None => turn.name.clone(),
    }
}

/// What was done, as one would tell it: `2 created, containerd restarted`.
fn done_in_words(phase: &TurnOutcome) -> String {
    let actions: Vec<(&str, &str)> = phase.steps.iter().filter_map(|step| step.what.split_once(' ')).collect();
    let of = |wanted: &str| actions.iter().filter(|(action, _)| *action == wanted).count();
    let mut words = Vec::new();
    for (action, word) in [("create", "created"), ("change", "changed"), ("delete", "deleted")] {
        match of(action) {
            0 => {}
            many => words.push(format!("{many} {word}")),
        }
    }
    for (action, target) in &actions {
        match *action {
            "load" => words.push(format!("{target} loaded")),
            "restart" => words.push(format!("{target} restarted")),
            "refresh" => words.push(format!("{target} refreshed")),
            "run" => words.push(format!("{target} ran")),
            _ => {}
        }
    }
    words.join(", ")
}

fn failure_lines(failure: &FailureOutcome) -> String {
    let mut text = String::new();
    if let Some(step) = &failure.step {
        text.push_str(&format!("        {step}\n"));
    }
    text.push_str(&format!("        {}\n", failure.cause));
    for line in &failure.output {
        text.push_str(&format!("          | {line}\n"));
    }
    if let Some(advice) = &failure.advice {
        text.push_str(&format!("    Remedy:  {advice}\n"));
    }
    text
}

fn next_step(outcome: &Outcome, now: &Now) -> String {
    if outcome.failure.as_ref().is_some_and(|failure| failure.phase == CONFIGURATION && failure.advice.is_some()) {
        return String::new();
    }
    let has_started = outcome.failure.as_ref().is_none_or(|failure| failure.phase != START);
    match (outcome.state, now) {
        (State::Failed | State::Running, Now::Idle) if has_started && outcome.mode == engine::Mode::Provision => {
            "    Then:    machineadm bootstrap   (continues with the saved configuration)\n".into()
        }
        (State::Failed | State::Running, Now::Idle) => "    Then:    run it again\n".into(),
        (_, Now::AtWork(who)) => format!("    at work: {who}\n"),
        _ => String::new(),
    }
}

fn tenths(seconds: f64) -> String {
    format!("{:.1}", seconds.max(0.0))
}
