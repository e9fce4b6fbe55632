//! How long a new token shall live: `--ttl` and `--token-ttl`.
use crate::moment::Moment;
use jiff::Timestamp;
use objects::Duration;

/// How long a new token shall live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until somebody deletes it: a TTL of 0.
    Forever,
    /// So long.
    For(Duration),
}

/// A day, unless told otherwise.
impl Default for Lifetime {
    fn default() -> Self {
        Self::For(Duration::hours(24))
    }
}

/// Why a text is no lifetime.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLifetime {
    /// It is no duration.
    #[error("must be a duration such as 24h0m0s, 1h30m or 90m, or 0 for a token that never expires")]
    NoDuration,
    /// It ends before it begins. kubeadm makes a token of it that never expires.
    #[error("{0} is in the past: pass a positive duration, or 0 for a token that never expires")]
    Negative(Duration),
    /// A Secret's expiration has whole seconds: such a token would be born expired.
    #[error("{0} is less than a second: give a longer one, or 0 for a token that never expires")]
    TooShort(Duration),
}

impl Lifetime {
    /// Reads a TTL as kubeadm's users write it.
    pub fn read(text: &str) -> Result<Self, NoLifetime> {
        let span: Duration = text.parse().map_err(|_| NoLifetime::NoDuration)?;
        match span {
            span if span.is_zero() => Ok(Self::Forever),
            span if span.is_negative() => Err(NoLifetime::Negative(span)),
            span if span < Duration::seconds(1) => Err(NoLifetime::TooShort(span)),
            span => Ok(Self::For(span)),
        }
    }

    /// When a token that is made now ends.
    pub fn expires(self, now: Timestamp) -> Option<Moment> {
        match self {
            Self::Forever => None,
            Self::For(span) => Some(Moment::from(now).after(span)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ttl_is_read_as_kubeadms_users_write_it() {
        assert_eq!(Lifetime::read("24h0m0s"), Ok(Lifetime::default()));
        assert_eq!(Lifetime::read("1.5h"), Ok(Lifetime::For(Duration::minutes(90))));
        assert_eq!(Lifetime::read("0"), Ok(Lifetime::Forever));
        assert_eq!(Lifetime::read("1d"), Err(NoLifetime::NoDuration));
    }

    #[test]
    fn a_negative_ttl_is_refused_by_name() {
        let error = Lifetime::read("-1h").unwrap_err();
        assert!(error.to_string().starts_with("-1h0m0s is in the past"), "{error}");
        assert!(matches!(Lifetime::read("500ms"), Err(NoLifetime::TooShort(_))));
    }

    #[test]
    fn a_lifetime_ends_that_much_later() {
        let now: Timestamp = "2026-11-15T18:48:41.5Z".parse().unwrap();
        assert_eq!(Lifetime::default().expires(now).unwrap().to_string(), "2026-11-16T18:48:41Z");
        assert_eq!(Lifetime::Forever.expires(now), None);
    }
}
