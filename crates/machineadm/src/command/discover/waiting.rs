//! What `discover` shows while it waits for a cluster: the reason, the time that is left, and advice, once each.
use crate::show::lively;
use discovery::method::{Event, Patience};
use objects::printable;
use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// How often a log repeats a reason that stays the same.
const REPEAT: Duration = Duration::from_secs(30);
/// How often a terminal's line is drawn.
const TICK: Duration = Duration::from_millis(500);
/// What fits into one line of a terminal, so that it can be drawn again.
const WIDTH: usize = 78;

/// Shows why discovery still waits: one line that is redrawn on a terminal, few lines in a log.
pub(super) struct Waiting {
    started: Instant,
    log: Log,
    terminal: Option<Terminal>,
    advice: Vec<&'static str>,
}

impl Waiting {
    /// For a discovery that starts now.
    pub(super) fn start(patience: Patience) -> Self {
        let (started, log) = (Instant::now(), Log::new(patience.total));
        Self { started, log, terminal: lively().then(|| Terminal::start(started)), advice: Vec::new() }
    }

    /// Shows an event.
    pub(super) fn note(&mut self, event: Event<'_>) {
        let line = self.log.note(event, self.started.elapsed());
        let advice = match event {
            Event::Refused { next_step, .. } if !self.advice.contains(&next_step) => Some(next_step),
            _ => None,
        };
        match &self.terminal {
            Some(terminal) => terminal.show(self.log.waiting.clone(), advice),
            None => {
                line.iter().for_each(|line| tell!("{line}"));
                advice.iter().for_each(|advice| tell!("remedy: {advice}"));
            }
        }
        self.advice.extend(advice);
    }

    /// Ends the line on a terminal. Returns the advice that was shown, which need not be shown again.
    pub(super) fn end(self) -> Vec<&'static str> {
        self.advice
    }
}

/// What a log shows: every new reason, and the last one again now and then.
struct Log {
    limit: Duration,
    waiting: Option<Reason>,
    shown: Duration,
}

/// Why an endpoint or URL is not trusted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reason {
    text: String,
    /// When discovery gives up.
    limit: Duration,
}

impl Reason {
    fn line(&self, now: Duration) -> String {
        format!("waiting for {}, gives up in {}", self.text, left(self.limit.saturating_sub(now)))
    }

    /// The same in at most this many characters; the end, which changes, stays.
    fn short_line(&self, now: Duration, width: usize) -> String {
        let spare = self.line(now).chars().count() - self.text.chars().count();
        let text = printable(&self.text, width.saturating_sub(spare + 1));
        Self { text, limit: self.limit }.line(now)
    }
}

impl Log {
    const fn new(limit: Duration) -> Self {
        Self { limit, waiting: None, shown: Duration::ZERO }
    }

    /// The line for an event at a time since the start, if it needs one.
    fn note(&mut self, event: Event<'_>, now: Duration) -> Option<String> {
        match event {
            Event::Refused { place, text, .. } => {
                self.waiting = Some(Reason { text: format!("{place}: {text}"), limit: self.limit });
            }
            Event::Again { .. } if now.saturating_sub(self.shown) >= REPEAT => {}
            Event::Again { .. } | Event::Trying { .. } => return None,
        }
        self.shown = now;
        self.waiting.as_ref().map(|reason| reason.line(now))
    }
}

/// A time that is left, in whole seconds: `4m12s`, `12s`.
fn left(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1000);
    match seconds / 60 {
        0 => format!("{seconds}s"),
        minutes => format!("{minutes}m{}s", seconds % 60),
    }
}

/// The line on a terminal, drawn by a thread of its own so that the time runs while a request is on its way.
struct Terminal {
    shared: Arc<(Mutex<Drawn>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Drawn {
    reason: Option<Reason>,
    is_over: bool,
}

impl Terminal {
    fn start(started: Instant) -> Self {
        let shared = Arc::<(Mutex<Drawn>, Condvar)>::default();
        let ours = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let (lock, bell) = &*ours;
            let mut drawn = lock.lock().unwrap_or_else(PoisonError::into_inner);
            while !drawn.is_over {
                if let Some(reason) = &drawn.reason {
                    tell_on!("\r\x1b[2K{}", reason.short_line(started.elapsed(), WIDTH));
                }
                drawn = bell.wait_timeout(drawn, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
            tell_on!("\r\x1b[2K");
        });
        Self { shared, thread: Some(thread) }
    }

    /// Draws another reason, below advice that stays.
    fn show(&self, reason: Option<Reason>, advice: Option<&str>) {
        let mut drawn = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.reason = reason;
        if let Some(advice) = advice {
            tell!("\r\x1b[2Kremedy: {advice}");
        }
        self.shared.1.notify_all();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // It only draws; its failure is none of the discovery.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Event<'_> {
        Event::Refused { place: "10.0.0.10:6443", text, next_step: "" }
    }

    const AGAIN: Event<'_> = Event::Again { after: Duration::from_secs(5) };

    #[test]
    fn a_log_has_a_line_for_each_new_reason_and_one_each_30_seconds() {
        let mut log = Log::new(Duration::from_secs(300));
        let mut lines = Vec::new();
        for second in (0..=70).step_by(5) {
            let now = Duration::from_secs(second);
            match second {
                0 => lines.extend(log.note(refused("connection refused"), now)),
                50 => lines.extend(log.note(refused("returned 503"), now)),
                _ => {}
            }
            lines.extend(log.note(AGAIN, now));
        }
        assert_eq!(
            lines,
            [
                "waiting for 10.0.0.10:6443: connection refused, gives up in 5m0s",
                "waiting for 10.0.0.10:6443: connection refused, gives up in 4m30s",
                "waiting for 10.0.0.10:6443: returned 503, gives up in 4m10s",
            ]
        );
    }

    #[test]
    fn a_terminal_s_line_fits_and_ends_with_the_time_that_is_left() {
        let reason = Reason { text: "x".repeat(200), limit: Duration::from_secs(300) };
        let line = reason.short_line(Duration::from_secs(48), WIDTH);
        assert!(line.ends_with("x…, gives up in 4m12s") && line.chars().count() == WIDTH, "{line}");
        let reason = Reason { text: "a: connection refused".to_owned(), limit: Duration::from_millis(500) };
        assert_eq!(reason.short_line(Duration::ZERO, WIDTH), "waiting for a: connection refused, gives up in 1s");
    }
}
