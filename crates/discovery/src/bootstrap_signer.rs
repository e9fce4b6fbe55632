//! What kube-controller-manager's BootstrapSigner has to do: which tokens sign cluster-info (`jws-kubeconfig-<token-id>`),
//! which signatures are set and removed, and when to look again.
use crate::{
    cluster_info::{KUBECONFIG_KEY, SIGNATURE_PREFIX},
    jws::Content,
    moment::{Moment, earliest},
    token_secret, usable,
};
use jiff::Timestamp;
use objects::{ConfigMap, Secret};
use std::collections::BTreeMap;

/// What the signer has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signing {
    /// There is no cluster-info.
    NoConfigMap,
    /// cluster-info holds nothing to sign. What else it holds stays.
    NoKubeconfig,
    /// Every signature is as it should be.
    Done {
        /// When a token that signs ends; nothing changes by itself before that.
        again: Option<Moment>,
    },
    /// Signatures are missing, wrong or superfluous.
    Write {
        /// Keys and signatures to set.
        set: BTreeMap<String, String>,
        /// Keys to remove.
        remove: Vec<String>,
        /// When a token that signs ends.
        again: Option<Moment>,
    },
}

/// What the signer has to do, given cluster-info and all Secrets that may be tokens.
pub fn decide(config_map: Option<&ConfigMap>, secrets: &[Secret], now: Timestamp) -> Signing {
    let Some(config_map) = config_map else { return Signing::NoConfigMap };
    let Some(kubeconfig) = config_map.data.get(KUBECONFIG_KEY) else { return Signing::NoKubeconfig };
    let content = Content::new(kubeconfig.as_bytes());
    let mut wanted = BTreeMap::new();
    let mut again: Option<Moment> = None;
    for secret in secrets {
        let Ok(token) = usable::signs(secret, now) else { continue };
        wanted.insert(format!("{SIGNATURE_PREFIX}{}", token.id), content.sign(&token));
        again = earliest(again, token_secret::expiry(secret).ahead(now));
    }
    compare(config_map, wanted, again)
}

fn compare(config_map: &ConfigMap, wanted: BTreeMap<String, String>, again: Option<Moment>) -> Signing {
    let present = config_map.data.keys().filter(|key| key.starts_with(SIGNATURE_PREFIX));
    let remove: Vec<_> = present.filter(|key| !wanted.contains_key(*key)).cloned().collect();
    let set: BTreeMap<_, _> = wanted.into_iter().filter(|(key, jws)| config_map.data.get(key) != Some(jws)).collect();
    if set.is_empty() && remove.is_empty() { Signing::Done { again } } else { Signing::Write { set, remove, again } }
}

impl Signing {
    /// cluster-info as it shall be written, with everything else kept; nothing, if there is nothing to write.
    pub fn applied(&self, config_map: &ConfigMap) -> Option<ConfigMap> {
        let Self::Write { set, remove, .. } = self else { return None };
        let mut config_map = config_map.clone();
        for key in remove {
            config_map.data.remove(key);
        }
        config_map.data.extend(set.clone());
        Some(config_map)
    }
}
