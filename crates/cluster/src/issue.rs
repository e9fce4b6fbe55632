//! Client certificates that a control plane node issues to itself with a CA key that it holds, as kubeadm does. They are
//! valid for minutes and exist in memory only.
use certs::{
    client_certificate::{ClientCertificate, Subject},
    public_key::PublicKey,
};
use discovery::certificate::CaBundle;
use objects::pem;
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
    let issuer = issuer(authority, key)?;
    let pair = KeyPair::generate().map_err(|_| NotIssued("no key can be generated"))?;
    let certificate = params(subject).signed_by(&pair, &issuer).map_err(|_| NotIssued("it cannot sign"))?;
    let key = Secret::new(pair.serialize_pem().into_bytes());
    Ok(ClientCertificate { certificate: certificate.pem().into_bytes(), key })
}

/// The CA that the key belongs to: there may be several certificates while a CA is replaced. What parsers say could quote
/// the key, so that none of it is passed on.
fn issuer(authority: &[u8], key: &Secret<Vec<u8>>) -> Result<Issuer<'static, KeyPair>, NotIssued> {
    const NO_KEY: NotIssued = NotIssued("its key cannot be used");
    let public = PublicKey::of_private_key(key.expose()).map_err(|_| NO_KEY)?;
    let bundle = CaBundle::read(authority.to_vec()).map_err(|_| NotIssued("its certificate cannot be read"))?;
    let mut certificates = bundle.certificates().iter().filter(|found| found.is_ca);
    let certificate = certificates.find(|found| PublicKey::of_certificate(found) == public);
    let certificate = certificate.ok_or(NotIssued("its key and its certificate do not belong together"))?;
    let mut keys = pem::blocks(key.expose()).filter(|block| block.label.ends_with("PRIVATE KEY"));
    let der = keys.next().and_then(|block| block.der().ok()).ok_or(NO_KEY)?;
    let pair = KeyPair::try_from(&**der).map_err(|_| NO_KEY)?;
    let der = certificate.der.as_slice().into();
    Issuer::from_ca_cert_der(&der, pair).map_err(|_| NotIssued("its certificate cannot be read"))
}

fn params(subject: Subject) -> CertificateParams {
    let mut name = DistinguishedName::new();
    if let Some(group) = subject.group {
        name.push(DnType::OrganizationName, group);
    }
    name.push(DnType::CommonName, subject.name);
    let now = SystemTime::now();
    let mut params = CertificateParams::default();
    params.distinguished_name = name;
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    (params.not_before, params.not_after) = ((now - BEFORE).into(), (now + AFTER).into());
    params
}
