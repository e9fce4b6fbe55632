//! TLS: whom to trust, as rustls wants it, and what its errors mean.
use crate::clock;
use crate::error::is_disconnection;
use crate::unverified::Unverified;
use crate::{CertificateFault, Error, Identity, Result, Trust, shown};
use rustls::client::WantsClientCert;
use rustls::{CertificateError, ClientConfig, ConfigBuilder, RootCertStore};
use rustls_pki_types::CertificateDer;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// How many names of a foreign certificate an error shows.
const NAMES_SHOWN: usize = 5;

/// Configurations for the authority that was asked for, and for those it redirects to.
pub(crate) struct Tls {
    pub(crate) known: Arc<ClientConfig>,
    pub(crate) stranger: Arc<ClientConfig>,
}

impl Tls {
    pub(crate) fn new(trust: &Trust, identity: Option<&Identity>) -> Result<Self> {
        let builder = builder(trust)?;
        let stranger = finished(builder.clone().with_no_client_auth());
        let Some(identity) = identity else { return Ok(Self { known: Arc::clone(&stranger), stranger }) };
        let with_identity = builder.with_client_auth_cert(identity.chain(), identity.key()?);
        let what = || "the client certificate and its key do not match or are invalid".to_owned();
        let known = with_identity.map_err(|_| Error::BadCredentials { what: what() })?;
        Ok(Self { known: finished(known), stranger })
    }
}

fn builder(trust: &Trust) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::NoRoots { why: error.to_string() })?;
    Ok(match trust {
        Trust::System { and } => builder.with_root_certificates(system(and)?),
        Trust::Only(roots) => builder.with_root_certificates(only(roots)?),
        Trust::Unverified => builder.dangerous().with_custom_certificate_verifier(Arc::new(Unverified(provider))),
    })
}

fn finished(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// The operating system's authorities, those of them that can be read, and further ones.
fn system(and: &[CertificateDer<'static>]) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(found.certs);
    for root in and {
        add(&mut store, root)?;
    }
    if store.is_empty() {
        let why = "the system has none; install the package ca-certificates, or name an authority".to_owned();
        return Err(Error::NoRoots { why });
    }
    Ok(store)
}

fn only(roots: &[CertificateDer<'static>]) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    for root in roots {
        add(&mut store, root)?;
    }
    if store.is_empty() { Err(Error::NoRoots { why: "none was given".to_owned() }) } else { Ok(store) }
}

fn add(store: &mut RootCertStore, root: &CertificateDer<'static>) -> Result<()> {
    let what = || "a CA certificate is invalid".to_owned();
    store.add(root.clone()).map_err(|_| Error::BadCredentials { what: what() })
}

/// What a failed handshake means.
pub(crate) fn failure(url: &Url, error: io::Error) -> Error {
    let url = shown(url);
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(fault)) => Error::Certificate { url, fault: self::fault(fault) },
        Some(rustls::Error::NoCertificatesPresented) => {
            Error::Certificate { url, fault: CertificateFault::Other("it shows none".to_owned()) }
        }
        None if is_disconnection(&error) => Error::EndedEarly { url },
        _ => Error::Tls { url, source: error },
    }
}

fn fault(error: &CertificateError) -> CertificateFault {
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => CertificateFault::UnknownIssuer,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => CertificateFault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            not_yet_valid(clock::behind_build())
        }
        CertificateError::NotValidForNameContext { expected, presented } => CertificateFault::WrongName {
            wanted: expected.to_str().into_owned(),
            names: presented.iter().take(NAMES_SHOWN).map(|name| bare(name)).collect(),
        },
        other => CertificateFault::Other(printable(&other.to_string())),
    }
}

/// A clock that is older than this program is the cause, whatever the certificate says.
fn not_yet_valid(behind: Option<Duration>) -> CertificateFault {
    behind.map_or(CertificateFault::NotYetValid, |behind| CertificateFault::ClockBehind {
        days: behind.as_secs() / 86_400,
    })
}

/// The name itself: rustls writes `DnsName("host")`, `IpAddress(address)`.
fn bare(name: &str) -> String {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    printable(inner.trim_matches('"'))
}

/// What a stranger wrote, so that it can't move a terminal's cursor, and no longer than a line.
fn printable(text: &str) -> String {
    text.chars().take(200).map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_is_not_valid_yet_names_a_clock_older_than_the_program() {
        assert_eq!(not_yet_valid(None), CertificateFault::NotYetValid);
        let fault = not_yet_valid(Some(Duration::from_secs(3 * 86_400 + 1)));
        assert_eq!(fault, CertificateFault::ClockBehind { days: 3 });
        assert!(fault.to_string().starts_with("this machine's clock is 3 days behind the build date of machineadm"));
    }
}
