//! Times as in RFC 3339: `2026-11-16T08:00:00Z`.
use jiff::{Timestamp, fmt::temporal::Pieces};

/// The last year of RFC 3339.
const LAST_YEAR: i16 = 9999;

/// Why a text is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time as in RFC 3339, such as `2027-01-01T00:00:00Z`")]
pub struct NoTime;

/// Reads a time. The last moments of the year 9999, which certificates without an end have, count as the last one that
/// can be counted.
pub fn parse(text: &str) -> Result<Timestamp, NoTime> {
    text.parse().or_else(|_| match Pieces::parse(text) {
        Ok(pieces) if is_last(&pieces) => Ok(Timestamp::MAX),
        _ => Err(NoTime),
    })
}

fn is_last(pieces: &Pieces<'_>) -> bool {
    pieces.date().year() == LAST_YEAR && pieces.time().is_some() && pieces.offset().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_end_of_the_year_9999() {
        assert_eq!(parse("2026-11-16T09:00:00+01:00").unwrap().to_string(), "2026-11-16T08:00:00Z");
        assert_eq!(parse("9999-12-30T00:00:00Z").unwrap().to_string(), "9999-12-30T00:00:00Z");
        for text in ["9999-12-31T23:59:59Z", "9999-12-31T00:00:00Z", "9999-12-31T23:59:59-12:00"] {
            assert_eq!(parse(text), Ok(Timestamp::MAX), "{text}");
        }
        assert_eq!(parse(&Timestamp::MAX.to_string()), Ok(Timestamp::MAX));
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in [
            "",
            "tomorrow",
            "2026-11-16",
            "2026-11-16T08:00:00",
            "9999-12-31",
            "9999-12-31T23:59:59",
            "9999-13-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
        ] {
            assert_eq!(parse(text), Err(NoTime), "{text}");
        }
    }
}
