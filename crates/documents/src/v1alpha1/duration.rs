//! Durations as Go and Kubernetes write them: `90s`, `10m`, `1h30m`, `1.5h`.
use std::time::Duration;

/// What the schema expects.
pub(crate) const PATTERN: &str = r"^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";

/// Why a text is no duration that anybody can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDuration {
    /// It is written otherwise, or runs backwards.
    #[error("must be a duration, such as `90s`, `30m` or `24h`")]
    Malformed,
    /// It is one, but longer than can be counted.
    #[error("is too long")]
    TooLong,
}

/// Reads a duration.
pub fn parse(text: &str) -> Result<Duration, NoDuration> {
    match text.parse::<objects::Duration>() {
        Ok(duration) => {
            u64::try_from(duration.as_nanoseconds()).map(Duration::from_nanos).map_err(|_| NoDuration::Malformed)
        }
        Err(_) if has_form(text) => Err(NoDuration::TooLong),
        Err(_) => Err(NoDuration::Malformed),
    }
}

/// Whether only its numbers are too large: with small ones it would be a duration.
fn has_form(text: &str) -> bool {
    let mut small = String::new();
    for letter in text.chars().map(|letter| if letter.is_ascii_digit() { '1' } else { letter }) {
        if letter != '1' || !small.ends_with('1') {
            small.push(letter);
        }
    }
    !text.starts_with('-') && small.parse::<objects::Duration>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let half = |hours: u64| hours * 1800 * 1000;
        for (text, milliseconds) in [
            ("90s", 90_000),
            ("10m", 600_000),
            ("1h30m", half(3)),
            ("1.5h", half(3)),
            ("2000ms", 2000),
            (".5s", 500),
            ("+1s", 1000),
            ("0", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_duration() {
        for text in ["", "90", "s", "1d", "1h30", "-1s", "1 s", "1.2.3s", "-99999999999999999999h"] {
            assert_eq!(parse(text), Err(NoDuration::Malformed), "{text}");
        }
        for text in ["99999999h", "99999999999999999999h", "18446744073709551615h", "1s9999999.9h"] {
            assert_eq!(parse(text), Err(NoDuration::TooLong), "{text}");
        }
    }
}
