//! What machineadm did and no reset can undo: named, so that nobody takes the machine for new.
use super::ResetScope;
use crate::acts::{STARTING_KUBEADM, command_name};
use host::{
    Inspect,
    contract::{JOURNAL, OUTCOME},
};
use outcome::{Action, Outcome, State, StepOutcome};
use serde_json::Value;
use std::collections::BTreeSet;

/// What the journal and the outcome of the last run know of, in order.
pub(super) fn found(scope: ResetScope, host: &dyn Inspect) -> host::Result<Vec<String>> {
    if scope == ResetScope::NodeOnly {
        return Ok(Vec::new());
    }
    let mut found: BTreeSet<String> = commands(host)?.into_iter().collect();
    if let Some(outcome) = host.file(OUTCOME)?.and_then(|file| Outcome::read(file.contents.expose()).ok()) {
        let steps = outcome.phases.iter().flat_map(|turn| &turn.steps);
        let done = steps.filter(|step| step.state == State::Succeeded && is_lasting(step));
        found.extend(done.map(|step| step.what.clone()));
    }
    Ok(found.into_iter().collect())
}

/// Commands that have started, whether or not they came to their end.
fn commands(host: &dyn Inspect) -> host::Result<Vec<String>> {
    let Some(journal) = host.file(JOURNAL)? else { return Ok(Vec::new()) };
    let journal: Value = serde_json::from_slice(journal.contents.expose()).unwrap_or_default();
    let acts = journal["acts"].as_object().cloned().unwrap_or_default();
    let name = |id: &String| Some(format!("{} {}", Action::Run, command_name(id)?));
    Ok(acts.keys().filter_map(name).collect())
}

/// Files and kernel parameters are restored, and kubeadm is undone; users and groups stay.
fn is_lasting(step: &StepOutcome) -> bool {
    let Some((action, target)) = step.action() else { return false };
    match action {
        Action::Run => !STARTING_KUBEADM.contains(&target),
        Action::Create | Action::Change => !target.contains(['/', '.']),
        Action::Import
        | Action::Load
        | Action::Enable
        | Action::Disable
        | Action::Mask
        | Action::Unmask
        | Action::Start => true,
        Action::Delete
        | Action::Restore
        | Action::Refresh
        | Action::Install
        | Action::RollBack
        | Action::Note
        | Action::Wait
        | Action::Restart
        | Action::Stop => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(what: &str) -> StepOutcome {
        StepOutcome { what: what.to_owned(), state: State::Succeeded, started: None, seconds: 0.0, transfer: None }
    }

    #[test]
    fn what_is_restored_is_not_named_and_the_rest_is() {
        for what in
            ["run c/a", "enable kubelet.service", "create alice", "change operators", "load overlay", "import x"]
        {
            assert!(is_lasting(&step(what)), "{what}");
        }
        for what in ["run kubeadm init", "create /etc/motd", "change net.ipv4.ip_forward", "restart kubelet", "wait a"]
        {
            assert!(!is_lasting(&step(what)), "{what}");
        }
    }
}
