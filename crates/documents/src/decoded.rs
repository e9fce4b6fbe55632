//! A document that has been read, checked and decoded.
use crate::{
    Secret,
    v1alpha1::{Command, Encrypted, File, Init, Parameter, Program, Proxy, Remote, Scope, TrustBundle, uri_secrets},
};

/// Where a document was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file's name, or `-`; behind it, for what lay inside of another document, the way there, as in
    /// `node.yaml#2 > sealed`.
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
    /// Whether it came sealed: then all of it is secret.
    pub sealed: bool,
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
    /// RemoteConfig.
    Remote(Box<Remote>),
    /// EncryptedConfig.
    Encrypted(Box<Encrypted>),
    /// ScopeConfig.
    Scope(Box<Scope>),
}

impl Decoded {
    /// Every secret in this document, so that whoever shows something can look for them by value.
    /// Passwords in URLs are also given by themselves. Empty values are left out, and files that everybody may read.
    /// Of a document that came sealed it is every text that could be a secret.
    pub fn secrets(&self) -> Vec<&[u8]> {
        let mut secrets: Vec<&[u8]> = match &self.body {
            AnyDocument::Files(files) => {
                files.iter().filter(|file| !file.is_public()).map(|file| file.contents.expose().as_slice()).collect()
            }
            AnyDocument::Commands(commands) => {
                commands.iter().flat_map(|command| self.command_secrets(command)).map(str::as_bytes).collect()
            }
            AnyDocument::Proxy(proxy) => proxy_secrets(proxy).map(str::as_bytes).collect(),
            AnyDocument::Remote(remote) => {
                let uris = remote.passphrase_uris.iter().flatten().chain([&remote.uri]);
                uris.flat_map(|uri| uri_secrets(uri.expose())).map(str::as_bytes).collect()
            }
            AnyDocument::Encrypted(encrypted) => {
                uri_secrets(encrypted.passphrase_uri.expose()).into_iter().map(str::as_bytes).collect()
            }
            AnyDocument::Sysctl(parameters) if self.sealed => {
                parameters.iter().map(|parameter| parameter.value.as_bytes()).collect()
            }
            AnyDocument::Sysctl(_)
            | AnyDocument::KernelModules(_)
            | AnyDocument::TrustBundle(_)
            | AnyDocument::Init(_)
            | AnyDocument::Scope(_) => Vec::new(),
        };
        secrets.retain(|secret| !secret.is_empty());
        secrets
    }

    /// Arguments can be seen by everybody while a command runs, but what came sealed was not meant for logs.
    fn command_secrets<'a>(&self, command: &'a Command) -> impl Iterator<Item = &'a str> + use<'a> {
        let arguments: &[String] = match &command.program {
            Program::Argv(argv) if self.sealed => argv.get(1..).unwrap_or_default(),
            _ => &[],
        };
        arguments.iter().map(String::as_str).chain(command_secrets(command))
    }

    /// Marks a document as one that came sealed.
    pub(crate) fn conceal(&mut self) {
        self.sealed = true;
        if let AnyDocument::Files(files) = &mut self.body {
            files.iter_mut().for_each(|file| file.confidential = true);
        }
    }
}

fn command_secrets(command: &Command) -> impl Iterator<Item = &str> {
    let script = match &command.program {
        Program::Shell(script) => Some(script),
        Program::Argv(_) => None,
    };
    script.into_iter().chain(&command.unless).chain(command.environment.values()).map(text)
}

fn text(secret: &Secret<String>) -> &str {
    secret.expose()
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

impl From<Remote> for AnyDocument {
    fn from(remote: Remote) -> Self {
        Self::Remote(Box::new(remote))
    }
}

impl From<Encrypted> for AnyDocument {
    fn from(encrypted: Encrypted) -> Self {
        Self::Encrypted(Box::new(encrypted))
    }
}

impl From<Scope> for AnyDocument {
    fn from(scope: Scope) -> Self {
        Self::Scope(Box::new(scope))
    }
}
