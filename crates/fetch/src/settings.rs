//! What a client is made from.
use crate::{Identity, Proxy, Reach};
use rustls_pki_types::CertificateDer;
use std::time::Duration;

/// What a client is made from.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whose certificates are good.
    pub trust: Trust,
    /// The client's own certificate, shown only to the authority of the request's URL, never after a redirect elsewhere.
    pub identity: Option<Identity>,
    /// The name that the server's certificate must have, if it is not the URL's host. Holds for the authority of the
    /// request's URL, not after a redirect elsewhere.
    pub tls_server_name: Option<String>,
    /// Which special addresses are allowed.
    pub reach: Reach,
    /// Which of them a redirect to another authority may lead to: a redirect is the server's word, not the caller's.
    pub redirect_reach: Reach,
    /// How long and how much.
    pub limits: Limits,
    /// Through whom.
    pub proxy: Option<Proxy>,
}

impl Settings {
    /// Settings with default limits, ordinary addresses only, no identity and no proxy.
    pub fn new(trust: Trust) -> Self {
        let (reach, limits) = (Reach::default(), Limits::default());
        Self { trust, identity: None, tls_server_name: None, reach, redirect_reach: reach, limits, proxy: None }
    }
}

/// Whose certificates are good.
#[derive(Debug, Clone)]
pub enum Trust {
    /// What the operating system trusts, and these.
    System {
        /// Further authorities.
        and: Vec<CertificateDer<'static>>,
    },
    /// These authorities and no others.
    Only(Vec<CertificateDer<'static>>),
    /// Any certificate, so that anybody can answer: only for the first fetch of token discovery, which proves what it
    /// got by other means and sends nothing secret.
    Unverified,
}

/// How long and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For one connection to one address: TCP, then the proxy, then TLS, each. Of several addresses each has at most its
    /// share of `total` for TCP.
    pub connect: Duration,
    /// For everything: names, connections, redirects, slow headers, slow bodies.
    pub total: Duration,
    /// Bytes of the answer's body.
    pub body: usize,
    /// Redirects that are followed; 0 refuses the first.
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), total: Duration::from_secs(60), body: 1 << 20, redirects: 5 }
    }
}
