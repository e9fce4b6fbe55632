//! A kubeconfig from an https URL, which the system's roots vouch for.
use super::{
    Source,
    file::elsewhere,
    network::{Network, Patience},
    outcome::{NotTrusted, Refusal},
    rounds::rounds,
};
use crate::DiscoveryKubeconfig;
use std::fmt;

/// What the kubeconfig at a URL says; asked again for a while, as a machine may boot before its servers.
pub(super) fn fetch(url: &str, net: &mut dyn Network, patience: Patience) -> Result<DiscoveryKubeconfig, NotTrusted> {
    rounds(&[Url(url)], net, patience, |url, net| {
        let bytes = net.document(url.0).map_err(Refusal::NotFetched)?;
        elsewhere(&bytes)
    })
}

/// A URL that shows itself without its query.
struct Url<'a>(&'a str);

impl fmt::Display for Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Source::Url(self.0.to_owned()).shown())
    }
}
