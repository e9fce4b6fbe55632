//! Bytes that travel as base64, are shown nowhere and are overwritten when they go.
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// A value of a Secret, or of a ConfigMap's `binaryData`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// The bytes, for the one place that needs them.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Zeroizing::new(STANDARD.encode(&self.0)))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Base64)
    }
}

/// Takes base64 or nothing. A refusal doesn't quote the text.
struct Base64;

impl de::Visitor<'_> for Base64 {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
        STANDARD.decode(text).map(Bytes).map_err(|_| E::custom("a value is not base64"))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Bytes, E> {
        Ok(Bytes::default())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Bytes, E> {
        Err(E::custom("a value is not base64"))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Bytes, E> {
        Err(E::custom("a value is not base64"))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Bytes, E> {
        Err(E::custom("a value is not base64"))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Bytes, E> {
        Err(E::custom("a value is not base64"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_travel_as_base64_and_show_nothing() {
        let bytes: Bytes = serde_json::from_str("\"aHVudGVyMg==\"").unwrap();
        assert_eq!(bytes.expose(), b"hunter2");
        assert_eq!(format!("{bytes:?}"), "[secret]");
        assert_eq!(serde_json::to_string(&bytes).unwrap(), "\"aHVudGVyMg==\"");
    }

    #[test]
    fn a_refusal_quotes_nothing() {
        for text in ["\"hunter2!\"", "4711", "-4711", "47.11", "true"] {
            let error = serde_json::from_str::<Bytes>(text).unwrap_err().to_string();
            assert!(error.starts_with("a value is not base64") && !error.contains("47"), "{error}");
        }
    }
}
