//! ClusterConfiguration.
use crate::v1beta4;
use serde::{Deserialize, Serialize};

pub(crate) type ClusterConfiguration = v1beta4::ClusterConfiguration<Arg>;

/// An empty value is a value, so name and value are always written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Arg {
    pub(crate) name: String,
    pub(crate) value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) merge_method: Option<String>,
}
