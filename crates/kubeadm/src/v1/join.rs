//! JoinConfiguration.
use super::Arg;
use crate::v1beta4;

pub(crate) type JoinConfiguration = v1beta4::JoinConfiguration<Arg>;
