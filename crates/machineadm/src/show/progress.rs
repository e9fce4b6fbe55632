//! What a run shows while it works: a moving line on a terminal, a start and an end of each step in a boot log.
use super::{
    log::{self, Level},
    moving_line::MovingLine,
    span,
};
use engine::{Event, Line, Remark, Step, Transfer};
use objects::one_line;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// Shows a run.
pub(crate) struct Progress {
    labels: Vec<String>,
    line: Option<MovingLine<AtWork>>,
    started: Instant,
    /// The step at work.
    text: String,
    /// When the log was last told how far a download has come.
    told: Instant,
}

/// How often a log is told how far a download has come.
const BETWEEN_TRANSFERS: Duration = Duration::from_secs(10);

/// What is done now, and since when.
struct AtWork {
    text: String,
    since: Instant,
}

impl Progress {
    /// For a run that starts, with the names of its turns.
    pub(crate) fn new(labels: Vec<String>) -> Self {
        let line = MovingLine::start(|work: &AtWork, _| format!("… {} {}", span(work.since.elapsed()), work.text));
        let now = Instant::now();
        Self { labels, line, started: now, text: String::new(), told: now }
    }

    /// Shows an event.
    pub(crate) fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Turn(turn) => self.show(self.name(*turn)),
            Event::Starts(turn, _, step) => self.starts(*turn, step),
            Event::Done(turn, _, step) => self.done(*turn, step),
            Event::Again(act) => {
                self.print(Level::Info, &format!("{act} was interrupted before: undone, starting again"), Map::new());
            }
            Event::Planned(turn, planned) => {
                if planned.steps.is_empty() {
                    self.print(Level::Debug, &format!("{}: nothing to do", self.name(*turn)), Map::new());
                }
                for remark in &planned.remarks {
                    let level =
                        if matches!(remark, Remark::Stale { .. } | Remark::Tolerated { .. } | Remark::Noticed { .. }) {
                            Level::Info
                        } else {
                            Level::Debug
                        };
                    self.print(level, &format!("{}: {remark}", self.name(*turn)), Map::new());
                }
            }
            Event::Through(_) => {}
        }
    }

    /// Shows how far the download of the step at work has come: in the moving line at once, in a log now and then.
    pub(crate) fn transferred(&mut self, transfer: Transfer) {
        let text = format!("{}: {}", self.text, amount(transfer));
        if let Some(line) = &self.line {
            return line.show(AtWork { text, since: self.started });
        }
        if self.told.elapsed() >= BETWEEN_TRANSFERS {
            self.told = Instant::now();
            self.print(Level::Info, &text, Map::new());
        }
    }

    fn starts(&mut self, turn: usize, step: &Step) {
        self.started = Instant::now();
        self.told = self.started;
        let text = format!("{}: {}", self.name(turn), Line::of(step));
        self.show(&text);
        self.text.clone_from(&text);
        if self.line.is_none() {
            self.print(level(step), &format!("{text}: started"), self.members(turn, step, "started"));
        }
    }

    fn done(&self, turn: usize, step: &Step) {
        let took = self.started.elapsed();
        let mut members = self.members(turn, step, "done");
        members.insert("seconds".into(), json!(took.as_secs_f64()));
        let text = format!("{}: {}: done in {}", self.name(turn), Line::of(step), span(took));
        self.print(level(step), &text, members);
    }

    fn members(&self, turn: usize, step: &Step, event: &str) -> Map<String, Value> {
        let Line { action, target, .. } = Line::of(step);
        let members = [("event", event), ("document", self.name(turn)), ("action", action.name()), ("target", &target)];
        members.map(|(name, value)| (name.to_owned(), json!(value))).into_iter().collect()
    }

    fn name(&self, turn: usize) -> &str {
        self.labels.get(turn).map(String::as_str).unwrap_or_default()
    }

    /// A line that stays.
    fn print(&self, level: Level, text: &str, members: Map<String, Value>) {
        let text = one_line(text);
        match &self.line {
            Some(_) => log::print_with(level, &format!("{text}\n"), members),
            None => log::print_with(level, &format!("machineadm: {text}\n"), members),
        }
    }

    fn show(&self, text: &str) {
        if let Some(line) = &self.line {
            line.show(AtWork { text: text.to_owned(), since: Instant::now() });
        }
    }
}

/// How much of a file is there: `12 of 73 MiB`.
fn amount(transfer: Transfer) -> String {
    let mebibytes = |bytes: u64| bytes >> 20;
    match transfer {
        Transfer { received, total: Some(total) } => format!("{} of {} MiB", mebibytes(received), mebibytes(total)),
        Transfer { received, total: None } => format!("{} MiB", mebibytes(received)),
    }
}

/// What an operator counts as a change, or waits for.
fn level(step: &Step) -> Level {
    match step {
        Step::Ensure(_) | Step::Run(_) | Step::Redo(_) | Step::Wait(..) => Level::Info,
        Step::Close(_) => Level::Debug,
    }
}
