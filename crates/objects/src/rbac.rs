//! Roles and bindings: who may do what, in a namespace or in the whole cluster.
use crate::{ObjectMeta, Resource, resource::null_is_empty};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The API group of roles, bindings and their subjects.
const GROUP: &str = "rbac.authorization.k8s.io";

/// What may be done to what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyRule {
    /// What may be done.
    pub verbs: Vec<String>,
    /// Groups of the kinds; `""` is the core API.
    pub api_groups: Vec<String>,
    /// The kinds, by their names in paths.
    pub resources: Vec<String>,
    /// Only objects of these names; all, if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl PolicyRule {
    /// Leave to read objects of the core API: all of a kind, or those that are named.
    pub fn get(resource: &str, names: &[&str]) -> Self {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            verbs: list(&["get"]),
            api_groups: list(&[""]),
            resources: list(&[resource]),
            resource_names: list(names),
            rest: Map::new(),
        }
    }
}

/// Somebody who gets a role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Subject {
    /// `User`, `Group` or `ServiceAccount`.
    pub kind: String,
    /// The group of that kind; empty for a ServiceAccount.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_group: String,
    /// The name.
    pub name: String,
    /// A ServiceAccount's namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
}

impl Subject {
    /// A user by name.
    pub fn user(name: &str) -> Self {
        Self { kind: "User".to_owned(), api_group: GROUP.to_owned(), name: name.to_owned(), ..Self::default() }
    }

    /// A group by name.
    pub fn group(name: &str) -> Self {
        Self { kind: "Group".to_owned(), ..Self::user(name) }
    }
}

/// The role that a binding gives. The API server refuses to change it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RoleRef {
    /// Always the group of roles.
    pub api_group: String,
    /// `Role` or `ClusterRole`.
    pub kind: String,
    /// The name.
    pub name: String,
}

impl RoleRef {
    /// A role of the binding's own namespace.
    pub fn role(name: &str) -> Self {
        Self { api_group: GROUP.to_owned(), kind: Role::KIND.to_owned(), name: name.to_owned() }
    }

    /// A role of the whole cluster.
    pub fn cluster_role(name: &str) -> Self {
        Self { kind: ClusterRole::KIND.to_owned(), ..Self::role(name) }
    }
}

/// Where the API server keeps it.
macro_rules! resource {
    ($kind:ident, $plural:literal) => {
        impl Resource for $kind {
            const API_VERSION: &'static str = "rbac.authorization.k8s.io/v1";
            const KIND: &'static str = stringify!($kind);
            const PLURAL: &'static str = $plural;

            fn metadata(&self) -> &ObjectMeta {
                &self.metadata
            }
        }
    };
}

/// A role: its kind, its name in paths, what it is.
macro_rules! role {
    ($kind:ident, $plural:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $kind {
            /// Group and version of roles.
            #[serde(default)]
            pub api_version: String,
            /// Its kind.
            #[serde(default)]
            pub kind: String,
            /// What it says about itself.
            #[serde(default)]
            pub metadata: ObjectMeta,
            /// What it allows.
            #[serde(default, deserialize_with = "null_is_empty")]
            pub rules: Vec<PolicyRule>,
            /// Everything else.
            #[serde(flatten)]
            pub rest: Map<String, Value>,
        }

        impl $kind {
            /// A role with these rules.
            pub fn new(metadata: ObjectMeta, rules: Vec<PolicyRule>) -> Self {
                let (api_version, kind) = (Self::API_VERSION.to_owned(), Self::KIND.to_owned());
                Self { api_version, kind, metadata, rules, rest: Map::new() }
            }
        }

        resource!($kind, $plural);
    };
}

/// A binding: its kind, its name in paths, what it is.
macro_rules! binding {
    ($kind:ident, $plural:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $kind {
            /// Group and version of bindings.
            #[serde(default)]
            pub api_version: String,
            /// Its kind.
            #[serde(default)]
            pub kind: String,
            /// What it says about itself.
            #[serde(default)]
            pub metadata: ObjectMeta,
            /// Who gets the role.
            #[serde(default, deserialize_with = "null_is_empty")]
            pub subjects: Vec<Subject>,
            /// The role.
            pub role_ref: RoleRef,
            /// Everything else.
            #[serde(flatten)]
            pub rest: Map<String, Value>,
        }

        impl $kind {
            /// Gives a role to somebody.
            pub fn new(metadata: ObjectMeta, role_ref: RoleRef, subjects: Vec<Subject>) -> Self {
                let (api_version, kind) = (Self::API_VERSION.to_owned(), Self::KIND.to_owned());
                Self { api_version, kind, metadata, subjects, role_ref, rest: Map::new() }
            }
        }

        resource!($kind, $plural);
    };
}

role!(Role, "roles", "What may be done in one namespace.");
role!(ClusterRole, "clusterroles", "What may be done in the whole cluster.");
binding!(RoleBinding, "rolebindings", "Who may do what in one namespace.");
binding!(ClusterRoleBinding, "clusterrolebindings", "Who may do what in the whole cluster.");
