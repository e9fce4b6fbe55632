//! Messages of CRI v1, as far as they are read; the numbers are the CRI's.
use prost::Message;
use std::collections::HashMap;

/// A request without parameters: RuntimeConfigRequest, and ListImagesRequest without a filter.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Empty {}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct VersionRequest {
    #[prost(string, tag = "1")]
    pub(crate) version: String,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct VersionResponse {
    #[prost(string, tag = "2")]
    pub(crate) runtime_name: String,
    #[prost(string, tag = "3")]
    pub(crate) runtime_version: String,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct StatusRequest {
    #[prost(bool, tag = "1")]
    pub(crate) verbose: bool,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct StatusResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) status: Option<RuntimeStatus>,
    #[prost(map = "string, string", tag = "2")]
    pub(crate) info: HashMap<String, String>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct RuntimeStatus {
    #[prost(message, repeated, tag = "1")]
    pub(crate) conditions: Vec<RuntimeCondition>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct RuntimeCondition {
    #[prost(string, tag = "1")]
    pub(crate) r#type: String,
    #[prost(bool, tag = "2")]
    pub(crate) status: bool,
    #[prost(string, tag = "3")]
    pub(crate) reason: String,
    #[prost(string, tag = "4")]
    pub(crate) message: String,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct RuntimeConfigResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) linux: Option<LinuxRuntimeConfiguration>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct LinuxRuntimeConfiguration {
    /// 0 is systemd, 1 is cgroupfs.
    #[prost(int32, tag = "1")]
    pub(crate) cgroup_driver: i32,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ListImagesResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) images: Vec<Image>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Image {
    #[prost(string, repeated, tag = "2")]
    pub(crate) repo_tags: Vec<String>,
    #[prost(string, repeated, tag = "3")]
    pub(crate) repo_digests: Vec<String>,
    #[prost(bool, tag = "8")]
    pub(crate) pinned: bool,
}
