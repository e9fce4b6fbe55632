//! When a token ends, exactly as Go's RFC 3339 reader sees it: signer, authenticator and cleaner all go by that.
use crate::moment::Moment;
use jiff::{Timestamp, civil::DateTime};
use objects::Duration;
use std::str::FromStr;

/// When a token ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// It has no expiration.
    Never,
    /// At this point in time, which is the first at which it has ended.
    At(Moment),
    /// Its expiration is no time. Kubernetes takes such a token for expired.
    Unreadable,
}

/// What is left of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remaining {
    /// It never ends.
    Forever,
    /// It ends after this span.
    For(Duration),
    /// It has ended.
    Expired,
}

impl Expiry {
    /// Reads the value of `expiration`; an absent or empty one means never.
    pub fn read(value: Option<&[u8]>) -> Self {
        match value {
            None | Some([]) => Self::Never,
            Some(value) => std::str::from_utf8(value).ok().and_then(rfc3339).map_or(Self::Unreadable, Self::At),
        }
    }

    /// What is left of it at this time.
    pub fn remaining(self, now: Timestamp) -> Remaining {
        match self {
            Self::Never => Remaining::Forever,
            Self::Unreadable => Remaining::Expired,
            Self::At(moment) => match moment.since(now) {
                span if span.is_negative() || span.is_zero() => Remaining::Expired,
                span => Remaining::For(span),
            },
        }
    }

    /// Whether it has ended at this time.
    pub fn has_passed(self, now: Timestamp) -> bool {
        self.remaining(now) == Remaining::Expired
    }

    /// When it will end, if it hasn't ended yet and ever will.
    pub fn ahead(self, now: Timestamp) -> Option<Moment> {
        match self {
            Self::At(moment) if !self.has_passed(now) => Some(moment),
            _ => None,
        }
    }
}

/// Go's `time.Parse(time.RFC3339, ..)`: laxer and stricter than others, which is why its grammar is written out. The
/// calendar is the same.
pub fn rfc3339(text: &str) -> Option<Moment> {
    let mut rest = Rest(text.as_bytes());
    let year = rest.digits(4)?;
    let month = rest.literal(b'-')?.two_digits()?;
    let day = rest.literal(b'-')?.two_digits()?;
    let hour = rest.literal(b'T')?.one_or_two_digits()?;
    let minute = rest.literal(b':')?.two_digits()?;
    let second = rest.literal(b':')?.two_digits()?;
    let nanoseconds = rest.fraction();
    let offset = rest.offset()?;
    let time = DateTime::new(year, month, day, hour, minute, second, nanoseconds).ok()?;
    rest.0.is_empty().then(|| Moment::utc(time).later(-offset))
}

/// What is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn literal(&mut self, letter: u8) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(&[letter])?;
        Some(self)
    }

    /// A number of just so many digits. No sign is one.
    fn digits<T: FromStr>(&mut self, count: usize) -> Option<T> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let digits =
            std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|digit| digit.is_ascii_digit()))?;
        self.0 = rest;
        digits.parse().ok()
    }

    fn two_digits(&mut self) -> Option<i8> {
        self.digits(2)
    }

    /// Go reads an hour of one digit too.
    fn one_or_two_digits(&mut self) -> Option<i8> {
        self.digits(2).or_else(|| self.digits(1))
    }

    /// Nanoseconds after a point or a comma, if a digit follows it; what is finer is dropped.
    fn fraction(&mut self) -> i32 {
        let [b'.' | b',', rest @ ..] = self.0 else { return 0 };
        let count = rest.iter().take_while(|digit| digit.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        self.0 = &rest[count..];
        let nine = rest[..count].iter().copied().chain(std::iter::repeat(b'0')).take(9);
        nine.fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0'))
    }

    /// Seconds east of UTC. Go lets people write 24 hours and 60 minutes.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.0 {
            [b'Z', rest @ ..] => {
                self.0 = rest;
                return Some(0);
            }
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let (hours, minutes): (i64, i64) = (self.digits(2)?, self.literal(b':')?.digits(2)?);
        (hours <= 24 && minutes <= 60).then_some(sign * (hours * 3600 + minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_reads_what_others_refuse() {
        for (text, meant) in [
            ("2026-11-15T1:59:59Z", "2026-11-15T01:59:59Z"),
            ("2026-11-15T12:00:00+24:01", "2026-11-14T11:59:00Z"),
            ("2026-11-15T12:00:00-24:60", "2026-11-16T13:00:00Z"),
            ("2026-11-15T12:00:00+05:30", "2026-11-15T06:30:00Z"),
            ("2026-11-15T12:00:00-05:30", "2026-11-15T17:30:00Z"),
            ("9999-12-31T23:59:59-00:01", "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(text).map(|moment| moment.to_string()).as_deref(), Some(meant), "{text}");
        }
        let nanoseconds = |text: &str| rfc3339(text).map(|moment| moment.since(Timestamp::UNIX_EPOCH).as_nanoseconds());
        assert_eq!(nanoseconds("1970-01-01T00:00:00,1Z"), Some(100_000_000));
        assert_eq!(nanoseconds("1970-01-01T00:00:00.123456789987+00:00"), Some(123_456_789));
    }

    #[test]
    fn months_and_years_are_as_long_as_they_are() {
        for (day, is_one) in [
            ("2026-01-31", true),
            ("2026-04-30", true),
            ("2026-04-31", false),
            ("2026-06-31", false),
            ("2026-09-31", false),
            ("2026-11-31", false),
            ("2026-12-32", false),
            ("2024-02-29", true),
            ("2026-02-29", false),
            ("2100-02-29", false),
            ("2000-02-29", true),
            ("2000-02-30", false),
            ("0000-02-29", true),
            ("2026-00-15", false),
            ("2026-13-15", false),
            ("2026-11-00", false),
        ] {
            assert_eq!(rfc3339(&format!("{day}T12:00:00Z")).is_some(), is_one, "{day}");
        }
    }

    #[test]
    fn go_refuses_what_others_read() {
        for text in [
            "2026-11-15T12:00:00+25:00",
            "2026-11-15T12:00:00+24:61",
            "2026-11-15T12:00:00+5:00",
            "2026-11-15T12:00:00z",
            "2026-11-15T12:00:00.Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T12:60:00Z",
            "2026-11-15T12:00:60Z",
            "2026-11-5T12:00:00Z",
            "+026-11-15T12:00:00Z",
            "2026-+1-15T12:00:00Z",
            " 2026-11-15T12:00:00Z",
            "2026-11-15T12:00:00Zx",
            "2026-11-15T12:00:00",
            "",
        ] {
            assert_eq!(rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn only_an_end_that_has_not_come_yet_is_ahead() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let at = |text: &str| Expiry::read(Some(text.as_bytes()));
        assert_eq!(at("2026-11-15T12:00:01Z").ahead(now), rfc3339("2026-11-15T12:00:01Z"));
        for over in [at("2026-11-15T12:00:00Z"), at("2026-11-15T11:59:59Z"), Expiry::Never, Expiry::Unreadable] {
            assert_eq!(over.ahead(now), None, "{over:?}");
        }
    }

    #[test]
    fn a_value_that_is_no_text_has_expired() {
        assert_eq!(Expiry::read(Some(b"\xff")), Expiry::Unreadable);
        assert_eq!(Expiry::read(Some(b"")), Expiry::Never);
    }
}
