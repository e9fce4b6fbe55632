//! Environment variables, as pods have them.
use crate::{scalar::Quantity, shape::shape};

shape! {
    pub(crate) struct EnvVar {
        pub(crate) name: Option<String>,
        pub(crate) value: Option<String>,
        pub(crate) value_from: Option<EnvVarSource>,
    }

    pub(crate) struct EnvVarSource {
        pub(crate) field_ref: Option<ObjectFieldSelector>,
        pub(crate) resource_field_ref: Option<ResourceFieldSelector>,
        pub(crate) config_map_key_ref: Option<ConfigMapKeySelector>,
        pub(crate) secret_key_ref: Option<SecretKeySelector>,
        pub(crate) file_key_ref: Option<FileKeySelector>,
    }

    pub(crate) struct ObjectFieldSelector {
        pub(crate) api_version: Option<String>,
        pub(crate) field_path: Option<String>,
    }

    pub(crate) struct ResourceFieldSelector {
        pub(crate) container_name: Option<String>,
        pub(crate) resource: Option<String>,
        pub(crate) divisor: Option<Quantity>,
    }

    pub(crate) struct ConfigMapKeySelector {
        pub(crate) name: Option<String>,
        pub(crate) key: Option<String>,
        pub(crate) optional: Option<bool>,
    }

    pub(crate) struct SecretKeySelector {
        pub(crate) name: Option<String>,
        pub(crate) key: Option<String>,
        pub(crate) optional: Option<bool>,
    }

    pub(crate) struct FileKeySelector {
        pub(crate) volume_name: Option<String>,
        pub(crate) path: Option<String>,
        pub(crate) key: Option<String>,
        pub(crate) optional: Option<bool>,
    }
}
