//! Who may ask etcd.
use secret::Secret;
use std::fmt;

/// A client certificate of etcd's own CA. Whoever has one may do everything in etcd.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The CA certificates of etcd (PEM).
    pub authority: Vec<u8>,
    /// The client certificate (PEM).
    pub certificate: Vec<u8>,
    /// Its key (PEM).
    pub key: Secret<Vec<u8>>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}
