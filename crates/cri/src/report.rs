//! What a runtime has answered, without the CRI's own words.
use crate::{
    Error, LIST_IMAGES, RUNTIME_CONFIG, Result, STATUS, VERSION,
    messages::{ListImagesResponse, RuntimeConfigResponse, StatusResponse, VersionResponse},
};
use prost::Message;
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
    /// Its own configuration in its own words, where its status has it.
    pub config: Option<Value>,
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

/// The messages of a runtime, as they came.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// To Version.
    pub version: Vec<u8>,
    /// To Status.
    pub status: Vec<u8>,
    /// To RuntimeConfig, where it is implemented.
    pub config: Option<Vec<u8>>,
    /// To ListImages.
    pub images: Vec<u8>,
}

impl RuntimeReport {
    /// Reads what a runtime has answered.
    pub fn read(answers: &Answers) -> Result<Self> {
        let Answers { version, status, config, images } = answers;
        let config = config.as_ref().map(|config| decoded(config, RUNTIME_CONFIG)).transpose()?;
        Ok(Self::of(decoded(version, VERSION)?, decoded(status, STATUS)?, config, decoded(images, LIST_IMAGES)?))
    }

    fn of(
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
            config: own,
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

fn decoded<A: Message + Default>(message: &[u8], method: &'static str) -> Result<A> {
    A::decode(message).map_err(|_| Error::Malformed { method, what: "it is not a message of CRI v1" })
}

fn words(reason: &str, message: &str) -> String {
    match (reason, message) {
        ("", "") => "no reason given".to_owned(),
        ("", text) | (text, "") => text.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Image, LinuxRuntimeConfiguration, RuntimeCondition, RuntimeStatus};

    fn answers(config: Option<i32>) -> Answers {
        let condition = |name: &str, reason: &str, message: &str| RuntimeCondition {
            r#type: name.into(),
            status: false,
            reason: reason.into(),
            message: message.into(),
        };
        let conditions =
            vec![condition("RuntimeReady", "Broken", "no shim"), condition("NetworkReady", "", "no plugin")];
        let info = [("config".to_owned(), r#"{"sandboxImage":"a/pause:1","containerdRootDir":""}"#.to_owned())];
        let images = vec![
            Image { repo_tags: vec!["a/b:1".into()], repo_digests: vec!["a/b@sha256:00".into()], pinned: false },
            Image { pinned: true, ..Image::default() },
        ];
        let linux = config.map(|cgroup_driver| LinuxRuntimeConfiguration { cgroup_driver });
        Answers {
            version: VersionResponse { runtime_name: "r".into(), runtime_version: "1".into() }.encode_to_vec(),
            status: StatusResponse { status: Some(RuntimeStatus { conditions }), info: info.into() }.encode_to_vec(),
            config: linux.map(|linux| RuntimeConfigResponse { linux: Some(linux) }.encode_to_vec()),
            images: ListImagesResponse { images }.encode_to_vec(),
        }
    }

    #[test]
    fn everything_that_a_runtime_says_is_in_the_report() {
        let report = RuntimeReport::read(&answers(Some(1))).unwrap();
        let expected = RuntimeReport {
            name: "r".into(),
            version: "1".into(),
            not_ready: Some("Broken: no shim".into()),
            network_not_ready: Some("no plugin".into()),
            cgroup_driver: Some(CgroupDriver::Cgroupfs),
            sandbox_image: Some("a/pause:1".into()),
            has_pinned_image: true,
            root: None,
            config: Some(serde_json::json!({"sandboxImage": "a/pause:1", "containerdRootDir": ""})),
            images: ["a/b:1".into(), "a/b@sha256:00".into()].into(),
        };
        assert_eq!(report, expected);
        assert_eq!(RuntimeReport::read(&answers(Some(0))).unwrap().cgroup_driver, Some(CgroupDriver::Systemd));
        assert_eq!(RuntimeReport::read(&answers(None)).unwrap().cgroup_driver, None);
    }

    #[test]
    fn an_answer_that_is_no_message_names_its_method() {
        let error = RuntimeReport::read(&Answers { images: vec![0xff], ..answers(None) }).unwrap_err();
        assert!(error.to_string().contains("ListImages"), "{error}");
    }
}
