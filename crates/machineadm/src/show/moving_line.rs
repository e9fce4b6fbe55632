//! A line on a terminal that is redrawn by a thread of its own, so that its time runs while other work is done.
use super::terminal;
use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

const TICK: Duration = Duration::from_millis(200);

/// Redraws what it was last given, until it is dropped.
pub(crate) struct MovingLine<T> {
    shared: Arc<(Mutex<Drawn<T>>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

struct Drawn<T> {
    value: Option<T>,
    is_over: bool,
}

impl<T: Send + 'static> MovingLine<T> {
    /// Starts where standard error is a terminal that wants it; the function writes the line, for so many columns.
    pub(crate) fn start(line: impl Fn(&T, usize) -> String + Send + 'static) -> Option<Self> {
        if !terminal::is_lively() {
            return None;
        }
        let shared = Arc::new((Mutex::new(Drawn { value: None, is_over: false }), Condvar::new()));
        let ours = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let (lock, bell) = &*ours;
            let mut drawn = lock.lock().unwrap_or_else(PoisonError::into_inner);
            while !drawn.is_over {
                if let Some(value) = &drawn.value {
                    terminal::draw(|columns| line(value, columns));
                }
                drawn = bell.wait_timeout(drawn, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
            terminal::erase();
        });
        Some(Self { shared, thread: Some(thread) })
    }

    /// Draws another value from now on.
    pub(crate) fn show(&self, value: T) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).value = Some(value);
        self.shared.1.notify_all();
    }
}

impl<T> Drop for MovingLine<T> {
    fn drop(&mut self) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // It only draws; its failure is not that of the command.
            let _ = thread.join();
        }
    }
}
