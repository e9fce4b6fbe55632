//! What a run shows while it works: a moving line on a terminal, one plain line per change in a boot log.
use super::lively;
use engine::{Event, Line};
use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

const TICK: Duration = Duration::from_millis(200);

/// Shows a run.
pub(crate) struct Progress {
    phase: &'static str,
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
    /// For a run that begins.
    pub(crate) fn new() -> Self {
        Self { phase: "", ticker: lively().then(Ticker::start) }
    }

    /// Shows an event.
    pub(crate) fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Phase(name) => {
                self.phase = name;
                self.show(name);
            }
            Event::Begins(step) => self.show(&format!("{}: {}", self.phase, Line::of(step))),
            Event::Done(step) if step.is_change() => self.line(&format!("{}: {}", self.phase, Line::of(step))),
            Event::Planned(_) | Event::Done(_) | Event::Through => {}
        }
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
