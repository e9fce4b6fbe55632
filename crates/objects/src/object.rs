//! Any of the objects that we make, so that a list can hold them in the order in which they are made.
use crate::{ClusterRole, ClusterRoleBinding, ConfigMap, ObjectMeta, Resource, Role, RoleBinding, Secret};
use serde::Serialize;

/// An object of one of the kinds that we make.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Object {
    /// A Secret.
    Secret(Secret),
    /// A ConfigMap.
    ConfigMap(ConfigMap),
    /// A Role.
    Role(Role),
    /// A ClusterRole.
    ClusterRole(ClusterRole),
    /// A RoleBinding.
    RoleBinding(RoleBinding),
    /// A ClusterRoleBinding.
    ClusterRoleBinding(ClusterRoleBinding),
}

/// Does the same to whatever object it is.
macro_rules! each {
    ($object:expr, $resource:ident => $body:expr) => {
        match $object {
            Object::Secret($resource) => $body,
            Object::ConfigMap($resource) => $body,
            Object::Role($resource) => $body,
            Object::ClusterRole($resource) => $body,
            Object::RoleBinding($resource) => $body,
            Object::ClusterRoleBinding($resource) => $body,
        }
    };
}

impl Object {
    /// What it says about itself.
    pub fn metadata(&self) -> &ObjectMeta {
        each!(self, object => object.metadata())
    }

    /// Its kind.
    pub fn kind(&self) -> &'static str {
        fn of<R: Resource>(_: &R) -> &'static str {
            R::KIND
        }
        each!(self, object => of(object))
    }

    /// Its path in the API.
    pub fn path(&self) -> String {
        each!(self, object => object.path())
    }

    /// The path of all of its kind in its namespace, to which a new one is posted.
    pub fn collection(&self) -> String {
        fn of<R: Resource>(object: &R) -> String {
            R::collection(&object.metadata().namespace)
        }
        each!(self, object => of(object))
    }
}

/// An object of this kind is an object.
macro_rules! from {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Object {
            fn from(object: $kind) -> Self {
                Self::$kind(object)
            }
        }
    )*};
}

from!(Secret, ConfigMap, Role, ClusterRole, RoleBinding, ClusterRoleBinding);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PolicyRule, RoleRef, Subject};

    #[test]
    fn an_object_knows_its_place() {
        let role = Role::new(ObjectMeta::named_in("kube-public", "r"), vec![PolicyRule::get("configmaps", &["c"])]);
        let role = Object::from(role);
        assert_eq!(role.kind(), "Role");
        assert_eq!(role.path(), format!("{}/r", role.collection()));
        let binding =
            ClusterRoleBinding::new(ObjectMeta::named("b"), RoleRef::cluster_role("r"), vec![Subject::group("g")]);
        assert_eq!(Object::from(binding).collection(), "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings");
    }

    #[test]
    fn an_object_is_written_as_itself() {
        let object = Object::from(ConfigMap::new(ObjectMeta::named_in("n", "c"), [("k".into(), "v".into())].into()));
        let text = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":{"k":"v"}}"#;
        assert_eq!(serde_json::to_string(&object).unwrap(), text);
    }
}
