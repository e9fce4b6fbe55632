//! Environment variables of the control plane's programs, as pods have them.
use crate::{scalar::Quantity, shape::shape};

shape! {
    /// An environment variable.
    pub struct EnvVar {
        /// Its name.
        pub name: Option<String>,
        /// Its value.
        pub value: Option<String>,
        /// Where its value comes from instead.
        pub value_from: Option<EnvVarSource>,
    }

    /// Where a variable's value comes from; one of these.
    pub struct EnvVarSource {
        /// A field of the pod.
        pub field_ref: Option<ObjectFieldSelector>,
        /// An amount that the container may use.
        pub resource_field_ref: Option<ResourceFieldSelector>,
        /// A key of a ConfigMap.
        pub config_map_key_ref: Option<ConfigMapKeySelector>,
        /// A key of a Secret.
        pub secret_key_ref: Option<SecretKeySelector>,
        /// A key of a file in a volume; since Kubernetes 1.34.
        pub file_key_ref: Option<FileKeySelector>,
    }

    /// A field of the pod.
    pub struct ObjectFieldSelector {
        /// The version in which the path is written.
        pub api_version: Option<String>,
        /// The field's path.
        pub field_path: Option<String>,
    }

    /// An amount that a container may use.
    pub struct ResourceFieldSelector {
        /// The container.
        pub container_name: Option<String>,
        /// The resource, such as `limits.memory`.
        pub resource: Option<String>,
        /// The unit in which it is told.
        pub divisor: Option<Quantity>,
    }

    /// A key of a ConfigMap.
    pub struct ConfigMapKeySelector {
        /// The ConfigMap.
        pub name: Option<String>,
        /// The key.
        pub key: Option<String>,
        /// Whether it may be missing.
        pub optional: Option<bool>,
    }

    /// A key of a Secret.
    pub struct SecretKeySelector {
        /// The Secret.
        pub name: Option<String>,
        /// The key.
        pub key: Option<String>,
        /// Whether it may be missing.
        pub optional: Option<bool>,
    }

    /// A key of a file in a volume.
    pub struct FileKeySelector {
        /// The volume.
        pub volume_name: Option<String>,
        /// The file.
        pub path: Option<String>,
        /// The key.
        pub key: Option<String>,
        /// Whether it may be missing.
        pub optional: Option<bool>,
    }
}
