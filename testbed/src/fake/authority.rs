//! A certificate authority of a test's own.
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use std::sync::Arc;

/// A certificate authority that signs what a test wants.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

impl Authority {
    /// A fresh one.
    #[expect(clippy::new_without_default, reason = "each one is another: there is no default authority")]
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, "kubernetes");
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    /// Its own certificate.
    pub fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }

    /// Its own certificate, as PEM.
    pub fn pem(&self) -> String {
        let body = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &self.certificate);
        let lines: Vec<_> = body.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }

    /// A server for these names.
    pub fn serves(&self, names: &[&str]) -> Arc<ServerConfig> {
        self.serves_as(CertificateParams::new(owned(names)).unwrap())
    }

    /// A server whose certificate is over, or has not begun.
    pub fn serves_between(&self, names: &[&str], from: i32, to: i32) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new(owned(names)).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        self.serves_as(params)
    }

    fn serves_as(&self, params: CertificateParams) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        config(certificate.der().clone(), &key)
    }

    /// A server that takes a client certificate of this authority, if there is one.
    pub fn serves_and_asks(&self, names: &[&str]) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(owned(names)).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.certificate()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
        let verifier = verifier.allow_unauthenticated().build().unwrap();
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Arc::new(builder.with_client_cert_verifier(verifier).with_single_cert(vec![certificate], key).unwrap())
    }

    /// A certificate and its key for a server with these names, which is a client as well, as PEM.
    pub fn pair(&self, names: &[&str]) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(owned(names)).unwrap().signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// A client's certificate and key, as PEM.
    pub fn client(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "client");
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

/// A server whose certificate nobody has signed but itself.
pub fn self_signed(names: &[&str]) -> Arc<ServerConfig> {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(owned(names)).unwrap().self_signed(&key).unwrap();
    config(certificate.der().clone(), &key)
}

fn config(certificate: CertificateDer<'static>, key: &KeyPair) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Arc::new(builder.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap())
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
