//! How many calls of a key may be repeated, and how many lines its failed calls may log: budgets, so that an outage is
//! answered neither with more requests nor with a full disk.
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What may be taken at once after a quiet time.
const MOST: f64 = 10.0;
/// What is earned per second.
const PER_SECOND: f64 = 1.0;

/// A budget of retries, or of lines.
#[derive(Debug)]
pub(crate) struct Budget(Mutex<(f64, Instant)>);

impl Default for Budget {
    fn default() -> Self {
        Self(Mutex::new((MOST, Instant::now())))
    }
}

impl Budget {
    /// Takes one, if there is one.
    pub(crate) fn take(&self) -> bool {
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> bool {
        let mut budget = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let earned = now.saturating_duration_since(budget.1).as_secs_f64() * PER_SECOND;
        *budget = ((budget.0 + earned).min(MOST), now);
        let has_one = budget.0 >= 1.0;
        if has_one {
            budget.0 -= 1.0;
        }
        has_one
    }
}

/// The pause before the next probe of a key that has failed so many times in a row: 1 s, 2 s, 4 s, 8 s, then 10 s.
pub(crate) fn pause_after(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.saturating_sub(1).min(3)).max(if failures > 4 { LONGEST } else { Duration::ZERO })
}

/// The longest pause, so that a key which works again is reported within 15 s.
const LONGEST: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_and_comes_back_one_per_second() {
        let budget = Budget::default();
        let now = Instant::now();
        assert_eq!((0..50).filter(|_| budget.take_at(now)).count(), 10);
        let later = now + Duration::from_secs(3);
        assert_eq!((0..50).filter(|_| budget.take_at(later)).count(), 3);
    }

    #[test]
    fn pauses_grow_up_to_ten_seconds() {
        let pauses: Vec<u64> = (1..8).map(|failures| pause_after(failures).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 10, 10, 10]);
    }
}
