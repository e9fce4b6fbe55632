//! A point in time as far as a token or a certificate may name it: to the end of the year 9999, to the nanosecond.
use jiff::{
    SignedDuration, Timestamp,
    civil::{DateTime, datetime},
    tz::Offset,
};
use objects::Duration;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt;

/// A point in time. It shows itself in UTC with whole seconds, as it stands in a token's Secret.
///
/// It is a date in UTC, since a [`Timestamp`] ends a day before the last one that people write for "never".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(DateTime);

impl Moment {
    /// A date and a time in UTC.
    pub(crate) const fn utc(time: DateTime) -> Self {
        Self(time)
    }

    /// So many seconds after the beginning of 1970.
    pub(crate) fn from_unix(seconds: i64) -> Self {
        Self(datetime(1970, 1, 1, 0, 0, 0, 0)).later(seconds)
    }

    /// So many seconds later, or earlier; the last moment that can be written, if that comes first.
    pub(crate) fn later(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(SignedDuration::from_secs(seconds)))
    }

    /// So much later.
    pub(crate) fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(SignedDuration::from_nanos(span.as_nanoseconds())))
    }

    /// How long after the beginning of 1970; nothing for what was before.
    pub(crate) fn since_epoch(self) -> std::time::Duration {
        let span = self.0.duration_since(datetime(1970, 1, 1, 0, 0, 0, 0));
        std::time::Duration::try_from(span).unwrap_or_default()
    }

    /// The beginning of its second.
    pub(crate) fn whole_second(self) -> Self {
        Self(self.0 - SignedDuration::from_nanos(self.0.subsec_nanosecond().into()))
    }

    /// The span from `now`, as Go counts it: at most some 292 years.
    pub fn since(self, now: Timestamp) -> Duration {
        let span = self.0.duration_since(Self::from(now).0).as_nanos();
        let bounded = span.clamp(i64::MIN.into(), i64::MAX.into());
        Duration::nanoseconds(bounded as i64)
    }

    /// The day, as people write it.
    pub fn date(self) -> String {
        self.0.date().to_string()
    }
}

impl From<Timestamp> for Moment {
    fn from(time: Timestamp) -> Self {
        Self(Offset::UTC.to_datetime(time))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}Z", self.0)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        crate::expiry::rfc3339(&text).ok_or_else(|| D::Error::custom("must be a time such as 2035-01-02T03:04:05Z"))
    }
}

/// The earlier of two times, where there are any.
pub(crate) fn earliest(one: Option<Moment>, other: Option<Moment>) -> Option<Moment> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expiry::rfc3339;
    use proptest::prelude::*;

    #[test]
    fn a_moment_shows_itself_in_utc_with_whole_seconds() {
        let time: Timestamp = "2026-11-16T18:48:41.9+09:00".parse().unwrap();
        assert_eq!(Moment::from(time).to_string(), "2026-11-16T09:48:41Z");
        assert_eq!(Moment::from(time).whole_second(), rfc3339("2026-11-16T09:48:41Z").unwrap());
        for text in ["9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z"] {
            assert_eq!(rfc3339(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn time_stops_at_the_last_moment_that_can_be_written() {
        let last = rfc3339("9999-12-31T23:59:59Z").unwrap();
        assert_eq!(last.later(1).to_string(), "9999-12-31T23:59:59Z");
        assert_eq!(Moment::from_unix(i64::MAX).to_string(), "9999-12-31T23:59:59Z");
        assert_eq!(last.later(-1).to_string(), "9999-12-31T23:59:58Z");
    }

    #[test]
    fn a_span_is_counted_to_the_nanosecond_and_ends_where_gos_does() {
        let now: Timestamp = "2026-11-16T05:00:00.25Z".parse().unwrap();
        let since = |text: &str| rfc3339(text).unwrap().since(now).as_nanoseconds();
        assert_eq!(since("2026-11-16T05:00:01Z"), 750_000_000);
        assert_eq!(since("2026-11-16T04:59:59.25Z"), -1_000_000_000);
        assert_eq!((since("9999-12-31T23:59:59Z"), since("0000-01-01T00:00:00Z")), (i64::MAX, i64::MIN));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5_000) })]
        #[test]
        fn every_moment_shows_itself_as_another_clock_does(second in -60_000_000_000_i64..250_000_000_000) {
            let time = Timestamp::from_second(second).unwrap();
            prop_assert_eq!(Moment::from(time).to_string(), time.to_string());
            prop_assert_eq!(Moment::from_unix(second), Moment::from(time));
            prop_assert_eq!(rfc3339(&time.to_string()), Some(Moment::from(time)));
        }
    }
}
