//! When a token ends, exactly as Go's RFC 3339 reader sees it: signer, authenticator and cleaner all go by that.
use crate::moment::Moment;
use jiff::Timestamp;
use objects::Duration;

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

/// Go's `time.Parse(time.RFC3339, ..)`: laxer and stricter than others, which is why it is written out.
pub fn rfc3339(text: &str) -> Option<Moment> {
    let mut rest = Rest(text.as_bytes());
    let year = rest.digits(4)?;
    let month = rest.literal(b'-')?.digits(2)?;
    let day = rest.literal(b'-')?.digits(2)?;
    let hour = rest.literal(b'T')?.one_or_two_digits()?;
    let minute = rest.literal(b':')?.digits(2)?;
    let second = rest.literal(b':')?.digits(2)?;
    let nanoseconds = rest.fraction();
    let offset = rest.offset()?;
    let in_range = hour < 24 && minute < 60 && second < 60 && (1..=days_in(year, month)?).contains(&day);
    if !in_range || !rest.0.is_empty() {
        return None;
    }
    let midnight = Moment::midnight(year, month, day).later(hour * 3600 + minute * 60 + second - offset);
    Some(midnight.with_nanoseconds(nanoseconds))
}

fn days_in(year: i64, month: i64) -> Option<i64> {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => Some(29),
        2 => Some(28),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}

/// What is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn literal(&mut self, letter: u8) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(&[letter])?;
        Some(self)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let number = digits.iter().try_fold(0, |sum, digit| {
            digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')) //
        })?;
        self.0 = rest;
        Some(number)
    }

    /// Go reads an hour of one digit too.
    fn one_or_two_digits(&mut self) -> Option<i64> {
        self.digits(2).or_else(|| self.digits(1))
    }

    /// Nanoseconds after a point or a comma, if a digit follows it; what is finer is dropped.
    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', rest @ ..] = self.0 else { return 0 };
        let count = rest.iter().take_while(|digit| digit.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        self.0 = &rest[count..];
        let nine = rest[..count].iter().copied().chain(std::iter::repeat(b'0')).take(9);
        nine.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
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
        let (hours, minutes) = (self.digits(2)?, self.literal(b':')?.digits(2)?);
        (hours <= 24 && minutes <= 60).then_some(sign * (hours * 3600 + minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_reads_what_others_refuse_and_refuses_what_others_read() {
        for text in ["2026-11-15T1:59:59Z", "2026-11-15T12:00:00,123456789987Z", "2026-11-15T12:00:00+24:01"] {
            assert!(rfc3339(text).is_some(), "{text}");
        }
        for text in [
            "2026-11-15T12:00:00+24:61",
            "2026-11-15T12:00:00z",
            "2026-00-15T12:00:00Z",
            "2026-13-15T12:00:00Z",
            "2026-11-00T12:00:00Z",
            "2100-02-29T12:00:00Z",
            "2026-11-15T12:60:00Z",
            "2026-11-5T12:00:00Z",
            "+026-11-15T12:00:00Z",
            " 2026-11-15T12:00:00Z",
            "2026-11-15T12:00:00Zx",
            "",
        ] {
            assert_eq!(rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn a_value_that_is_no_text_has_expired() {
        assert_eq!(Expiry::read(Some(b"\xff")), Expiry::Unreadable);
        assert_eq!(Expiry::read(Some(b"")), Expiry::Never);
    }
}
