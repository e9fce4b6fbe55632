//! Client certificates that a control plane node issues to itself with a CA key that it holds, as kubeadm does. They are
//! valid for minutes and exist in memory only.
use certs::client_certificate::{ClientCertificate, Subject};
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair, KeyUsagePurpose};
use secret::Secret;
use std::time::{Duration, SystemTime};

/// A CA that issues no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the CA of this machine issues no client certificate: {0}")]
pub struct NotIssued(&'static str);

/// A clock may be a little ahead of those of the servers.
const BEFORE: Duration = Duration::from_secs(5 * 60);
/// Long enough for a join.
const AFTER: Duration = Duration::from_secs(30 * 60);

/// Issues a client certificate with a CA certificate and its key (PEM).
pub fn issue_client_certificate(
    authority: &[u8],
    key: &Secret<Vec<u8>>,
    subject: Subject,
) -> Result<ClientCertificate, NotIssued> {
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| NotIssued("it is not PEM"));
    // What the parser says could quote the key.
    let own = Secret::new(text(key.expose())?);
    let own = KeyPair::from_pem(own.expose()).map_err(|_| NotIssued("its key cannot be used"))?;
    let issuer = Issuer::from_ca_cert_pem(&text(authority)?, own).map_err(|_| NotIssued("it cannot be read"))?;
    let mut params = CertificateParams::default();
    let mut name = DistinguishedName::new();
    if let Some(group) = subject.group {
        name.push(DnType::OrganizationName, group);
    }
    name.push(DnType::CommonName, subject.name);
    params.distinguished_name = name;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let now = SystemTime::now();
    (params.not_before, params.not_after) = ((now - BEFORE).into(), (now + AFTER).into());
    let pair = KeyPair::generate().map_err(|_| NotIssued("no key can be generated"))?;
    let certificate = params.signed_by(&pair, &issuer).map_err(|_| NotIssued("it cannot sign"))?;
    let key = Secret::new(pair.serialize_pem().into_bytes());
    Ok(ClientCertificate { certificate: certificate.pem().into_bytes(), key })
}
