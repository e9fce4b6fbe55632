//! Spans of time in Go's spelling: `4m0s`, `1h30m`, `1.5s`.
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

const SECOND: u64 = 1_000_000_000;
/// Go's units, longest first.
const UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];

/// A span of time, as exact as Go's: nanoseconds, at most some 292 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration {
    nanoseconds: i64,
}

impl Duration {
    /// So many minutes.
    pub const fn minutes(minutes: i64) -> Self {
        Self::seconds(60 * minutes)
    }

    /// So many hours.
    pub const fn hours(hours: i64) -> Self {
        Self::seconds(3600 * hours)
    }

    /// So many seconds.
    pub const fn seconds(seconds: i64) -> Self {
        Self::nanoseconds(seconds.saturating_mul(SECOND as i64))
    }

    /// So many nanoseconds.
    pub const fn nanoseconds(nanoseconds: i64) -> Self {
        Self { nanoseconds }
    }

    /// The whole of it in nanoseconds.
    pub const fn as_nanoseconds(self) -> i64 {
        self.nanoseconds
    }

    /// One unit and no more, as tables show an age: `23h`, `2y`; `<invalid>` for what has passed.
    pub fn short_human(self) -> String {
        let seconds = self.nanoseconds / SECOND as i64;
        let (minutes, hours) = (seconds / 60, seconds / 3600);
        match seconds {
            ..-1 => "<invalid>".to_owned(),
            -1 => "0s".to_owned(),
            0..60 => format!("{seconds}s"),
            _ if minutes < 60 => format!("{minutes}m"),
            _ if hours < 24 => format!("{hours}h"),
            _ if hours < 24 * 365 => format!("{}d", hours / 24),
            _ => format!("{}y", hours / 24 / 365),
        }
    }

    /// Whether it is none at all, which kubeadm often takes for unset.
    pub const fn is_zero(self) -> bool {
        self.nanoseconds == 0
    }

    /// Whether it runs backwards.
    pub const fn is_negative(self) -> bool {
        self.nanoseconds < 0
    }
}

/// The text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a duration such as 4m0s, 1h30m or 500ms")]
pub struct NoDuration;

impl FromStr for Duration {
    type Err = NoDuration;

    fn from_str(text: &str) -> Result<Self, NoDuration> {
        let (negative, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Ok(Self::default());
        }
        if rest.is_empty() {
            return Err(NoDuration);
        }
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or(NoDuration)?;
            let (number, tail) = rest.split_at(end);
            let letters = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(letters);
            let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(NoDuration)?;
            total = scaled(number, *scale).and_then(|part| total.checked_add(part)).ok_or(NoDuration)?;
            rest = tail;
        }
        let total = if negative { -i128::from(total) } else { i128::from(total) };
        i64::try_from(total).map(Self::nanoseconds).map_err(|_| NoDuration)
    }
}

/// `1.5` of a unit in nanoseconds. The fraction goes through a float, as in Go, so that the last nanosecond is Go's.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let (digits, scale) = leading_fraction(fraction);
    let part = (digits as f64 * (unit as f64 / scale)) as u64;
    whole.checked_mul(unit)?.checked_add(part)
}

/// As many digits as Go counts, and what they are to be divided by.
fn leading_fraction(text: &str) -> (u64, f64) {
    let (mut digits, mut scale) = (0_u64, 1.0);
    for letter in text.bytes() {
        let next = digits.checked_mul(10).and_then(|more| more.checked_add(u64::from(letter - b'0')));
        match next {
            Some(next) if digits <= i64::MAX as u64 / 10 && next <= 1 << 63 => (digits, scale) = (next, scale * 10.0),
            _ => break,
        }
    }
    (digits, scale)
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.nanoseconds.unsigned_abs();
        if self.is_negative() {
            f.write_str("-")?;
        }
        match total {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{total}ns"),
            1_000..1_000_000 => write!(f, "{}µs", decimal(total, 1_000)),
            1_000_000..SECOND => write!(f, "{}ms", decimal(total, 1_000_000)),
            _ => {
                let (hours, rest) = (total / (3600 * SECOND), total % (3600 * SECOND));
                let (minutes, rest) = (rest / (60 * SECOND), rest % (60 * SECOND));
                if hours > 0 {
                    write!(f, "{hours}h")?;
                }
                if hours > 0 || minutes > 0 {
                    write!(f, "{minutes}m")?;
                }
                write!(f, "{}s", decimal(rest, SECOND))
            }
        }
    }
}

/// A number of units with as many decimals as it needs.
fn decimal(amount: u64, unit: u64) -> String {
    let width = unit.ilog10() as usize;
    let text = format!("{}.{:0width$}", amount / unit, amount % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_read_and_written_as_go_does() {
        for (text, printed) in [
            ("4m", "4m0s"),
            ("24h", "24h0m0s"),
            ("1.5h", "1h30m0s"),
            ("90s", "1m30s"),
            ("0", "0s"),
            ("-1m", "-1m0s"),
            ("+5s", "5s"),
            ("1h2m3.004s", "1h2m3.004s"),
            ("1500ms", "1.5s"),
            ("1500us", "1.5ms"),
            ("15ns", "15ns"),
            (".5s", "500ms"),
            ("1.s", "1s"),
            ("00000000000000000000000000000000000000000000001s", "1s"),
            ("0.3333333333333333333h", "20m0s"),
            ("0.9223372036854775807h", "55m20.413933267s"),
            ("0.830103483285477580700h", "49m48.372539827s"),
            ("-9223372036854775808ns", "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), printed, "{text}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for text in ["", "4", "m", "-", "4 m", "4d", "1.2.3s", "9999999999h", ".", "9223372036854775808ns", "1s1", ".s"]
        {
            assert_eq!(text.parse::<Duration>(), Err(NoDuration), "{text}");
        }
    }

    #[test]
    fn a_table_shows_one_unit() {
        let rows: Vec<serde_json::Value> =
            serde_json::from_str(include_str!("../tests/vectors/short-human-duration.json")).unwrap();
        assert!(rows.len() >= 9);
        for row in rows {
            let shown = Duration::seconds(row["seconds"].as_i64().unwrap()).short_human();
            assert_eq!(Some(shown.as_str()), row["short"].as_str(), "{row}");
        }
        assert_eq!(Duration::nanoseconds(-1_500_000_000).short_human(), "0s");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]
        #[test]
        fn every_duration_survives_its_text(nanoseconds in -i64::MAX..i64::MAX) {
            let duration = Duration::nanoseconds(nanoseconds);
            prop_assert_eq!(duration.to_string().parse(), Ok(duration));
        }
    }
}
