//! ClusterConfiguration and ClusterStatus: as in v1beta1.
pub(crate) use crate::v1beta1::{ClusterConfiguration, ClusterStatus};
