//! A tree without what differs from run to run.
use super::tree::Tree;
use serde_json::{Value, json};

/// The same tree with what differs from run to run reduced to its meaning: the outcome's times and the lock's text.
pub(crate) fn by_meaning(mut tree: Tree) -> Tree {
    if let Some(outcome) = tree.get_mut("/var/lib/machineadm/outcome.json") {
        outcome.body = meaning(&outcome.body);
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
