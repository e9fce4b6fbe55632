//! Ctrl-C, and a service manager's stop: says how to continue, then ends as the signal would.
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use std::{fs, thread};

/// From now on a signal prints this text before it ends the process. Interrupted work is safe without it: this is for
/// the person at the terminal.
pub(crate) fn advise(text: String) {
    let wanted = [SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
    let Ok(mut signals) = Signals::new(wanted) else { return };
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            warn!("{text}");
            // It ends the process; if it can't, the run goes on and ends by itself.
            let _ = emulate_default_handler(signal);
        }
    });
}

/// Whether our parent wants the signal ignored, as `nohup` and a shell's background jobs do.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}
