//! What a run shows while it works: a moving line on a terminal, a start and an end of each step in a boot log.
use super::{
    log::{self, Level},
    span, terminal,
};
use engine::{Event, Line, Remark, Step};
use objects::one_line;
use serde_json::{Map, Value, json};
use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

const TICK: Duration = Duration::from_millis(200);

/// Shows a run.
pub(crate) struct Progress {
    labels: Vec<String>,
    ticker: Option<Ticker>,
    started: Instant,
}

/// Redraws the moving line, so that long work shows its time.
struct Ticker {
    shared: Arc<(Mutex<Shown>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

struct Shown {
    text: String,
    since: Instant,
    over: bool,
}

impl Progress {
    /// For a run that starts, with the names of its turns.
    pub(crate) fn new(labels: Vec<String>) -> Self {
        Self { labels, ticker: terminal::is_lively().then(Ticker::start), started: Instant::now() }
    }

    /// Shows an event.
    pub(crate) fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Turn(turn) => self.show(self.name(*turn)),
            Event::Starts(turn, _, step) => self.starts(*turn, step),
            Event::Done(turn, _, step) => self.done(*turn, step),
            Event::Again(act) => {
                self.line(Level::Info, &format!("{act} was interrupted before: undone, starting again"), Map::new());
            }
            Event::Planned(turn, planned) => {
                if planned.steps.is_empty() {
                    self.line(Level::Debug, &format!("{}: nothing to do", self.name(*turn)), Map::new());
                }
                for remark in &planned.remarks {
                    let level = if matches!(remark, Remark::Stale { .. }) { Level::Info } else { Level::Debug };
                    self.line(level, &format!("{}: {remark}", self.name(*turn)), Map::new());
                }
            }
            Event::Through(_) => {}
        }
    }

    fn starts(&mut self, turn: usize, step: &Step) {
        self.started = Instant::now();
        let text = format!("{}: {}", self.name(turn), Line::of(step));
        self.show(&text);
        if self.ticker.is_none() {
            self.line(level(step), &format!("{text}: started"), self.members(turn, step, "started"));
        }
    }

    fn done(&self, turn: usize, step: &Step) {
        let took = self.started.elapsed();
        let mut members = self.members(turn, step, "done");
        members.insert("seconds".into(), json!(took.as_secs_f64()));
        let text = format!("{}: {}: done in {}", self.name(turn), Line::of(step), span(took));
        self.line(level(step), &text, members);
    }

    fn members(&self, turn: usize, step: &Step, event: &str) -> Map<String, Value> {
        let Line { action, target, .. } = Line::of(step);
        let members = [("event", event), ("document", self.name(turn)), ("action", &*action), ("target", &target)];
        members.map(|(name, value)| (name.to_owned(), json!(value))).into_iter().collect()
    }

    fn name(&self, turn: usize) -> &str {
        self.labels.get(turn).map(String::as_str).unwrap_or_default()
    }

    /// A line that stays.
    fn line(&self, level: Level, text: &str, members: Map<String, Value>) {
        let text = one_line(text);
        match &self.ticker {
            Some(_) => log::print_with(level, &format!("{text}\n"), members),
            None => log::print_with(level, &format!("machineadm: {text}\n"), members),
        }
    }

    fn show(&self, text: &str) {
        if let Some(ticker) = &self.ticker {
            let mut shown = ticker.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
            (shown.text, shown.since) = (text.to_owned(), Instant::now());
        }
    }
}

/// What an operator counts as a change, or waits for.
fn level(step: &Step) -> Level {
    match step {
        Step::Ensure(_) | Step::Run(_) | Step::Redo(_) | Step::Wait(..) => Level::Info,
        Step::Close(_) => Level::Debug,
    }
}

impl Ticker {
    fn start() -> Self {
        let shown = Shown { text: String::new(), since: Instant::now(), over: false };
        let shared = Arc::new((Mutex::new(shown), Condvar::new()));
        let ours = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let (lock, bell) = &*ours;
            let mut shown = lock.lock().unwrap_or_else(PoisonError::into_inner);
            while !shown.over {
                if !shown.text.is_empty() {
                    terminal::draw(&format!("… {} {}", span(shown.since.elapsed()), shown.text));
                }
                shown = bell.wait_timeout(shown, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
            terminal::erase();
        });
        Self { shared, thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).over = true;
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // It only draws; whatever it died of is not this run's failure.
            let _ = thread.join();
        }
    }
}
