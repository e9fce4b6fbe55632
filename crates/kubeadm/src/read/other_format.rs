//! Files of other programs that are given to `machineadm config` by mistake: what each is, and what to do with it.
use serde_json::Value;

/// What a file is, and what to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OtherFormat {
    name: &'static str,
    pub(super) remedy: &'static str,
}

const CLOUD_CONFIG: OtherFormat = OtherFormat {
    name: "a cloud-init configuration (#cloud-config)",
    remedy: "check the kubeadm file that it writes with `write_files`",
};
const IGNITION: OtherFormat =
    OtherFormat { name: "an Ignition configuration", remedy: "check the kubeadm file that it writes" };
const TALOS: OtherFormat =
    OtherFormat { name: "a Talos machine configuration", remedy: "Talos Linux reads it by itself, without kubeadm" };

/// The first line by which cloud-init knows its files.
const CLOUD_CONFIG_LINE: &str = "#cloud-config";

impl OtherFormat {
    /// What a document without `apiVersion` and `kind` is, by its text and its members.
    pub(super) fn of(text: &str, root: &Value) -> Option<Self> {
        let has = |name: &str| root.get(name).is_some();
        let is_mapping = |name: &str| root.get(name).is_some_and(Value::is_object);
        match () {
            () if has("apiVersion") || has("kind") => None,
            () if text.lines().any(|line| line.trim_end() == CLOUD_CONFIG_LINE) => Some(CLOUD_CONFIG),
            () if is_mapping("ignition") || (has("variant") && has("version")) => Some(IGNITION),
            () if is_mapping("machine") && has("version") => Some(TALOS),
            () => None,
        }
    }

    pub(super) fn message(self) -> String {
        format!("this is {}, not a document for kubeadm", self.name)
    }
}
