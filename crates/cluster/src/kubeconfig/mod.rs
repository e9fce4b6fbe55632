//! A kubeconfig's current context: which server, whom to trust, who we are.
mod bounded;
mod reader;
#[cfg(test)]
mod tests;

use crate::{Error, Result};
use fetch::{CertificateDer, Identity, Url, shown};
use secret::Secret;
use std::fmt;
use std::path::Path;

/// What the current context of a kubeconfig says, with its files read.
#[derive(Clone)]
pub struct Kubeconfig {
    /// The API server's https URL.
    pub server: Url,
    /// The authorities that its certificate is checked with; `None` means the system's.
    pub authorities: Option<Vec<CertificateDer<'static>>>,
    /// Our certificate and key.
    pub identity: Option<Identity>,
    /// The `Authorization` header, from token or user and password.
    pub authorization: Option<Secret<String>>,
    /// The name that the server's certificate must have, if it is not the URL's host.
    pub tls_server_name: Option<String>,
    /// The proxy's URL.
    pub proxy: Option<Secret<String>>,
}

impl Kubeconfig {
    /// Reads a kubeconfig, a file or a pipe of at most 1 MiB; paths in it are relative to its folder.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = bounded::read(path).map_err(|source| Error::KubeconfigFile { path: path.to_owned(), source })?;
        Self::read(&bytes, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads the text of a kubeconfig; paths in it are relative to `base`. All problems are reported at once.
    pub fn read(bytes: &[u8], base: &Path) -> Result<Self> {
        reader::read(bytes, base).map_err(Error::Kubeconfig)
    }
}

impl fmt::Debug for Kubeconfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kubeconfig").field("server", &shown(&self.server)).finish_non_exhaustive()
    }
}

/// Something that is wrong with a kubeconfig; values that may be secret are not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The member, such as `clusters[kubernetes].cluster.server`.
    pub path: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}
