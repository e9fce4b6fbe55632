//! A Secret: its values travel as base64, are shown nowhere and are overwritten when they go.
use crate::{Bytes, ObjectMeta, Resource, resource::null_is_empty, wipe};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt};

/// A Secret of the core API.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Secret {
    /// `v1`.
    #[serde(default = "api_version")]
    pub api_version: String,
    /// `Secret`.
    #[serde(default = "kind")]
    pub kind: String,
    /// What it says about itself.
    #[serde(default)]
    pub metadata: ObjectMeta,
    /// What it is for.
    #[serde(rename = "type", default, skip_serializing_if = "String::is_empty")]
    pub secret_type: String,
    /// Its values.
    #[serde(default, deserialize_with = "null_is_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, Bytes>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn api_version() -> String {
    Secret::API_VERSION.to_owned()
}

fn kind() -> String {
    Secret::KIND.to_owned()
}

impl Secret {
    /// A Secret with these values.
    pub fn new(metadata: ObjectMeta, secret_type: &str, data: BTreeMap<String, Bytes>) -> Self {
        let secret_type = secret_type.to_owned();
        Self { api_version: api_version(), kind: kind(), metadata, secret_type, data, rest: Map::new() }
    }

    /// A value; nothing for one that is absent or empty, which Kubernetes doesn't tell apart here.
    pub fn value(&self, key: &str) -> Option<&[u8]> {
        self.data.get(key).map(Bytes::expose).filter(|value| !value.is_empty())
    }
}

impl Resource for Secret {
    const API_VERSION: &'static str = "v1";
    const KIND: &'static str = "Secret";
    const PLURAL: &'static str = "secrets";

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectMeta { name, namespace, .. } = &self.metadata;
        f.debug_struct("Secret")
            .field("namespace", namespace)
            .field("name", name)
            .field("type", &self.secret_type)
            .field("keys", &self.data.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.rest.values_mut().for_each(wipe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_keeps_what_it_does_not_know() {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true,
            "metadata": {"name": "a", "namespace": "b", "uid": "u", "labels": {"x": "y"}},
            "data": {"k": "dg=="},
        });
        let secret: Secret = serde_json::from_value(object.clone()).unwrap();
        assert_eq!(secret.value("k"), Some(&b"v"[..]));
        assert_eq!(serde_json::to_value(&secret).unwrap(), object);
    }

    #[test]
    fn a_secret_shows_names_only() {
        let mut secret = Secret::new(ObjectMeta::named_in("b", "a"), "Opaque", [("k".into(), "hunter2".into())].into());
        secret.rest.insert("stringData".to_owned(), json!({"l": "hunter3"}));
        let shown = format!("{secret:?}");
        assert!(shown.contains("\"k\"") && !shown.contains("hunter"), "{shown}");
    }

    #[test]
    fn null_data_and_empty_values_are_no_values() {
        let secret: Secret = serde_json::from_value(json!({"data": null})).unwrap();
        assert_eq!((secret.kind.as_str(), secret.value("k")), ("Secret", None));
        let secret: Secret = serde_json::from_value(json!({"data": {"k": "", "l": null}})).unwrap();
        assert_eq!((secret.value("k"), secret.value("l")), (None, None));
    }
}
