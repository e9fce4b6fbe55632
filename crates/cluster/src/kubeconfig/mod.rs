//! A context of a kubeconfig: which server, which CA certificates, which credentials.
mod bounded;
mod exec;
mod reader;
#[cfg(test)]
mod tests;

use crate::{Error, ExecPlugin, Result, exec::Credential};
use discovery::{BootstrapToken, ClusterInfo};
use fetch::{CertificateDer, Identity, Proxy, Url, shown};
use secret::Secret;
use std::fmt;
use std::path::Path;

/// A context of a kubeconfig, with its files read.
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
    /// The program that returns the credentials, if they are not in the kubeconfig.
    pub exec: Option<ExecPlugin>,
    /// The name that the server's certificate must have, if it is not the URL's host.
    pub tls_server_name: Option<String>,
    /// The proxy to the server.
    pub proxy: Option<Proxy>,
}

impl Kubeconfig {
    /// Reads a kubeconfig, a file or a pipe of at most 1 MiB; paths in it are relative to its folder.
    pub fn load(path: &Path) -> Result<Self> {
        Self::load_context(path, None)
    }

    /// The same for another context than the current one, if its name is given.
    pub fn load_context(path: &Path, context: Option<&str>) -> Result<Self> {
        let bytes = bounded::read(path).map_err(|source| Error::KubeconfigFile { path: path.to_owned(), source })?;
        Self::read_context(&bytes, path, context)
    }

    /// The same for a file that the caller has read, for example because it checks who can write it.
    pub fn read_context(bytes: &[u8], path: &Path, context: Option<&str>) -> Result<Self> {
        bounded::check(bytes).map_err(|source| Error::KubeconfigFile { path: path.to_owned(), source })?;
        let base = path.parent().unwrap_or(Path::new(""));
        reader::read(bytes, base, context).map_err(Error::Kubeconfig)
    }

    /// Reads the text of a kubeconfig; paths in it are relative to `base`. All problems are reported at once.
    pub fn read(bytes: &[u8], base: &Path) -> Result<Self> {
        reader::read(bytes, base, None).map_err(Error::Kubeconfig)
    }

    /// The cluster that discovery found, with a bootstrap token as the only credentials.
    pub fn with_token(info: &ClusterInfo, token: &BootstrapToken) -> Result<Self> {
        let setup = |reason: String| {
            let source = fetch::Error::BadUrl { reason };
            Error::Setup { server: info.server().to_owned(), source }
        };
        let roots = info.roots().certificates().iter().map(|root| CertificateDer::from(root.der.clone()));
        let roots: Vec<_> = roots.collect();
        Ok(Self {
            server: Url::parse(info.server()).map_err(|error| setup(error.to_string()))?,
            authorities: (!roots.is_empty()).then_some(roots),
            identity: None,
            authorization: Some(Secret::new(format!("Bearer {}", token.expose().as_str()))),
            exec: None,
            tls_server_name: info.tls_server_name().map(str::to_owned),
            proxy: None,
        })
    }

    /// Starts the kubeconfig's exec plugin, if it has one, and takes its credentials. Lines that the plugin prints on
    /// standard error go to `show`.
    pub fn authenticated(self, show: &mut dyn FnMut(&str)) -> Result<Self> {
        let Some(plugin) = &self.exec else { return Ok(self) };
        let Credential { identity, authorization } = plugin.run(show)?;
        Ok(Self { identity, authorization, exec: None, ..self })
    }

    /// The same with a proxy for a kubeconfig that has no `proxy-url`, such as the one that the environment names.
    #[must_use]
    pub fn or_proxy(self, proxy: Option<Proxy>) -> Self {
        Self { proxy: self.proxy.or(proxy), ..self }
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
