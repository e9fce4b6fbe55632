//! InitConfiguration.
use super::Arg;
use crate::v1beta4;

pub(crate) type InitConfiguration = v1beta4::InitConfiguration<Arg>;
