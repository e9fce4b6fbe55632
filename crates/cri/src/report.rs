//! What a runtime has answered, without the CRI's own words.
use crate::messages::{ListImagesResponse, RuntimeConfigResponse, StatusResponse, VersionResponse};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a container runtime says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeReport {
    /// Its name, such as `containerd`.
    pub name: String,
    /// Its version, as it writes it.
    pub version: String,
    /// Why it is not ready to run pods; `None` when it is.
    pub not_ready: Option<String>,
    /// Why its network is not ready: before a CNI plugin is installed, that is so on every node.
    pub network_not_ready: Option<String>,
    /// The cgroup driver that it uses; `None` when it does not implement RuntimeConfig.
    pub cgroup_driver: Option<CgroupDriver>,
    /// The image that holds a pod open, where it says so: containerd before 2.0 does.
    pub sandbox_image: Option<String>,
    /// Whether it has an image that is never removed: containerd marks the one that holds a pod open.
    pub has_pinned_image: bool,
    /// The directory with its images, where it says so.
    pub root: Option<String>,
    /// Every name and digest of an image that it has.
    pub images: BTreeSet<String>,
}

/// Who manages control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgroupDriver {
    /// systemd.
    Systemd,
    /// The runtime itself, on the file system of control groups.
    Cgroupfs,
}

impl RuntimeReport {
    pub(crate) fn of(
        version: VersionResponse,
        status: StatusResponse,
        config: Option<RuntimeConfigResponse>,
        images: ListImagesResponse,
    ) -> Self {
        let why_not = |name: &str| {
            let conditions = status.status.iter().flat_map(|status| &status.conditions);
            let unmet = conditions.filter(|condition| condition.r#type == name && !condition.status);
            unmet.map(|condition| words(&condition.reason, &condition.message)).next()
        };
        // The names are containerd's; CRI-O has other ones.
        let own = status.info.get("config").and_then(|text| serde_json::from_str::<Value>(text).ok());
        let member = |name: &str| own.as_ref()?[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let load = status.info.get("lastCNILoadStatus").filter(|load| *load != "OK").cloned();
        let pinned = images.images.iter().any(|image| image.pinned);
        Self {
            not_ready: why_not("RuntimeReady"),
            network_not_ready: why_not("NetworkReady").map(|why| load.unwrap_or(why)),
            cgroup_driver: config.and_then(|config| config.linux).map(|linux| match linux.cgroup_driver {
                1 => CgroupDriver::Cgroupfs,
                _ => CgroupDriver::Systemd,
            }),
            sandbox_image: member("sandboxImage"),
            has_pinned_image: pinned,
            root: member("containerdRootDir"),
            images: images
                .images
                .into_iter()
                .flat_map(|image| image.repo_tags.into_iter().chain(image.repo_digests))
                .collect(),
            name: version.runtime_name,
            version: version.runtime_version,
        }
    }
}

fn words(reason: &str, message: &str) -> String {
    match (reason, message) {
        ("", "") => "no reason given".to_owned(),
        ("", text) | (text, "") => text.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}
