//! What a person sees of a long wait.
use std::{sync::mpsc, thread::JoinHandle, time::Duration};

/// After this a person wants to know what is awaited.
const PATIENCE: Duration = Duration::from_secs(2);

/// Tells once what is awaited, if it takes long; quick fetches stay silent.
pub(super) struct Patience {
    /// Its end is the sign that the wait is over.
    over: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Patience {
    /// Somebody begins to wait for this.
    pub(super) fn begin(what: &str) -> Self {
        let (over, ended) = mpsc::channel::<()>();
        let line = format!("machineadm: fetching {what}");
        let thread = std::thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                tell!("{line}");
            }
        });
        Self { over: Some(over), thread: Some(thread) }
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.over.take();
        if let Some(thread) = self.thread.take() {
            // It only tells; whatever it died of is no failure of the fetch.
            let _ = thread.join();
        }
    }
}
