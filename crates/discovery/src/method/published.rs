//! cluster-info as a server shows it: a kubeconfig that nobody has judged yet, and signatures.
use super::Refusal;
use crate::{
    BootstrapToken, DiscoveryKubeconfig,
    cluster_info::{KUBECONFIG_KEY, SIGNATURE_PREFIX},
    jws,
};
use objects::ConfigMap;

/// The kubeconfig in a cluster-info.
pub(super) fn kubeconfig(config_map: &ConfigMap) -> Result<&str, Refusal> {
    config_map.data.get(KUBECONFIG_KEY).map(String::as_str).ok_or(Refusal::NoKubeconfig)
}

/// What a cluster-info says, if it may be believed as far as its content goes.
pub(super) fn said(config_map: &ConfigMap) -> Result<DiscoveryKubeconfig, Refusal> {
    DiscoveryKubeconfig::read(kubeconfig(config_map)?.to_owned()).map_err(Refusal::Content)
}

/// Whether a cluster-info carries this token's signature of its kubeconfig.
pub(super) fn signed(config_map: &ConfigMap, token: &BootstrapToken) -> Result<(), Refusal> {
    let key = format!("{SIGNATURE_PREFIX}{}", token.id);
    let kubeconfig = kubeconfig(config_map)?.as_bytes();
    let signature = config_map.data.get(&key).filter(|signature| !signature.is_empty());
    let signature = signature.ok_or_else(|| Refusal::NotSigned(token.id.clone()))?;
    jws::verify(signature, token, kubeconfig).map_err(|error| Refusal::Signature { id: token.id.clone(), error })
}
