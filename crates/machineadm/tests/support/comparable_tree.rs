//! A tree that can be compared with that of another run: without what differs from run to run.
use crate::support::file_tree::Tree;
use serde_json::{Value, json};

/// The same tree with what differs from run to run reduced to its meaning: the times of outcome and
/// report, and the lock's text.
pub(crate) fn comparable(mut tree: Tree) -> Tree {
    if let Some(outcome) = tree.get_mut("/var/lib/machineadm/outcome.json") {
        outcome.body = meaning(&outcome.body);
    }
    if let Some(report) = tree.get_mut("/run/machineadm/report.json") {
        report.body = report_meaning(&report.body);
    }
    if let Some(lock) = tree.get_mut("/run/machineadm/lock") {
        lock.body.clear();
    }
    tree
}

/// What an outcome says, apart from when, and from what an earlier run may have done already.
fn meaning(outcome: &[u8]) -> Vec<u8> {
    let outcome: Value = serde_json::from_slice(outcome).expect("an outcome is JSON");
    let phases = outcome["phases"].as_array().expect("an outcome lists its phases");
    let phases: Vec<_> = phases.iter().map(|phase| [&phase["name"], &phase["state"]]).collect();
    let kept = ["apiVersion", "kind", "machine", "mode", "state", "documents", "failure"].map(|name| &outcome[name]);
    json!([kept, phases]).to_string().into_bytes()
}

/// What a report says, apart from when.
fn report_meaning(report: &[u8]) -> Vec<u8> {
    let report: Value = serde_json::from_slice(report).expect("a report is JSON");
    let kept = ["apiVersion", "kind", "machine", "mode", "state", "progress", "failure"].map(|name| &report[name]);
    json!(kept).to_string().into_bytes()
}
