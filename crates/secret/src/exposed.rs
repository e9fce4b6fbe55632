//! Secrets written out, for the few formats that must hold them: a file that another program reads.
//!
//! `Secret` has no `Serialize`, so that nothing writes one by accident. A field that must hold one says so itself:
//! `#[serde(serialize_with = "secret::exposed")]`.
use crate::Secret;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Serializes secrets with their values: one, or those in an `Option`, a `Vec` or a map.
pub fn exposed<T: Expose, S: Serializer>(secrets: &T, serializer: S) -> Result<S::Ok, S::Error> {
    secrets.serialize_exposed(serializer)
}

/// Secrets that can be written out.
pub trait Expose {
    /// Serializes the secrets with their values.
    fn serialize_exposed<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

impl Expose for Secret<String> {
    fn serialize_exposed<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.expose())
    }
}

impl<T: Expose> Expose for Option<T> {
    fn serialize_exposed<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(Exposed).serialize(serializer)
    }
}

impl<T: Expose> Expose for Vec<T> {
    fn serialize_exposed<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Exposed))
    }
}

impl<T: Expose> Expose for BTreeMap<String, T> {
    fn serialize_exposed<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, secret)| (name, Exposed(secret))))
    }
}

struct Exposed<'a, T>(&'a T);

impl<T: Expose> Serialize for Exposed<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_exposed(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Document {
        #[serde(serialize_with = "exposed")]
        token: Secret<String>,
        #[serde(serialize_with = "exposed", skip_serializing_if = "Option::is_none")]
        key: Option<Secret<String>>,
        #[serde(serialize_with = "exposed")]
        arguments: Vec<Secret<String>>,
        #[serde(serialize_with = "exposed")]
        environment: Option<BTreeMap<String, Secret<String>>>,
    }

    #[test]
    fn a_field_that_is_exposed_is_written_with_its_value_and_read_back() {
        for written in [
            json!({"token": "a", "key": "b", "arguments": ["c", "d"], "environment": {"E": "e", "F": ""}}),
            json!({"token": "", "arguments": [], "environment": null}),
        ] {
            let document: Document = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(&document).unwrap(), written);
        }
    }
}
