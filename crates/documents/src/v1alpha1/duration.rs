//! Durations as Go and Kubernetes write them: `90s`, `10m`, `1h30m`.
use std::time::Duration;

/// What the schema expects.
pub(crate) const PATTERN: &str = "^([0-9]+(h|m|s|ms))+$";

/// Reads a duration; `None` when it is none.
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let (unit, after) = after.split_at(after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len()));
        let milliseconds = match unit {
            "h" => 3_600_000,
            "m" => 60_000,
            "s" => 1000,
            "ms" => 1,
            _ => return None,
        };
        let part = number.parse::<u64>().ok()?.checked_mul(milliseconds)?;
        total = total.checked_add(Duration::from_millis(part))?;
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::time::Duration;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, seconds) in [("90s", 90), ("10m", 600), ("1h30m", 5400), ("2000ms", 2)] {
            assert_eq!(parse(text), Some(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_duration() {
        for text in ["", "90", "s", "1d", "1h30", "-1s", "1 s", "99999999999999999999h", "18446744073709551615h"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
