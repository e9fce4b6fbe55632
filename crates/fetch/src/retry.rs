//! Trying again: pauses that grow, under a deadline, and word to who waits.
use std::time::Duration;

/// Pauses that grow from `first` by `factor` up to `most`, while `total` lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after the first failure.
    pub first: Duration,
    /// By how much each pause is longer than the one before.
    pub factor: u32,
    /// The longest pause.
    pub most: Duration,
    /// For everything, attempts included.
    pub total: Duration,
}

impl Backoff {
    /// The pause after attempt number `attempt`, counted from 1. `jitter` takes away up to half of it, so that machines
    /// that failed together do not come back together: the same number gives the same pauses.
    pub fn pause(&self, attempt: u32, jitter: u64) -> Duration {
        let grown = self.factor.saturating_pow(attempt.saturating_sub(1));
        let pause = self.first.saturating_mul(grown).min(self.most);
        let part = u32::try_from(mixed(jitter.wrapping_add(u64::from(attempt))) >> 48).unwrap_or_default();
        pause - pause / 2 * part / (1 << 16)
    }
}

/// Spreads a number over all others (splitmix64).
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// An error that knows whether it is worth another try.
pub trait Transient {
    /// Whether the same may well succeed later.
    fn is_transient(&self) -> bool;

    /// How long the other side asks to wait.
    fn wait(&self) -> Option<Duration> {
        None
    }

    /// Whether it only says that time was up, and nothing of why.
    fn is_timeout(&self) -> bool {
        false
    }
}

impl Transient for crate::Error {
    fn is_transient(&self) -> bool {
        Self::is_transient(self)
    }

    fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }
}

/// How time passes: the real clock, or a test's.
pub trait Clock {
    /// Time since some beginning.
    fn now(&self) -> Duration;
    /// Lets time pass.
    fn sleep(&self, pause: Duration);
}

/// The real clock.
#[derive(Debug)]
pub struct RealClock(std::time::Instant);

impl RealClock {
    /// A clock that begins now.
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }
}

impl Clock for RealClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, pause: Duration) {
        std::thread::sleep(pause);
    }
}

/// What is told before each pause.
#[derive(Debug)]
pub struct Waiting<'a, E> {
    /// How often it was tried.
    pub attempts: u32,
    /// What the last try said.
    pub last: &'a E,
    /// How long we wait now.
    pub pause: Duration,
    /// How long we go on at most, this pause included.
    pub left: Duration,
}

/// It was tried until time was up, or failed in a way that time does not heal.
#[derive(Debug, thiserror::Error)]
#[error("gave up after {attempts} {}", if *.attempts == 1 { "attempt" } else { "attempts" })]
pub struct GaveUp<E: std::error::Error + 'static> {
    /// How often it was tried.
    pub attempts: u32,
    /// What the last try said; of one that was cut off by the deadline, what the try before it said.
    #[source]
    pub last: E,
    /// How long the other side asked to wait, when that was longer than there was time.
    pub wish: Option<Duration>,
}

impl<E: std::error::Error> GaveUp<E> {
    /// What the other side asked for in vain, to stand behind the error's own text; empty if it did not.
    pub fn in_vain(&self) -> String {
        let told = |wish: Duration| {
            format!("; it asks to come back in {} s, for which too little time is left", wish.as_secs())
        };
        self.wish.map(told).unwrap_or_default()
    }
}

/// How to try again.
pub struct Retry<'a, E> {
    /// How long to pause.
    pub backoff: Backoff,
    /// Any number; machines with different ones pause differently.
    pub jitter: u64,
    /// How time passes.
    pub clock: &'a dyn Clock,
    /// Told before each pause, so that a person sees that something goes on.
    pub progress: &'a mut dyn FnMut(&Waiting<'_, E>),
}

/// Does something until it succeeds, fails for good, or time is up. `op` gets the time that is left.
pub fn retrying<T, E>(retry: Retry<'_, E>, mut op: impl FnMut(Duration) -> Result<T, E>) -> Result<T, GaveUp<E>>
where
    E: std::error::Error + Transient + 'static,
{
    let Retry { backoff, jitter, clock, progress } = retry;
    let end = clock.now().saturating_add(backoff.total);
    let (mut attempts, mut before) = (0, None);
    loop {
        attempts += 1;
        let last = match op(end.saturating_sub(clock.now())) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let left = end.saturating_sub(clock.now());
        let pause = last.wait().map_or_else(|| backoff.pause(attempts, jitter), |wait| wait.max(backoff.first));
        if !last.is_transient() {
            return Err(GaveUp { attempts, last, wish: None });
        }
        // A try that gets next to no time tells nothing but that.
        if left.saturating_sub(pause) < backoff.first {
            let wish = last.wait().filter(|wait| *wait > backoff.first && !left.is_zero());
            let last = before.filter(|_| last.is_timeout() && left.is_zero()).unwrap_or(last);
            return Err(GaveUp { attempts, last, wish });
        }
        progress(&Waiting { attempts, last: &last, pause, left });
        clock.sleep(pause);
        before = Some(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A clock that only sleeping moves.
    #[derive(Default)]
    struct FakeClock(Cell<Duration>);

    impl Clock for FakeClock {
        fn now(&self) -> Duration {
            self.0.get()
        }

        fn sleep(&self, pause: Duration) {
            self.0.set(self.0.get() + pause);
        }
    }

    #[derive(Debug, thiserror::Error)]
    #[error("fails")]
    struct Fails {
        transient: bool,
        wait: Option<Duration>,
        timeout: bool,
    }

    const TRANSIENT: Fails = Fails { transient: true, wait: None, timeout: false };

    impl Transient for Fails {
        fn is_transient(&self) -> bool {
            self.transient
        }

        fn wait(&self) -> Option<Duration> {
            self.wait
        }

        fn is_timeout(&self) -> bool {
            self.timeout
        }
    }

    const SECOND: Duration = Duration::from_secs(1);
    const BACKOFF: Backoff =
        Backoff { first: SECOND, factor: 2, most: Duration::from_secs(5), total: Duration::from_secs(30) };

    /// Tries something that fails `failures` times, and says what was told on the way.
    fn tried(failures: usize, fails: impl Fn() -> Fails) -> (Result<u32, GaveUp<Fails>>, Vec<Duration>, Duration) {
        let (clock, mut pauses, mut left) = (FakeClock::default(), Vec::new(), failures);
        let mut progress = |waiting: &Waiting<'_, Fails>| pauses.push(waiting.pause);
        let retry = Retry { backoff: BACKOFF, jitter: 7, clock: &clock, progress: &mut progress };
        let done = retrying(retry, |_| match left {
            0 => Ok(42),
            _ => {
                left -= 1;
                Err(fails())
            }
        });
        (done, pauses, clock.now())
    }

    #[test]
    fn pauses_grow_up_to_the_longest_and_jitter_takes_up_to_half() {
        for (attempt, full) in [(1, 1), (2, 2), (3, 4), (4, 5), (400, 5)] {
            for jitter in [0, 1, 99, u64::MAX] {
                let (pause, full) = (BACKOFF.pause(attempt, jitter), SECOND * full);
                assert!(pause <= full && pause >= full / 2, "{attempt}: {pause:?}");
                assert_eq!(pause, BACKOFF.pause(attempt, jitter), "the same number gives the same pause");
            }
        }
        assert_ne!(BACKOFF.pause(1, 1), BACKOFF.pause(1, 2));
    }

    #[test]
    fn what_heals_is_tried_until_it_succeeds() {
        let (done, pauses, _) = tried(3, || TRANSIENT);
        assert_eq!(done.expect("it succeeds"), 42);
        assert_eq!(pauses, [1, 2, 3].map(|attempt| BACKOFF.pause(attempt, 7)));
    }

    #[test]
    fn what_does_not_heal_is_tried_once() {
        let (done, pauses, _) = tried(1, || Fails { transient: false, ..TRANSIENT });
        assert_eq!((done.expect_err("it fails").attempts, pauses.len()), (1, 0));
    }

    #[test]
    fn time_is_never_overrun() {
        let (done, pauses, passed) = tried(1000, || TRANSIENT);
        let gave_up = done.expect_err("it fails");
        assert_eq!(gave_up.attempts as usize, pauses.len() + 1);
        assert!(passed < BACKOFF.total && gave_up.to_string().starts_with("gave up after"), "{passed:?}");
    }

    #[test]
    fn the_server_s_own_wish_counts_and_a_wish_beyond_the_deadline_ends_it() {
        let (_, pauses, _) = tried(2, || Fails { wait: Some(SECOND * 9), ..TRANSIENT });
        assert_eq!(pauses, [SECOND * 9; 2]);
        let (done, pauses, _) = tried(2, || Fails { wait: Some(SECOND * 3600), ..TRANSIENT });
        let gave_up = done.expect_err("too long");
        assert_eq!((gave_up.attempts, pauses.len()), (1, 0));
        assert_eq!(gave_up.in_vain(), "; it asks to come back in 3600 s, for which too little time is left");
    }

    /// Tries, each try with its own failure after its own time, and says what each was given.
    fn timed(tries: Vec<(Duration, Fails)>, total: Duration) -> (GaveUp<Fails>, Vec<Duration>) {
        let (clock, mut given, mut tries) = (FakeClock::default(), Vec::new(), tries.into_iter());
        let backoff = Backoff { total, ..BACKOFF };
        let retry = Retry { backoff, jitter: 7, clock: &clock, progress: &mut |_| {} };
        let tried = retrying(retry, |left| {
            given.push(left);
            let (takes, fails) = tries.next().expect("no more tries than foreseen");
            clock.sleep(takes.min(left));
            Err::<(), _>(fails)
        });
        (tried.expect_err("it fails"), given)
    }

    #[test]
    fn no_try_gets_next_to_no_time() {
        for tenths in 0..40 {
            let fails = || (Duration::from_millis(100), TRANSIENT);
            let (gave_up, given) = timed((0..9).map(|_| fails()).collect(), SECOND * tenths / 10);
            assert!(given[1..].iter().all(|left| *left >= BACKOFF.first), "{tenths}: {given:?}");
            assert_eq!((gave_up.attempts as usize, gave_up.in_vain().as_str()), (given.len(), ""));
        }
    }

    #[test]
    fn a_last_try_that_time_cuts_off_does_not_hide_the_cause() {
        let timeout = || Fails { timeout: true, ..TRANSIENT };
        let (gave_up, _) = timed(vec![(SECOND, TRANSIENT), (SECOND * 99, timeout())], SECOND * 4);
        assert_eq!((gave_up.attempts, gave_up.last.timeout), (2, false));
        let (gave_up, _) = timed(vec![(SECOND * 99, timeout())], SECOND * 4);
        assert_eq!((gave_up.attempts, gave_up.last.timeout), (1, true), "there is no other cause");
    }

    #[test]
    fn a_total_without_end_does_not_overflow() {
        let clock = FakeClock::default();
        clock.sleep(SECOND);
        let backoff = Backoff { total: Duration::MAX, ..BACKOFF };
        let retry = Retry::<Fails> { backoff, jitter: 7, clock: &clock, progress: &mut |_| {} };
        assert_eq!(retrying(retry, Ok).expect("it succeeds"), Duration::MAX - SECOND);
    }
}
