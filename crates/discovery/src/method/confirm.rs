//! Whether a cluster is reached under what it says of itself: at that address, verified by those roots.
use super::{Refusal, Roots, Until, published::said};
use crate::ClusterInfo;

/// What counts as reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// The cluster says the same.
    SaysTheSame,
    /// The same, or that strangers may not ask: somebody brought its roots, and they verify whoever says that.
    SaysTheSameOrNothing,
}

/// Asks a cluster at its own address, verified by roots of its own, and demands that it says the same. Without that,
/// what is known of a cluster could be replaced by something that leads nowhere, or to somebody else.
pub(crate) fn confirm(info: &ClusterInfo, by: Roots<'_>, demand: Demand, net: &mut Until<'_>) -> Result<(), Refusal> {
    let unconfirmed = |reason: String| Refusal::Unconfirmed { server: info.server().to_owned(), reason };
    // Any web server that the system's roots vouch for could forbid.
    let may_forbid = demand == Demand::SaysTheSameOrNothing && !info.roots().is_empty();
    let answer = match net.cluster_info(info.endpoint(), by) {
        Err(unreached) if may_forbid && unreached.is_forbidden() => return Ok(()),
        answer => answer.map_err(|unreached| unconfirmed(unreached.to_string()))?,
    };
    match said(&answer) {
        Ok(said) if said.info() == info => Ok(()),
        Ok(_) => Err(unconfirmed("it publishes another cluster-info there".to_owned())),
        Err(refusal) => Err(unconfirmed(refusal.to_string())),
    }
}
