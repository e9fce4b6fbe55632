//! Secrets are a type: nothing prints them, and their memory is overwritten when they go.
mod exposed;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use std::{borrow::Cow, fmt};
use zeroize::Zeroize;

pub use exposed::{Expose, exposed};

/// The member of a JSON schema that marks a field as secret.
pub const SECRET_MARK: &str = "x-machineadm-secret";

/// A value that is never shown.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes a value out of sight.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for the one place that needs it.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<'de> Deserialize<'de> for Secret<String> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Unquoted)
    }
}

/// Takes text as it is. serde's own visitor would do the same, but quotes what it refuses.
struct Unquoted;

impl de::Visitor<'_> for Unquoted {
    type Value = Secret<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Secret::new(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Secret::new(text))
    }
}

impl JsonSchema for Secret<String> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({"type": "string", "format": "password"});
        schema.insert(SECRET_MARK.to_owned(), true.into());
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing_of_itself() {
        assert_eq!(format!("{:?}", Secret::new("hunter2".to_owned())), "[secret]");
    }
}
