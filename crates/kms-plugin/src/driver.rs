//! The thread that serves all sockets, and makes calls itself that take microseconds.
//!
//! To wake another thread and to be woken by it takes longer than a token such as SoftHSM takes to answer. The driver
//! therefore makes a call that is expected to be quick between two turns of the runtime. A timer of the kernel runs
//! meanwhile: when the call is not quick after all, the standby takes the runtime over, so that Status and the other keys
//! are answered whatever becomes of the call. For the same reason the driver does not sleep at once after a call.
//!
//! ```text
//!  driver   ── turn ── call ── turn ── call ─ ─ ─ ─ ─ ─ hangs; the thread ends with it
//!  standby  ─────────────────────────────── timer ──▶ turn ── call ──   now the driver, with a standby of its own
//! ```
use crate::workers::Call;
use rustix::io::{Errno, read};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

/// How long a call may keep the driver from its sockets.
const LIMIT: Duration = Duration::from_millis(5);

/// How long the driver looks for the next call before it sleeps. A caller that asks one thing after the other, as an API
/// server that reads its objects does, asks again within this time; to sleep and be woken takes as long.
const LINGER: Duration = Duration::from_micros(100);

/// Calls that wait for the driver.
#[derive(Default)]
pub(crate) struct QuickCalls {
    waiting: Mutex<VecDeque<Call>>,
    ready: Notify,
}

impl QuickCalls {
    /// Has the driver make the call, before it looks at its sockets again.
    pub(crate) fn submit(&self, call: Call) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(call);
        self.ready.notify_one();
    }

    /// The next call, for who makes it; until `awake` nobody sleeps.
    pub(crate) async fn next(&self, awake: Instant) -> Call {
        loop {
            let next = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match next {
                Some(call) => return call,
                None if Instant::now() < awake => {
                    // Whoever else wants the core has it first.
                    thread::yield_now();
                    tokio::task::yield_now().await;
                }
                None => self.ready.notified().await,
            }
        }
    }
}

/// Runs `work` on the runtime, which has one thread, to its end. Threads that hang in a call are left behind.
pub(crate) fn run<F>(runtime: Runtime, calls: Arc<QuickCalls>, work: F) -> io::Result<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let (done, ended) = mpsc::channel();
    // Nobody waits for it only if the process ends.
    runtime.spawn(async move { drop(done.send(work.await)) });
    let driver = Driver { runtime: Arc::new(runtime), calls };
    thread::Builder::new().name("driver".to_owned()).spawn(move || driver.drive())?;
    ended.recv().map_err(io::Error::other)
}

#[derive(Clone)]
struct Driver {
    runtime: Arc<Runtime>,
    calls: Arc<QuickCalls>,
}

impl Driver {
    /// Serves, until the standby has taken over.
    fn drive(self) {
        let standby = self.standby();
        let mut awake = Instant::now();
        loop {
            let call = self.runtime.block_on(self.calls.next(awake));
            let Ok(watch) = &standby else {
                // Without a standby no call may hold the driver.
                drop(self.runtime.spawn_blocking(call));
                continue;
            };
            if watch.outlasts(call) {
                return;
            }
            awake = Instant::now() + LINGER;
        }
    }

    /// A thread that takes over when a call lasts too long.
    fn standby(&self) -> io::Result<Arc<Watch>> {
        let watch = Arc::new(Watch::new()?);
        let (next, watched) = (self.clone(), Arc::clone(&watch));
        thread::Builder::new().name("standby".to_owned()).spawn(move || {
            if watched.wait().is_ok() {
                next.drive();
            }
        })?;
        Ok(watch)
    }
}

/// No call is under way.
const FREE: u8 = 0;
/// The driver makes a call.
const CALLING: u8 = 1;
/// The standby is the driver now.
const TAKEN_OVER: u8 = 2;

/// What driver and standby share: the timer, and which of them drives.
struct Watch {
    state: AtomicU8,
    timer: OwnedFd,
}

impl Watch {
    fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        Ok(Self { state: AtomicU8::new(FREE), timer })
    }

    /// Makes the call; whether it lasted until the standby took over.
    fn outlasts(&self, call: Call) -> bool {
        self.state.store(CALLING, Ordering::SeqCst);
        // A timer that cannot be set ends nothing: the call has a timeout of its own.
        let _ = self.set(LIMIT);
        call();
        let is_driver = self.state.compare_exchange(CALLING, FREE, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if is_driver {
            let _ = self.set(Duration::ZERO);
        }
        !is_driver
    }

    /// Waits until a call lasts too long, and takes over.
    fn wait(&self) -> io::Result<()> {
        loop {
            match read(&self.timer, &mut [0; 8]) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            // A timer that ended with its call means nothing.
            if self.state.compare_exchange(CALLING, TAKEN_OVER, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return Ok(());
            }
        }
    }

    /// Lets the timer end after so long; zero stops it.
    fn set(&self, after: Duration) -> io::Result<()> {
        let it_value = Timespec { tv_sec: 0, tv_nsec: after.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::time::{ClockId, clock_gettime};
    use std::pin::pin;
    use std::sync::mpsc::channel;
    use std::task::{Context, Wake, Waker};
    use tokio::runtime::Builder;
    use tokio::sync::oneshot;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Makes a call by way of the driver and waits for what it answers.
    async fn call<T: Send + 'static>(calls: &QuickCalls, call: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, answer) = oneshot::channel();
        calls.submit(Box::new(move || drop(done.send(call()))));
        tokio::time::timeout(PATIENCE, answer).await.unwrap().unwrap()
    }

    fn thread_name() -> Option<String> {
        thread::current().name().map(str::to_owned)
    }

    fn driven<F: Future<Output: Send> + Send + 'static>(work: impl FnOnce(Arc<QuickCalls>) -> F) -> F::Output {
        let calls = Arc::new(QuickCalls::default());
        let work = work(Arc::clone(&calls));
        run(Builder::new_current_thread().enable_all().build().unwrap(), calls, work).unwrap()
    }

    /// How often somebody asked to be polled again.
    struct Woken(AtomicU8);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn without_a_call_the_driver_looks_for_one_for_a_while_and_then_sleeps_until_there_is_one() {
        let (calls, now) = (QuickCalls::default(), Instant::now());
        let woken = Arc::new(Woken(AtomicU8::new(0)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut looks = pin!(calls.next(now + PATIENCE));
        assert!(looks.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(woken.0.swap(0, Ordering::SeqCst), 1);
        let mut sleeps = pin!(calls.next(now));
        assert!(sleeps.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(woken.0.load(Ordering::SeqCst), 0);
        calls.submit(Box::new(|| ()));
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
        assert!(sleeps.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    }

    /// The time of the processor that this thread has taken.
    fn processor_time() -> Duration {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(tv_sec.try_into().unwrap(), tv_nsec.try_into().unwrap())
    }

    #[test]
    fn without_calls_the_driver_takes_no_time_of_the_processor() {
        let taken = driven(async |calls| {
            let before = call(&calls, processor_time).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            call(&calls, processor_time).await.saturating_sub(before)
        });
        assert!(taken < Duration::from_millis(10), "{taken:?}");
    }

    #[test]
    fn quick_calls_are_made_by_the_thread_that_serves() {
        let (serves, calls) = driven(async |calls| (thread_name(), call(&calls, thread_name).await));
        assert_eq!((serves.as_deref(), calls.as_deref()), (Some("driver"), Some("driver")));
    }

    #[test]
    fn calls_that_hang_leave_the_runtime_to_the_standby_each_time() {
        let (hanging, answer) = driven(async |calls| {
            let mut hanging = Vec::new();
            for _ in 0..3 {
                let (end, wait) = channel::<()>();
                calls.submit(Box::new(move || {
                    let _ = wait.recv();
                }));
                hanging.push(end);
            }
            let answer = call(&calls, thread_name).await;
            (hanging, answer)
        });
        // Three drivers hang, so that the answer is of the third standby.
        assert_eq!(answer.as_deref(), Some("standby"));
        // Only now do the calls end.
        drop(hanging);
    }
}
