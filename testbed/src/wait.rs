//! Waiting for a condition, with a deadline, instead of sleeping and hoping; and the factor of all deadlines.
use crate::{Error, Result};
use std::time::{Duration, Instant};

/// The pause between two looks at a condition; one that takes longer itself is followed by a pause as long, so that
/// looking takes at most half of a slow host's time.
const EVERY: Duration = Duration::from_millis(50);

/// The variable that multiplies every limit of the test bed, for a host whose processor is emulated.
pub(crate) const TIME_FACTOR: &str = "MACHINEADM_TESTBED_TIME_FACTOR";

/// Looks until `look` answers `Ok`, or fails with what the last look showed.
pub fn until<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Result<T, String>) -> Result<T> {
    let limit = on_this_host(limit)?;
    let began = Instant::now();
    loop {
        let looked = Instant::now();
        match look() {
            Ok(found) => return Ok(found),
            Err(seen) if began.elapsed() >= limit => return Err(Error::TooLate { what: what.to_owned(), limit, seen }),
            Err(_) => std::thread::sleep(looked.elapsed().max(EVERY)),
        }
    }
}

/// A limit, multiplied by the host's factor.
pub(crate) fn on_this_host(limit: Duration) -> Result<Duration> {
    multiplied(limit, std::env::var(TIME_FACTOR).ok().as_deref())
}

/// Whether limits of other programs must be raised as well.
pub(crate) fn is_slow_host() -> Result<bool> {
    let second = Duration::from_secs(1);
    Ok(on_this_host(second)? > second)
}

fn multiplied(limit: Duration, factor: Option<&str>) -> Result<Duration> {
    let Some(factor) = factor else { return Ok(limit) };
    let number: Option<u32> = factor.parse().ok().filter(|number| *number > 0);
    let number = number.ok_or_else(|| Error::Misused(format!("{TIME_FACTOR} must be 1 or more, not `{factor}`")))?;
    Ok(limit.saturating_mul(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_looked_at_until_it_holds() {
        let mut looks = 0;
        let seen = until("three looks", Duration::from_secs(60), || {
            looks += 1;
            if looks == 3 { Ok(looks) } else { Err(format!("{looks} so far")) }
        });
        assert_eq!(seen.unwrap(), 3);
    }

    #[test]
    fn a_slow_host_multiplies_limits_and_a_factor_that_is_no_number_is_refused() {
        let limit = Duration::from_secs(3);
        assert_eq!(multiplied(limit, None).unwrap(), limit);
        assert_eq!(multiplied(limit, Some("5")).unwrap(), Duration::from_secs(15));
        for wrong in ["0", "", "2.5"] {
            let error = multiplied(limit, Some(wrong)).unwrap_err().to_string();
            assert!(error.contains(TIME_FACTOR) && error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_condition_that_never_comes_ends_with_what_was_seen_last() {
        let error = until::<()>("rain", Duration::from_millis(60), || Err("sun".to_owned())).unwrap_err();
        assert_eq!(error.to_string(), "rain: not within 60ms; last seen: sun");
    }
}
