//! A client certificate that a machine with a CA key issues to itself, as data.
use secret::Secret;
use std::fmt;

/// Whom a client certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The user.
    pub name: &'static str,
    /// The user's group, if it has one.
    pub group: Option<&'static str>,
}

/// A client certificate and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate (PEM).
    pub certificate: Vec<u8>,
    /// Its key (PEM).
    pub key: Secret<Vec<u8>>,
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertificate").finish_non_exhaustive()
    }
}
