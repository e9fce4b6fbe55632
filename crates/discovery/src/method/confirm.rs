//! Whether a cluster is reached under what it says of itself: at that address, verified by those roots.
use super::{Refusal, Roots, Until, config_map, kubeconfig};
use crate::{
    ClusterInfo,
    cluster_info::{self, Origin},
};

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
    let unconfirmed = |reason: String| Refusal::Unconfirmed { server: info.server.clone(), reason };
    let endpoint = info.endpoint().map_err(|error| unconfirmed(format!("the address {error}")))?;
    // Any web server that the system's roots vouch for could forbid.
    let may_forbid = demand == Demand::SaysTheSameOrNothing && !info.roots.is_empty();
    let body = match net.cluster_info(&endpoint, by) {
        Err(unreached) if may_forbid && unreached.is_forbidden() => return Ok(()),
        body => body.map_err(|unreached| unconfirmed(unreached.to_string()))?,
    };
    match said(&body) {
        Ok(said) if said == *info => Ok(()),
        Ok(_) => Err(unconfirmed("it says something else there".to_owned())),
        Err(refusal) => Err(unconfirmed(refusal.to_string())),
    }
}

/// What a cluster's own server is verified by.
pub(crate) fn vouched_by(info: &ClusterInfo) -> Roots<'_> {
    roots(&info.roots)
}

/// Those of the system where there are none.
pub(crate) fn roots(pem: &[u8]) -> Roots<'_> {
    if pem.is_empty() { Roots::System } else { Roots::Only(pem) }
}

fn said(body: &[u8]) -> Result<ClusterInfo, Refusal> {
    let config_map = config_map(body)?;
    Ok(cluster_info::read(kubeconfig(&config_map)?, Origin::Signed).map_err(Refusal::Content)?.info)
}
