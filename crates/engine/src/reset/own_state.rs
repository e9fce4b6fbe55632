//! machineadm's own state, which a reset deletes last: an interrupted reset is then continued by the next one.
use super::ResetScope;
use host::{Change, Host, Inspect, PathState, contract};

/// What records that the machine is a node, and how it became one.
const OF_THE_NODE: [&str; 11] = [
    contract::SUCCESS,
    contract::SUCCESS_KEPT,
    contract::FAILURE,
    contract::CONFIGURATION,
    contract::FETCHED,
    contract::CLUSTER_INFO,
    contract::REPORT,
    contract::OUTCOME_FALLBACK,
    contract::OUTCOME,
    contract::CONTROL_PLANE_CHANGE,
    contract::BEFORE_KUBEADM,
];

/// What records which document did what. The journal goes last.
const OF_DOCUMENTS: [&str; 6] = [
    contract::DOWNLOADS_DIR,
    contract::SERVICES_DIR,
    contract::PREVIOUS_DIR,
    contract::OWNERSHIP,
    contract::PLAN_KEY,
    contract::JOURNAL,
];

/// The state that is there and goes.
pub(super) fn paths(scope: ResetScope, host: &dyn Inspect) -> host::Result<Vec<&'static str>> {
    let all = OF_THE_NODE.into_iter().chain(
        match scope {
            ResetScope::Machine => &OF_DOCUMENTS[..],
            ResetScope::NodeOnly => &[],
        }
        .iter()
        .copied(),
    );
    let mut found = Vec::new();
    for path in all {
        if host.state_at(path)? != PathState::Absent {
            found.push(path);
        }
    }
    Ok(found)
}

/// Deletes it, and its directory if nothing else is in it.
pub(super) fn delete(scope: ResetScope, host: &mut dyn Host) -> host::Result<()> {
    for path in paths(scope, host)? {
        host.remove_tree(path)?;
    }
    let was = host.state_at(contract::STATE_DIR)?;
    match was {
        PathState::Directory { entries: 0, .. } => {
            host.ensure(&Change::Remove { path: contract::STATE_DIR.to_owned(), was })
        }
        _ => Ok(()),
    }
}
