//! TrustBundleConfig: certificate authorities that the whole machine trusts.

/// Certificates under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustBundle {
    /// The file's name without its ending.
    pub name: String,
    /// At least one.
    pub certificates: Vec<Certificate>,
}

/// One certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// DER.
    pub der: Vec<u8>,
}
