//! UpgradeConfiguration: as in v1beta4.
pub(crate) use crate::v1beta4::UpgradeConfiguration;
