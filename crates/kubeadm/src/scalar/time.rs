//! Points in time, in the one form that kubeadm reads: RFC 3339.
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// A point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Time(Timestamp);

impl Time {
    /// A point in time, to the second: kubeadm keeps no more.
    pub fn new(time: Timestamp) -> Self {
        Self(Timestamp::from_second(time.as_second()).unwrap_or(time))
    }

    /// It, on a clock's scale.
    pub const fn timestamp(self) -> Timestamp {
        self.0
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let shaped = text.is_ascii() && text.as_bytes().get(10) == Some(&b'T');
        let time = shaped.then(|| text.parse().ok()).flatten();
        time.map(Self::new).ok_or_else(|| D::Error::custom("must be a time such as 2035-01-02T03:04:05Z (RFC 3339)"))
    }
}
