//! Files of other programs that are given to `machineadm config` by mistake: what to do with each.
use objects::{ForeignFormat, Member};
use serde_json::Value;

/// What a document without `apiVersion` and `kind` is, if it is another program's.
pub(super) fn other_format(text: &str, root: &Value) -> Option<ForeignFormat> {
    ForeignFormat::of(text, |name| match root.get(name) {
        None => Member::Absent,
        Some(Value::Object(_)) => Member::Mapping,
        Some(_) => Member::Other,
    })
}

/// What a problem says of it.
pub(super) fn message(format: ForeignFormat) -> String {
    format!("this is {}, not a document for kubeadm", format.name())
}

/// What to do with it.
pub(super) const fn remedy(format: ForeignFormat) -> &'static str {
    match format {
        ForeignFormat::CloudConfig => "check the kubeadm file that it writes with `write_files`",
        ForeignFormat::Ignition => "check the kubeadm file that it writes",
        ForeignFormat::Talos => "Talos Linux reads it by itself, without kubeadm",
    }
}
