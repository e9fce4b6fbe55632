//! Waiting for a condition, with a deadline, instead of sleeping and hoping.
use crate::{Error, Result};
use std::time::{Duration, Instant};

/// How often a condition is looked at.
const EVERY: Duration = Duration::from_millis(50);

/// Looks until `look` answers `Ok`, or fails with what the last look showed.
pub fn until<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Result<T, String>) -> Result<T> {
    let began = Instant::now();
    loop {
        match look() {
            Ok(found) => return Ok(found),
            Err(seen) if began.elapsed() >= limit => return Err(Error::TooLate { what: what.to_owned(), limit, seen }),
            Err(_) => std::thread::sleep(EVERY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_looked_at_until_it_holds() {
        let mut looks = 0;
        let seen = until("three looks", Duration::from_secs(1), || {
            looks += 1;
            if looks == 3 { Ok(looks) } else { Err(format!("{looks} so far")) }
        });
        assert_eq!(seen.unwrap(), 3);
    }

    #[test]
    fn a_condition_that_never_comes_ends_with_what_was_seen_last() {
        let error = until::<()>("rain", Duration::from_millis(60), || Err("sun".to_owned())).unwrap_err();
        assert_eq!(error.to_string(), "rain: not within 60ms; last seen: sun");
    }
}
