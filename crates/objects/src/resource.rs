//! Where the API server keeps an object: the paths of a kind and of each of its objects.
use crate::ObjectMeta;
use serde::{Deserialize, Deserializer};

/// A kind of object that the API server keeps.
pub trait Resource {
    /// `v1`, or group and version.
    const API_VERSION: &'static str;
    /// Its name.
    const KIND: &'static str;
    /// Its name in paths.
    const PLURAL: &'static str;

    /// What the object says about itself.
    fn metadata(&self) -> &ObjectMeta;

    /// The path of all objects of this kind in a namespace; of the whole cluster's, if the namespace is empty.
    fn collection(namespace: &str) -> String {
        let root = if Self::API_VERSION.contains('/') { "apis" } else { "api" };
        let place = if namespace.is_empty() { String::new() } else { format!("/namespaces/{}", segment(namespace)) };
        format!("/{root}/{}{place}/{}", Self::API_VERSION, Self::PLURAL)
    }

    /// The path of one object by name.
    fn path_of(namespace: &str, name: &str) -> String {
        format!("{}/{}", Self::collection(namespace), segment(name))
    }

    /// The path of this object.
    fn path(&self) -> String {
        Self::path_of(&self.metadata().namespace, &self.metadata().name)
    }
}

/// A name as one segment of a path, so that no name leads elsewhere.
fn segment(name: &str) -> String {
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-._~:".contains(&letter);
    let dots = name.bytes().all(|letter| letter == b'.');
    name.bytes()
        .map(|letter| if is_plain(letter) && !dots { char::from(letter).to_string() } else { format!("%{letter:02X}") })
        .collect()
}

/// What a list request answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
pub struct List<T> {
    /// The state that the list shows.
    #[serde(default)]
    pub metadata: ListMeta,
    /// The objects; each without `apiVersion` and `kind` of its own.
    #[serde(default = "Vec::new", deserialize_with = "null_is_empty")]
    pub items: Vec<T>,
}

/// What a list says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListMeta {
    /// The state that the list shows, from which a watch goes on.
    pub resource_version: Option<String>,
    /// Where the next page begins; empty or absent after the last one.
    #[serde(rename = "continue")]
    pub next: Option<String>,
}

/// Go's programs write an empty list or mapping as null.
pub(crate) fn null_is_empty<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClusterRole, RoleBinding, Secret};

    #[test]
    fn paths_are_the_api_servers() {
        assert_eq!(Secret::path_of("kube-system", "a"), "/api/v1/namespaces/kube-system/secrets/a");
        assert_eq!(Secret::collection("kube-system"), "/api/v1/namespaces/kube-system/secrets");
        assert_eq!(
            RoleBinding::path_of("kube-public", "kubeadm:x"),
            "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/rolebindings/kubeadm:x"
        );
        assert_eq!(ClusterRole::collection(""), "/apis/rbac.authorization.k8s.io/v1/clusterroles");
    }

    #[test]
    fn a_name_never_leaves_its_segment() {
        assert_eq!(Secret::path_of("a", "../../x?y#z"), "/api/v1/namespaces/a/secrets/..%2F..%2Fx%3Fy%23z");
        assert_eq!(Secret::path_of("a", ".."), "/api/v1/namespaces/a/secrets/%2E%2E");
    }

    #[test]
    fn a_list_has_its_items_and_its_next_page() {
        let text = r#"{"kind":"SecretList","metadata":{"resourceVersion":"7","continue":"x"},
            "items":[{"metadata":{"name":"a"},"type":"Opaque"}]}"#;
        let list: List<Secret> = serde_json::from_str(text).unwrap();
        assert_eq!((list.items[0].metadata.name.as_str(), list.metadata.next.as_deref()), ("a", Some("x")));
        assert!(serde_json::from_str::<List<Secret>>(r#"{"items":null}"#).unwrap().items.is_empty());
    }
}
