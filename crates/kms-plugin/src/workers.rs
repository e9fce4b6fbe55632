//! Threads that call the service of one key: one while it answers quickly, more while calls wait.
//!
//! A token such as SoftHSM answers in microseconds: with a thread for each call most of the plugin's time went to waking and
//! switching threads. A service across a network answers in milliseconds and takes many calls at once.
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(10);

/// One call.
pub(crate) type Call = Box<dyn FnOnce() + Send>;

/// The threads of one key. Calls that are under way when it is dropped end by themselves.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    most: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Call>,
    threads: usize,
    idle: usize,
    has_ended: bool,
}

impl Workers {
    /// At most so many threads, none of which is started yet.
    pub(crate) fn new(most: usize) -> Self {
        Self { shared: Arc::default(), most }
    }

    /// Makes the call as soon as a thread is free.
    pub(crate) fn submit(&self, call: Call) {
        let mut state = self.shared.state();
        state.waiting.push_back(call);
        if state.idle > 0 {
            drop(state);
            self.shared.work.notify_one();
        } else if state.threads == 0 {
            self.shared.start(&mut state);
        }
    }

    /// Starts another thread if calls still wait: the service is slow, or does not answer.
    pub(crate) fn add_thread(&self) {
        let mut state = self.shared.state();
        if !state.waiting.is_empty() && state.threads < self.most {
            self.shared.start(&mut state);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.state().has_ended = true;
        self.shared.work.notify_all();
    }
}

impl State {
    /// Without a further thread the calls wait for one that is busy, or for their timeout. Without any they would wait, and
    /// hold their places, until the plugin is restarted: who asked learns that they have ended.
    fn note_start(&mut self, is_started: bool) {
        self.threads += usize::from(is_started);
        if self.threads == 0 {
            self.waiting.clear();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(self: &Arc<Self>, state: &mut State) {
        let own = Arc::clone(self);
        let started = std::thread::Builder::new().name("key service".to_owned()).spawn(move || {
            let thread = Thread(own);
            while let Some(call) = thread.0.next() {
                call();
            }
        });
        state.note_start(started.is_ok());
    }

    /// The next call, or nothing when the thread is no longer needed.
    fn next(&self) -> Option<Call> {
        let mut state = self.state();
        loop {
            if let Some(call) = state.waiting.pop_front() {
                return Some(call);
            }
            if state.has_ended {
                return None;
            }
            state.idle += 1;
            let (woken, waited) = self.work.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.waiting.is_empty() {
                return None;
            }
        }
    }
}

/// A thread that is counted as long as it lives, also when its call panics.
struct Thread(Arc<Shared>);

impl Drop for Thread {
    fn drop(&mut self) {
        self.0.state().threads -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    const LIMIT: Duration = Duration::from_secs(20);

    /// A call that reports its start and hangs until it is let go.
    fn hanging(started: &Sender<()>) -> (Call, Sender<()>) {
        let (go, wait): (Sender<()>, Receiver<()>) = channel();
        let started = started.clone();
        let call = move || {
            started.send(()).unwrap();
            let _ = wait.recv();
        };
        (Box::new(call), go)
    }

    #[test]
    fn calls_that_hang_are_passed_by_further_threads_up_to_the_limit() {
        let workers = Workers::new(3);
        let (started, starts) = channel();
        let calls: Vec<Sender<()>> = (0..4)
            .map(|_| {
                let (call, go) = hanging(&started);
                workers.submit(call);
                go
            })
            .collect();
        starts.recv_timeout(LIMIT).unwrap();
        assert!(starts.try_recv().is_err(), "one thread is started at once");
        for _ in 0..2 {
            workers.add_thread();
            starts.recv_timeout(LIMIT).unwrap();
        }
        workers.add_thread();
        let state = workers.shared.state();
        assert_eq!((state.threads, state.waiting.len()), (3, 1));
        drop(state);
        drop(calls);
        starts.recv_timeout(LIMIT).unwrap();
    }

    #[test]
    fn calls_that_wait_end_where_the_system_has_no_thread_and_no_other_will_make_them() {
        for (threads, left) in [(0, 0), (1, 1)] {
            let waiting = VecDeque::from([Box::new(|| ()) as Call]);
            let mut state = State { waiting, threads, ..State::default() };
            state.note_start(false);
            assert_eq!((state.waiting.len(), state.threads), (left, threads));
        }
    }

    #[test]
    fn a_call_that_panics_takes_no_thread_from_the_others() {
        let workers = Workers::new(1);
        workers.submit(Box::new(|| panic!("as the test says")));
        let (started, starts) = channel();
        testbed::until("the thread has ended", LIMIT, || {
            if workers.shared.state().threads == 0 { Ok(()) } else { Err("one thread".to_owned()) }
        })
        .unwrap();
        workers.submit(Box::new(move || started.send(()).unwrap()));
        starts.recv_timeout(LIMIT).unwrap();
    }
}
