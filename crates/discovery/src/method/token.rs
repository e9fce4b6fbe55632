//! Discovery by token: unverified fetch without credentials, signature, pins, then a verified fetch that must agree.
use super::{
    Pinning,
    network::{Network, Patience, Roots},
    outcome::{Discovered, NotTrusted, Refusal},
    rounds::{Until, rounds},
};
use crate::{
    BootstrapToken, ClusterInfo, Endpoint, Pin, certificate,
    cluster_info::{self, KUBECONFIG_KEY, Origin, SIGNATURE_PREFIX},
    constant_time, jws,
    proof::Proof,
};
use objects::{ConfigMap, Resource};

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
    let body = net.cluster_info(endpoint, Roots::Unverified).map_err(Refusal::Unreached)?;
    let config_map = config_map(&body)?;
    let kubeconfig = kubeconfig(&config_map)?;
    signed(&config_map, kubeconfig, token)?;
    let info = cluster_info::read(kubeconfig, Origin::Signed).map_err(Refusal::Content)?.info;
    let Trusted { roots, pins } = trusted(&info, pinning)?;
    let endpoint = endpoint.clone().verified_as(info.tls_server_name.clone());
    let second = net.cluster_info(&endpoint, super::roots(&roots)).map_err(Refusal::Unverified)?;
    if !constant_time::equal(self::kubeconfig(&self::config_map(&second)?)?, kubeconfig) {
        return Err(Refusal::Changed);
    }
    let proof = Proof::Token { token_id: token.id.to_string(), pins };
    Ok(Discovered { bytes: kubeconfig.to_vec(), cluster_info: info, proof })
}

/// The ConfigMap in a body.
pub(crate) fn config_map(body: &[u8]) -> Result<ConfigMap, Refusal> {
    let config_map: ConfigMap = serde_json::from_slice(body).map_err(|_| Refusal::NotAConfigMap)?;
    if config_map.kind == ConfigMap::KIND { Ok(config_map) } else { Err(Refusal::NotAConfigMap) }
}

/// The kubeconfig in a cluster-info.
pub(crate) fn kubeconfig(config_map: &ConfigMap) -> Result<&[u8], Refusal> {
    config_map.data.get(KUBECONFIG_KEY).map(String::as_bytes).ok_or(Refusal::NoKubeconfig)
}

fn signed(config_map: &ConfigMap, kubeconfig: &[u8], token: &BootstrapToken) -> Result<(), Refusal> {
    let key = format!("{SIGNATURE_PREFIX}{}", token.id);
    let signature = config_map.data.get(&key).filter(|signature| !signature.is_empty());
    let signature = signature.ok_or_else(|| Refusal::NotSigned(token.id.clone()))?;
    jws::verify(signature, token, kubeconfig).map_err(|error| Refusal::Signature { id: token.id.clone(), error })
}

/// What the second connection is verified by.
struct Trusted {
    roots: Vec<u8>,
    pins: Vec<Pin>,
}

/// With pins only the pinned roots count. A bundle may hold others, but whoever signed it with the token could have put
/// his own there; the server that the pinned root vouches for confirms the whole bundle by saying the same.
fn trusted(info: &ClusterInfo, pinning: &Pinning) -> Result<Trusted, Refusal> {
    let Pinning::Pins(pins) = pinning else { return Ok(Trusted { roots: info.roots.clone(), pins: Vec::new() }) };
    let certificates = info.certificates().unwrap_or_default();
    if certificates.is_empty() {
        return Err(Refusal::NothingPinned);
    }
    let pinned = Pin::matching(pins, &certificates);
    if pinned.is_empty() {
        return Err(Refusal::NotPinned(certificates.iter().map(Pin::of).collect()));
    }
    Ok(Trusted { roots: certificate::pem(&pinned), pins: pinned.into_iter().map(Pin::of).collect() })
}
