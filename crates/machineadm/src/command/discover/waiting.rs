//! What `discover` shows while it waits for a cluster: the reason, the time that is left, and advice, once each.
use crate::show::moving_line::MovingLine;
use discovery::method::{Event, Patience};
use objects::printable;
use std::time::{Duration, Instant};

/// How often a log repeats a reason that stays the same.
const REPEAT: Duration = Duration::from_secs(30);

/// Shows why discovery still waits: one line that is redrawn on a terminal, few lines in a log.
pub(super) struct Waiting {
    started: Instant,
    log: Log,
    line: Option<MovingLine<Reason>>,
    advice: Vec<&'static str>,
}

impl Waiting {
    /// For a discovery that starts now.
    pub(super) fn start(patience: Patience) -> Self {
        let (started, log) = (Instant::now(), Log::new(patience.total));
        let line = MovingLine::start(move |reason: &Reason, columns| reason.short_line(started.elapsed(), columns));
        Self { started, log, line, advice: Vec::new() }
    }

    /// The same for a run, which has a moving line of its own: few lines, on a terminal too.
    pub(super) fn in_lines(patience: Patience) -> Self {
        Self { started: Instant::now(), log: Log::new(patience.total), line: None, advice: Vec::new() }
    }

    /// Shows an event.
    pub(super) fn note(&mut self, event: Event<'_>) {
        let line = self.log.note(event, self.started.elapsed());
        let advice = match event {
            Event::Refused { next_step, .. } if !self.advice.contains(&next_step) => Some(next_step),
            _ => None,
        };
        match &self.line {
            Some(moving) => self.log.waiting.iter().for_each(|reason| moving.show(reason.clone())),
            None => line.iter().for_each(|line| tell!("{line}")),
        }
        advice.iter().for_each(|advice| tell!("remedy: {advice}"));
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

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 78;

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
