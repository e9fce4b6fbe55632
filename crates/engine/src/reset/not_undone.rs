//! What machineadm did and no reset can undo: named, so that nobody takes the machine for new.
use super::ResetScope;
use crate::outcome::{Outcome, State};
use host::{
    Inspect,
    contract::{JOURNAL, OUTCOME},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The first words of steps that are done for their effect.
const VERBS: [&str; 8] = ["run", "import", "load", "enable", "disable", "mask", "unmask", "start"];

/// What the journal and the outcome of the last run know of, in order.
pub(super) fn found(scope: ResetScope, host: &dyn Inspect) -> host::Result<Vec<String>> {
    if scope == ResetScope::NodeOnly {
        return Ok(Vec::new());
    }
    let mut found: BTreeSet<String> = commands(host)?.into_iter().collect();
    if let Some(outcome) = host.file(OUTCOME)?.and_then(|file| Outcome::read(file.contents.expose()).ok()) {
        let steps = outcome.phases.iter().flat_map(|turn| &turn.steps);
        let done = steps.filter(|step| step.state == State::Succeeded).map(|step| step.what.as_str());
        found.extend(done.filter(|what| is_lasting(what)).map(str::to_owned));
    }
    Ok(found.into_iter().collect())
}

/// Commands that have started, whether or not they came to their end.
fn commands(host: &dyn Inspect) -> host::Result<Vec<String>> {
    let Some(journal) = host.file(JOURNAL)? else { return Ok(Vec::new()) };
    let journal: Value = serde_json::from_slice(journal.contents.expose()).unwrap_or_default();
    let acts = journal["acts"].as_object().cloned().unwrap_or_default();
    let name = |id: &String| Some(format!("run {}", id.strip_prefix("command ")?.split(' ').next()?));
    Ok(acts.keys().filter_map(name).collect())
}

/// Files and kernel parameters are restored, and kubeadm is undone; users and groups stay.
fn is_lasting(what: &str) -> bool {
    let (verb, target) = what.split_once(' ').unwrap_or((what, ""));
    match verb {
        "run" => !target.starts_with("kubeadm "),
        "create" | "change" => !target.contains(['/', '.']),
        verb => VERBS.contains(&verb),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_restored_is_not_named_and_the_rest_is() {
        for what in
            ["run c/a", "enable kubelet.service", "create alice", "change operators", "load overlay", "import x"]
        {
            assert!(is_lasting(what), "{what}");
        }
        for what in ["run kubeadm init", "create /etc/motd", "change net.ipv4.ip_forward", "restart kubelet", "wait a"]
        {
            assert!(!is_lasting(what), "{what}");
        }
    }
}
