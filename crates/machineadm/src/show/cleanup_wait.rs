//! What `certs upload` shows while it waits for the cluster to delete a canary.
use super::{moving_line::MovingLine, span};
use certs::canary::Cleanup;
use cluster::kubeadm_certs::CleanupWait;
use std::time::{Duration, Instant};

/// How often a log repeats it.
const REPEAT: Duration = Duration::from_secs(15);
/// A cluster that works needs less than this.
const QUIET: Duration = Duration::from_secs(1);

/// One line that is redrawn on a terminal, few lines in a log.
pub(crate) struct CleanupLine {
    moving: Option<MovingLine<CleanupWait>>,
    next: Instant,
}

impl Default for CleanupLine {
    fn default() -> Self {
        Self { moving: MovingLine::start(|wait: &CleanupWait, _| line(*wait)), next: Instant::now() + QUIET }
    }
}

impl CleanupLine {
    /// Shows what is waited for now.
    pub(crate) fn show(&mut self, wait: CleanupWait) {
        match &self.moving {
            Some(moving) => moving.show(wait),
            None if Instant::now() >= self.next => {
                tell!("{}", line(wait));
                self.next = Instant::now() + REPEAT;
            }
            None => {}
        }
    }
}

fn line(wait: CleanupWait) -> String {
    let what = match wait.seen {
        Cleanup::GarbageCollectorMissing => "garbage collector to delete a test Secret whose owner is gone",
        _ => "token cleaner to delete an expired test token",
    };
    format!("waiting for the {what}, gives up in {}", span(wait.left))
}
