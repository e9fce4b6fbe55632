//! A ConfigMap: values that everybody with access may see.
use crate::{Bytes, ObjectMeta, Resource, resource::null_is_empty};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A ConfigMap of the core API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMap {
    /// `v1`.
    #[serde(default = "api_version")]
    pub api_version: String,
    /// `ConfigMap`.
    #[serde(default = "kind")]
    pub kind: String,
    /// What it says about itself.
    #[serde(default)]
    pub metadata: ObjectMeta,
    /// Its values that are text.
    #[serde(default, deserialize_with = "null_is_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, String>,
    /// Its other values.
    #[serde(default, deserialize_with = "null_is_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub binary_data: BTreeMap<String, Bytes>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn api_version() -> String {
    ConfigMap::API_VERSION.to_owned()
}

fn kind() -> String {
    ConfigMap::KIND.to_owned()
}

impl ConfigMap {
    /// A ConfigMap with these values.
    pub fn new(metadata: ObjectMeta, data: BTreeMap<String, String>) -> Self {
        let binary_data = BTreeMap::new();
        Self { api_version: api_version(), kind: kind(), metadata, data, binary_data, rest: Map::new() }
    }
}

impl Resource for ConfigMap {
    const API_VERSION: &'static str = "v1";
    const KIND: &'static str = "ConfigMap";
    const PLURAL: &'static str = "configmaps";

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_config_map_keeps_what_it_does_not_know() {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [{"manager": "x"}]},
            "data": {"k": "v"}, "binaryData": {"b": "AAE="}, "immutable": false,
        });
        let config_map: ConfigMap = serde_json::from_value(object.clone()).unwrap();
        assert_eq!(serde_json::to_value(&config_map).unwrap(), object);
    }
}
