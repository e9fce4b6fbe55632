//! The user data and the unit of `examples/`, and the configuration in user data.
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

pub(crate) const CLOUD_INIT: &str = include_str!("../../../../examples/cloud-init.yaml");
pub(crate) const IGNITION: &str = include_str!("../../../../examples/ignition.json");
pub(crate) const UNIT: &str = include_str!("../../../../examples/machineadm.service");

/// How the text of a file is given to cloud-init, and how far it is indented.
const CONTENT: &str = "  content: |\n";
const INDENTATION: &str = "    ";
/// What follows it.
const NEXT: &str = "runcmd:\n";
const DATA: &str = "data:;base64,";

/// The configuration that the cloud-config delivers.
pub(crate) fn of_cloud_init() -> String {
    let (_, rest) = CLOUD_INIT.split_once(CONTENT).expect("a file with content");
    let (content, _) = rest.split_once(NEXT).expect("commands after it");
    content.lines().map(|line| format!("{}\n", line.strip_prefix(INDENTATION).unwrap_or_default())).collect()
}

/// The configuration that the Ignition config delivers.
pub(crate) fn of_ignition() -> String {
    let ignition: Value = serde_json::from_str(IGNITION).expect("JSON");
    let source = ignition["storage"]["files"][0]["contents"]["source"].as_str().expect("a source").to_owned();
    let bytes = BASE64_STANDARD.decode(source.strip_prefix(DATA).expect("a data URL")).expect("base64");
    String::from_utf8(bytes).expect("text")
}
