//! What every object says about itself.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Name, place and identity of an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// Its name, one of a kind in its namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its namespace; empty for what belongs to the whole cluster.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Tells it from an earlier object of the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Tells this state of it from others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// When somebody asked for its deletion, which a finalizer holds up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<String>,
    /// Whose deletion takes it along.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::resource::null_is_empty")]
    pub owner_references: Vec<OwnerReference>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl ObjectMeta {
    /// A name for the whole cluster.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// A name in a namespace.
    pub fn named_in(namespace: &str, name: &str) -> Self {
        Self { name: name.to_owned(), namespace: namespace.to_owned(), ..Self::default() }
    }
}

/// An object whose deletion takes this one along.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// The owner's API version.
    pub api_version: String,
    /// The owner's kind.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// Which object of that name.
    pub uid: String,
    /// Whether the owner manages this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Whether the owner stays until this object is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}
