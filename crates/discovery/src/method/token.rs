//! Discovery by token: unverified fetch without credentials, signature, pins, then a verified fetch that must agree.
use super::{
    Pinning,
    network::{Network, Patience, Roots},
    outcome::{Discovered, NotTrusted, Refusal},
    published::{kubeconfig, said, signed},
    rounds::{Until, rounds},
};
use crate::{BootstrapToken, ClusterInfo, Endpoint, Pin, certificate::Certificate, constant_time, proof::Proof};

pub(super) fn discover(
    endpoints: &[Endpoint],
    token: &BootstrapToken,
    pinning: &Pinning,
    net: &mut dyn Network,
    patience: Patience,
) -> Result<Discovered, NotTrusted> {
    rounds(endpoints, net, patience, |endpoint, net| ask(endpoint, token, pinning, net))
}

/// Asks one endpoint. The token stays here: it only judges what came back.
fn ask(
    endpoint: &Endpoint,
    token: &BootstrapToken,
    pinning: &Pinning,
    net: &mut Until<'_>,
) -> Result<Discovered, Refusal> {
    let first = net.cluster_info(endpoint, Roots::Unverified).map_err(Refusal::Unreached)?;
    signed(&first, token)?;
    let found = said(&first)?;
    let Trusted { roots, pins } = trusted(found.info(), pinning)?;
    let endpoint = endpoint.clone().verified_as(found.info().tls_server_name().map(str::to_owned));
    let second = net.cluster_info(&endpoint, Roots::of(&roots)).map_err(Refusal::Unverified)?;
    if !constant_time::equal(kubeconfig(&second)?.as_bytes(), found.text().as_bytes()) {
        return Err(Refusal::Changed);
    }
    Ok(Discovered { kubeconfig: found, proof: Proof::Token { token_id: token.id.to_string(), pins } })
}

/// What the second connection is verified by.
struct Trusted {
    roots: Vec<Certificate>,
    pins: Vec<Pin>,
}

/// With pins only the pinned roots count. A bundle may hold others, but whoever signed it with the token could have put
/// his own there; the server that the pinned root vouches for confirms the whole bundle by saying the same.
fn trusted(info: &ClusterInfo, pinning: &Pinning) -> Result<Trusted, Refusal> {
    let roots = info.roots().certificates();
    let Pinning::Pins(pins) = pinning else { return Ok(Trusted { roots: roots.to_vec(), pins: Vec::new() }) };
    if roots.is_empty() {
        return Err(Refusal::NothingPinned);
    }
    let pinned = Pin::matching(pins, roots);
    if pinned.is_empty() {
        return Err(Refusal::NotPinned(roots.iter().map(Pin::of).collect()));
    }
    Ok(Trusted { pins: pinned.iter().map(Pin::of).collect(), roots: pinned })
}
