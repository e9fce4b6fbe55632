//! This machine's clock, against the one thing that is known for sure: it can't be older than this program.
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When this program was built, in seconds since 1970.
const BUILT: &str = env!("MACHINEADM_BUILT");

/// How far the clock is behind the program's own build, if it is.
pub(crate) fn behind_build() -> Option<Duration> {
    let built = UNIX_EPOCH + Duration::from_secs(BUILT.parse().unwrap_or(0));
    behind(SystemTime::now(), built)
}

fn behind(now: SystemTime, built: SystemTime) -> Option<Duration> {
    built.duration_since(now).ok().filter(|behind| !behind.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clock_before_the_build_is_behind() {
        let built = UNIX_EPOCH + Duration::from_secs(1_000_000);
        assert_eq!(behind(UNIX_EPOCH, built), Some(Duration::from_secs(1_000_000)));
        assert_eq!((behind(built, built), behind(built + Duration::from_secs(1), built)), (None, None));
        assert_eq!(behind_build(), None, "this machine's clock is older than the program that it has just built");
    }
}
