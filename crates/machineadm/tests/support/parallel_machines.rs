//! Several machines at once: what takes long on one takes no longer on many.
use testbed::{Machine, Result};

/// Does the same on each machine, on all at once; the first failure counts.
pub(crate) fn on_each(machines: &[&Machine], work: impl Fn(&Machine) -> Result<()> + Sync) -> Result<()> {
    let work = &work;
    std::thread::scope(|scope| {
        let started: Vec<_> = machines.iter().map(|machine| scope.spawn(move || work(machine))).collect();
        started.into_iter().try_for_each(|thread| match thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}
