//! What a run shows while it works: a moving line on a terminal, one plain line per change in a boot log.
use super::lively;
use engine::{Event, Line, Remark};
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
        Self { labels, ticker: lively().then(Ticker::start) }
    }

    /// Shows an event.
    pub(crate) fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Turn(turn) => self.show(self.name(*turn)),
            Event::Starts(turn, _, step) => self.show(&format!("{}: {}", self.name(*turn), Line::of(step))),
            Event::Done(turn, _, step) if step.is_change() => {
                self.line(&format!("{}: {}", self.name(*turn), Line::of(step)));
            }
            Event::Again(act) => self.line(&format!("{act} was interrupted before: undone, starting again")),
            Event::Planned(turn, planned) => {
                let stale = planned.remarks.iter().filter(|remark| matches!(remark, Remark::Stale { .. }));
                stale.for_each(|remark| self.line(&format!("{}: {remark}", self.name(*turn))));
            }
            Event::Done(..) | Event::Through(_) => {}
        }
    }

    fn name(&self, turn: usize) -> &str {
        self.labels.get(turn).map(String::as_str).unwrap_or_default()
    }

    /// A line that stays.
    pub(crate) fn line(&self, text: &str) {
        match &self.ticker {
            Some(_) => tell!("\r\x1b[2K{text}"),
            None => tell!("machineadm: {text}"),
        }
    }

    fn show(&self, text: &str) {
        if let Some(ticker) = &self.ticker {
            let mut shown = ticker.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
            (shown.text, shown.since) = (text.to_owned(), Instant::now());
        }
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
                    tell_on!("\r\x1b[2K… {} {:.1} s", shown.text, shown.since.elapsed().as_secs_f64());
                }
                shown = bell.wait_timeout(shown, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
            tell_on!("\r\x1b[2K");
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
