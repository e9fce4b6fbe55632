//! A point in time as far as a token may name it: years that common clocks can't show, to the nanosecond.
use jiff::Timestamp;
use objects::Duration;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt;

const DAY: i64 = 86_400;

/// A point in time. It shows itself in UTC with whole seconds, as it stands in a token's Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    seconds: i64,
    nanoseconds: u32,
}

impl Moment {
    /// So many seconds after 1970, and nanoseconds of the next.
    pub(crate) const fn new(seconds: i64, nanoseconds: u32) -> Self {
        Self { seconds, nanoseconds }
    }

    /// The first second of a day.
    pub(crate) fn midnight(year: i64, month: i64, day: i64) -> Self {
        Self::new(days(year, month, day) * DAY, 0)
    }

    /// So many seconds later, or earlier.
    pub(crate) const fn later(self, seconds: i64) -> Self {
        Self::new(self.seconds.saturating_add(seconds), self.nanoseconds)
    }

    /// So much later.
    pub(crate) fn after(self, span: Duration) -> Self {
        let nanoseconds = i128::from(self.nanoseconds) + i128::from(span.as_nanoseconds());
        let seconds = nanoseconds.div_euclid(1_000_000_000) as i64;
        self.later(seconds).with_nanoseconds(nanoseconds.rem_euclid(1_000_000_000) as u32)
    }

    /// The same second with these nanoseconds.
    pub(crate) const fn with_nanoseconds(self, nanoseconds: u32) -> Self {
        Self::new(self.seconds, nanoseconds)
    }

    /// The span from `now`, as Go counts it: at most some 292 years.
    pub fn since(self, now: Timestamp) -> Duration {
        let nanoseconds = |moment: Self| i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanoseconds);
        let span = nanoseconds(self) - nanoseconds(now.into());
        let bounded = span.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        Duration::nanoseconds(bounded as i64)
    }

    /// The day, as people write it.
    pub fn date(self) -> String {
        let (year, month, day) = civil(self.seconds.div_euclid(DAY));
        format!("{year:04}-{month:02}-{day:02}")
    }
}

impl From<Timestamp> for Moment {
    fn from(time: Timestamp) -> Self {
        let nanoseconds = time.as_nanosecond();
        let seconds = nanoseconds.div_euclid(1_000_000_000);
        Self::new(seconds as i64, nanoseconds.rem_euclid(1_000_000_000) as u32)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let second = self.seconds.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{}T{hour:02}:{minute:02}:{second:02}Z", self.date())
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

/// Days after 1970-01-01. The year is counted from March, so that the leap day is its last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of so many days after 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_moment_shows_itself_in_utc_with_whole_seconds() {
        let time: Timestamp = "2026-11-16T18:48:41.9+09:00".parse().unwrap();
        assert_eq!(Moment::from(time).to_string(), "2026-11-16T09:48:41Z");
        assert_eq!(Moment::midnight(9999, 12, 31).later(DAY - 1).to_string(), "9999-12-31T23:59:59Z");
        assert_eq!(Moment::midnight(0, 1, 1).to_string(), "0000-01-01T00:00:00Z");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5_000) })]
        #[test]
        fn every_moment_shows_itself_as_another_clock_does(second in -60_000_000_000_i64..250_000_000_000) {
            let time = Timestamp::from_second(second).unwrap();
            prop_assert_eq!(Moment::from(time).to_string(), time.to_string());
            prop_assert_eq!(crate::expiry::rfc3339(&time.to_string()), Some(Moment::from(time)));
        }
    }
}
