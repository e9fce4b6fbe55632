//! The engine's view of container runtimes, through `crates/cri`.
use cri::RuntimeReport;
use engine::{ContainerRuntime, Patience};
use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How long a runtime may take for all answers.
const ANSWERS: Duration = Duration::from_secs(20);
/// How often one that does not answer is asked.
const PAUSE: Duration = Duration::from_millis(200);

/// Container runtimes, each by its socket.
pub(crate) struct Runtimes;

impl ContainerRuntime for Runtimes {
    fn ask(&self, socket: &str, patience: &Patience<'_>) -> cri::Result<RuntimeReport> {
        let deadline = Instant::now() + patience.within;
        loop {
            let asked = cri::ask(Path::new(socket), ANSWERS);
            // At a boot its socket appears only when it is ready.
            let may_come = matches!(asked, Err(cri::Error::NoSocket { .. } | cri::Error::Refused { .. }));
            let left = deadline.saturating_duration_since(Instant::now());
            if !may_come || left.is_zero() || !(patience.while_true)() {
                return asked;
            }
            thread::sleep(PAUSE.min(left));
        }
    }
}
