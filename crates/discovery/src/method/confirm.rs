//! Whether a cluster is reached under what it says of itself: at that address, verified by those roots.
use super::{Refusal, Roots, Until, config_map, kubeconfig};
use crate::{
    ClusterInfo,
    cluster_info::{self, Origin},
};

/// Asks a cluster at its own address, verified by its own roots, and demands that it says the same. Without that, what
/// is known of a cluster could be replaced by something that leads nowhere, or to somebody else.
pub(crate) fn confirm(info: &ClusterInfo, net: &mut Until<'_>) -> Result<(), Refusal> {
    let unconfirmed = |reason: String| Refusal::Unconfirmed { server: info.server.clone(), reason };
    let endpoint = info.endpoint().map_err(|error| unconfirmed(format!("the address {error}")))?;
    let body = net.cluster_info(&endpoint, vouched_by(info)).map_err(|unreached| unconfirmed(unreached.to_string()))?;
    match said(&body) {
        Ok(said) if said == *info => Ok(()),
        Ok(_) => Err(unconfirmed("it says something else there".to_owned())),
        Err(refusal) => Err(unconfirmed(refusal.to_string())),
    }
}

/// What a cluster's own server is verified by.
pub(crate) fn vouched_by(info: &ClusterInfo) -> Roots<'_> {
    if info.roots.is_empty() { Roots::System } else { Roots::Only(&info.roots) }
}

fn said(body: &[u8]) -> Result<ClusterInfo, Refusal> {
    let config_map = config_map(body)?;
    Ok(cluster_info::read(kubeconfig(&config_map)?, Origin::Signed).map_err(Refusal::Content)?.info)
}
