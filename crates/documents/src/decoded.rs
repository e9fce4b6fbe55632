//! A document that has been read, checked and decoded.
use crate::v1alpha1::{Command, File, Init, Parameter, Program, Proxy, TrustBundle};

/// Where a document was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file's name, or `-`.
    pub source: String,
    /// Which document of the file, counted from 1.
    pub number: usize,
    /// The line on which it begins, counted from 1.
    pub line: usize,
}

/// A document without problems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// Where it was found.
    pub origin: Origin,
    /// Its kind.
    pub kind: &'static str,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What it asks for.
    pub body: AnyDocument,
}

/// What a document of any kind asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnyDocument {
    /// FilesConfig.
    Files(Vec<File>),
    /// SysctlConfig, in the order of the document.
    Sysctl(Vec<Parameter>),
    /// KernelModulesConfig, in the order of the document.
    KernelModules(Vec<String>),
    /// CommandsConfig, in the order of the document.
    Commands(Vec<Command>),
    /// TrustBundleConfig.
    TrustBundle(TrustBundle),
    /// ProxyConfig.
    Proxy(Proxy),
    /// InitConfig.
    Init(Box<Init>),
}

impl Decoded {
    /// Every secret in this document, so that whoever shows something can look for them by value.
    /// A proxy's password is also given by itself. Empty values are left out, and files that everybody may read.
    pub fn secrets(&self) -> Vec<&[u8]> {
        let mut secrets: Vec<&[u8]> = match &self.body {
            AnyDocument::Files(files) => {
                files.iter().filter(|file| !file.is_public()).map(|file| file.contents.expose().as_slice()).collect()
            }
            AnyDocument::Commands(commands) => commands.iter().flat_map(command_secrets).map(str::as_bytes).collect(),
            AnyDocument::Proxy(proxy) => proxy_secrets(proxy).map(str::as_bytes).collect(),
            AnyDocument::Sysctl(_)
            | AnyDocument::KernelModules(_)
            | AnyDocument::TrustBundle(_)
            | AnyDocument::Init(_) => Vec::new(),
        };
        secrets.retain(|secret| !secret.is_empty());
        secrets
    }
}

fn command_secrets(command: &Command) -> impl Iterator<Item = &str> {
    let script = match &command.program {
        Program::Shell(script) => Some(script),
        Program::Argv(_) => None,
    };
    script.into_iter().chain(&command.unless).chain(command.environment.values()).map(|secret| secret.expose().as_str())
}

fn proxy_secrets(proxy: &Proxy) -> impl Iterator<Item = &str> {
    let urls = proxy.variables.iter().map(|(_, value)| value.expose().as_str()).filter(|value| value.contains("://"));
    urls.flat_map(|url| std::iter::once(url).chain(password(url)))
}

fn password(url: &str) -> Option<&str> {
    let (userinfo, _) = url.split_once("://")?.1.rsplit_once('@')?;
    Some(userinfo.split_once(':')?.1)
}

impl From<Vec<File>> for AnyDocument {
    fn from(files: Vec<File>) -> Self {
        Self::Files(files)
    }
}

impl From<Vec<Parameter>> for AnyDocument {
    fn from(parameters: Vec<Parameter>) -> Self {
        Self::Sysctl(parameters)
    }
}

impl From<Vec<String>> for AnyDocument {
    fn from(modules: Vec<String>) -> Self {
        Self::KernelModules(modules)
    }
}

impl From<Vec<Command>> for AnyDocument {
    fn from(commands: Vec<Command>) -> Self {
        Self::Commands(commands)
    }
}

impl From<TrustBundle> for AnyDocument {
    fn from(bundle: TrustBundle) -> Self {
        Self::TrustBundle(bundle)
    }
}

impl From<Proxy> for AnyDocument {
    fn from(proxy: Proxy) -> Self {
        Self::Proxy(proxy)
    }
}

impl From<Init> for AnyDocument {
    fn from(init: Init) -> Self {
        Self::Init(Box::new(init))
    }
}
