//! What a client needs of a kubeconfig: one context with all files, and every problem.
use super::{
    Kubeconfig, Problem, bounded,
    exec::{Configured, info},
};
use crate::exec::bearer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fetch::{Bypass, CertificateDer, Identity, Proxy, Request, Url, certificates};
use objects::{
    kubeconfig::{self, Entry, List},
    printable,
};
use secret::Secret;
use serde_json::Value;
use std::path::Path;
use zeroize::Zeroizing;

const OTHER: &str = "use a kubeconfig with a client certificate, a token or an exec plugin";
const REFUSED: &[&str] = &["auth-provider", "as", "as-uid", "as-groups", "as-user-extra"];

/// Reads the context of this name, or the current one.
pub(super) fn read(bytes: &[u8], base: &Path, context: Option<&str>) -> Result<Kubeconfig, Vec<Problem>> {
    let mut reader = Reader { base, problems: Vec::new() };
    let found = reader.document(bytes, context);
    match (found, reader.problems) {
        (Some(kubeconfig), problems) if problems.is_empty() => Ok(kubeconfig),
        (_, problems) => Err(problems),
    }
}

pub(super) struct Reader<'a> {
    pub(super) base: &'a Path,
    problems: Vec<Problem>,
}

/// What the cluster's part says.
struct Cluster {
    server: Url,
    authorities: Option<Authorities>,
    tls_server_name: Option<String>,
    proxy: Option<Proxy>,
}

/// The cluster's CA certificates.
struct Authorities {
    pem: Zeroizing<Vec<u8>>,
    certificates: Vec<CertificateDer<'static>>,
}

/// The user's credentials, or the program that returns them.
#[derive(Default)]
struct User {
    identity: Option<Identity>,
    authorization: Option<Secret<String>>,
    exec: Option<Configured>,
}

/// The path of a member, such as `clusters[kubernetes].cluster.server`.
pub(super) fn at(entry: &Entry<'_>, member: &str) -> String {
    format!("{}[{}].{}.{member}", entry.list.name(), entry.name, entry.list.member())
}

impl Reader<'_> {
    fn document(&mut self, bytes: &[u8], context: Option<&str>) -> Option<Kubeconfig> {
        let config = match kubeconfig::Kubeconfig::read(bytes) {
            Ok(config) => config,
            Err(problem) => return self.problem("", &problem.to_string()),
        };
        let context = self.context(&config, context)?;
        let cluster_name = self.text(&context, "cluster").unwrap_or_default();
        let entry = self.named(&config, List::Clusters, cluster_name);
        let user = match self.text(&context, "user") {
            Some(name) => self.named(&config, List::Users, name).map(|user| self.user(&user)),
            None => Some(User::default()),
        };
        let cluster = entry.and_then(|cluster| self.cluster(&cluster));
        let (User { identity, authorization, exec }, cluster) = (user?, cluster?);
        let Cluster { server, authorities, tls_server_name, proxy } = cluster;
        let exec = exec.zip(entry).map(|(Configured { mut plugin, wants_cluster }, entry)| {
            let pem = authorities.as_ref().map(|authorities| authorities.pem.as_slice());
            plugin.cluster = wants_cluster.then(|| info(&entry, pem));
            plugin
        });
        let authorities = authorities.map(|authorities| authorities.certificates);
        Some(Kubeconfig { server, authorities, identity, authorization, exec, tls_server_name, proxy })
    }

    /// The context of this name, or the current one.
    fn context<'v>(&mut self, config: &'v kubeconfig::Kubeconfig, name: Option<&str>) -> Option<Entry<'v>> {
        let name = name.unwrap_or_else(|| config.current_context());
        if name.is_empty() {
            return self.problem("current-context", "is not set: set it, or name a context with --context");
        }
        if !config.entries(List::Contexts).any(|entry| entry.name == name) {
            let names: Vec<_> = config.entries(List::Contexts).map(|entry| printable(entry.name, 100)).collect();
            let message = format!("does not exist; the kubeconfig has the contexts: {}", names.join(", "));
            return self.problem(&format!("contexts[{}]", printable(name, 100)), &message);
        }
        self.named(config, List::Contexts, name)
    }

    /// The entry of a list with this name.
    fn named<'v>(&mut self, config: &'v kubeconfig::Kubeconfig, list: List, name: &str) -> Option<Entry<'v>> {
        let mut found = config.entries(list).filter(|entry| entry.name == name);
        let path = format!("{}[{name}]", list.name());
        match (found.next(), found.next()) {
            (Some(_), Some(_)) => self.problem(&path, "exists twice"),
            (Some(entry), None) => Some(entry),
            (None, _) => self.problem(&path, "is missing, but the context needs it"),
        }
    }

    fn cluster(&mut self, cluster: &Entry<'_>) -> Option<Cluster> {
        if cluster.members.get("insecure-skip-tls-verify") == Some(&Value::Bool(true)) {
            let message =
                "is not allowed, since any server could answer: remove it, and set `certificate-authority-data`";
            self.note(&at(cluster, "insecure-skip-tls-verify"), message);
        }
        let server = self.server(cluster);
        let authorities = self.authorities(cluster);
        let tls_server_name = self.text(cluster, "tls-server-name").map(str::to_owned);
        let proxy = self.proxy(cluster);
        Some(Cluster { server: server?, authorities, tls_server_name, proxy })
    }

    fn server(&mut self, cluster: &Entry<'_>) -> Option<Url> {
        let url = self.text(cluster, "server").unwrap_or_default();
        let url = Request::get(url).ok().map(|request| request.url);
        let is_bare = |url: &Url| {
            url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none()
        };
        let message = "must be an https URL without user, query and fragment, such as https://10.0.0.10:6443";
        url.filter(is_bare).or_else(|| self.problem(&at(cluster, "server"), message))
    }

    fn proxy(&mut self, cluster: &Entry<'_>) -> Option<Proxy> {
        let url = self.text(cluster, "proxy-url")?;
        match url.starts_with("http://") {
            true => {
                let url = Secret::new(url.to_owned());
                Some(Proxy { url, bypass: Bypass::Nothing, setting: "proxy-url of the kubeconfig" })
            }
            false => self.problem(&at(cluster, "proxy-url"), "only http:// proxies are supported"),
        }
    }

    fn authorities(&mut self, cluster: &Entry<'_>) -> Option<Authorities> {
        let pem = self.bytes(cluster, "certificate-authority")?;
        match certificates(&pem) {
            Ok(certificates) if !certificates.is_empty() => Some(Authorities { pem, certificates }),
            _ => self.problem(&at(cluster, "certificate-authority"), "has no PEM certificate"),
        }
    }

    fn user(&mut self, user: &Entry<'_>) -> User {
        for name in REFUSED.iter().filter(|name| is_given(user, name)) {
            self.note(&at(user, name), &format!("is not supported: {OTHER}"));
        }
        let exec = self.exec(user);
        let found = User { identity: self.identity(user), authorization: self.authorization(user), exec };
        if found.exec.is_some() && (found.identity.is_some() || found.authorization.is_some()) {
            self.note(&at(user, "exec"), "cannot be combined with other credentials: remove one of them");
        }
        found
    }

    fn identity(&mut self, user: &Entry<'_>) -> Option<Identity> {
        let has = |name: &str| is_given(user, name) || is_given(user, &format!("{name}-data"));
        match (has("client-certificate"), has("client-key")) {
            (true, false) => self.note(&at(user, "client-key"), "is missing, but there is a certificate"),
            (false, true) => self.note(&at(user, "client-certificate"), "is missing, but there is a key"),
            (true, true) | (false, false) => {}
        }
        let chain = self.bytes(user, "client-certificate");
        let key = self.bytes(user, "client-key").map(|key| Secret::new(key.to_vec()));
        match Identity::from_pem(&chain?, key?) {
            Ok(identity) => Some(identity),
            Err(error) => self.problem(&at(user, "client-certificate"), &error.to_string()),
        }
    }

    fn authorization(&mut self, user: &Entry<'_>) -> Option<Secret<String>> {
        let token = self.token(user);
        let name = self.text(user, "username");
        let password = self.text(user, "password");
        match (token, name) {
            (Some(_), Some(_)) => {
                self.problem(&at(user, "username"), "cannot be combined with a token: remove one of them")
            }
            (Some(token), None) => bearer(&token)
                .or_else(|| self.problem(&at(user, "token"), "must be one word of printable ASCII characters")),
            (None, Some(name)) => {
                let pair = Zeroizing::new(format!("{name}:{}", password.unwrap_or_default()));
                Some(Secret::new(format!("Basic {}", *Zeroizing::new(STANDARD.encode(pair.as_bytes())))))
            }
            (None, None) => None,
        }
    }

    fn token(&mut self, user: &Entry<'_>) -> Option<Zeroizing<String>> {
        if let Some(token) = self.text(user, "token") {
            return Some(Zeroizing::new(token.to_owned()));
        }
        let path = self.text(user, "tokenFile")?;
        let bytes = self.file(&at(user, "tokenFile"), path)?;
        match std::str::from_utf8(&bytes).map(str::trim) {
            Ok(token) if !token.is_empty() => Some(Zeroizing::new(token.to_owned())),
            _ => self.problem(&at(user, "tokenFile"), "contains no token"),
        }
    }

    /// What `NAME-data` holds, or the file that `NAME` names.
    fn bytes(&mut self, entry: &Entry<'_>, name: &str) -> Option<Zeroizing<Vec<u8>>> {
        let data = format!("{name}-data");
        match entry.data(&data) {
            Ok(Some(bytes)) => Some(bytes),
            Ok(None) => {
                let path = self.text(entry, name)?;
                self.file(&at(entry, name), path)
            }
            Err(kubeconfig::Problem::NotBase64(_)) => self.problem(&at(entry, &data), "is not base64"),
            Err(_) => self.problem(&at(entry, &data), "must be text"),
        }
    }

    fn file(&mut self, here: &str, path: &str) -> Option<Zeroizing<Vec<u8>>> {
        let path = self.base.join(path);
        match bounded::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(error) => self.problem(here, &format!("cannot read {}: {}", path.display(), bounded::in_words(&error))),
        }
    }

    /// A member's text; empty is absent.
    fn text<'v>(&mut self, entry: &Entry<'v>, name: &str) -> Option<&'v str> {
        entry.text(name).unwrap_or_else(|_| self.problem(&at(entry, name), "must be text"))
    }

    fn note(&mut self, path: &str, message: &str) {
        self.problems.push(Problem { path: path.to_owned(), message: message.to_owned() });
    }

    pub(super) fn problem<T>(&mut self, path: &str, message: &str) -> Option<T> {
        self.note(path, message);
        None
    }
}

fn is_given(user: &Entry<'_>, member: &str) -> bool {
    user.members.get(member).is_some_and(|value| !value.is_null())
}
