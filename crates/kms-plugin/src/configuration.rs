//! The configuration file: its fields, their checks, and what they mean.
use crate::aws_fields::aws;
use crate::fields::{Fields, Presence, Problems, is_plain};
use crate::pkcs11_fields::pkcs11;
use crate::socket::files_beside;
use crate::vault_fields::vault;
use kms::{
    AwsKms, AwsSettings, FileKeys, KeyService, PKCS11_SUPPORT, Pkcs11Key, Pkcs11Settings, VaultSettings, VaultTransit,
};
use objects::yaml;
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What stands at the top of the file.
pub const API_VERSION: &str = "kms.machineadm.cluster.x-k8s.io/v1alpha1";
/// The kind beside it.
pub const KIND: &str = "PluginConfiguration";

/// Linux' own limit is 107 bytes; a name beside it is made while the socket is created.
const SOCKET_PATH_LIMIT: usize = 100;
const TIMEOUT: Duration = Duration::from_secs(2);
const TIMEOUT_LIMITS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(10)];

/// A configuration that has passed all checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// Where livez, readyz and metrics are served; nowhere by default.
    pub health: Option<HealthAddress>,
    /// The keys, each on its own socket.
    pub keys: Vec<KeySettings>,
}

/// Where livez, readyz and metrics are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthAddress {
    /// An address and port.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

/// One key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySettings {
    /// Its name in logs, metrics and readyz.
    pub name: String,
    /// Where kube-apiserver finds it.
    pub socket: PathBuf,
    /// User and group of the socket, where they are not those of the process.
    pub owner: Option<(u32, u32)>,
    /// Makes another id of the same key material.
    pub epoch: u64,
    /// What Status answers while the key does not work.
    pub on_outage: OnOutage,
    /// How long one call to the service may take.
    pub timeout: Duration,
    /// The service.
    pub backend: Backend,
}

/// What Status answers while the key does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOutage {
    /// An error of gRPC: kube-apiserver stops writing after 3 minutes and continues to read.
    Error,
    /// A text in `healthz`: kube-apiserver continues to write with its last seed, and its readyz fails.
    Continue,
}

/// Which service has the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    /// A key of AWS KMS.
    Aws(Box<AwsSettings>),
    /// Keys in a file.
    File {
        /// The file.
        path: PathBuf,
    },
    /// A key of a transit engine.
    Vault(Box<VaultSettings>),
    /// A key of a PKCS#11 token.
    Pkcs11(Box<Pkcs11Settings>),
}

impl Backend {
    /// The service itself.
    pub fn service(&self) -> Arc<dyn KeyService> {
        match self {
            Self::Aws(settings) => Arc::new(AwsKms::new(AwsSettings::clone(settings))),
            Self::File { path } => Arc::new(FileKeys::new(path)),
            Self::Vault(settings) => Arc::new(VaultTransit::new(VaultSettings::clone(settings))),
            Self::Pkcs11(settings) => Arc::new(Pkcs11Key::new(Pkcs11Settings::clone(settings))),
        }
    }
}

impl Configuration {
    /// Reads the text of a configuration; all problems, or none.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        let tree = yaml::parse(text).map_err(|error| vec![error.to_string()])?;
        let problems = Problems::default();
        for path in &tree.repeated {
            problems.add(path, "repeated field");
        }
        if tree.goes_on {
            problems.add("", "a second document follows: one file has one configuration");
        }
        let configuration = Fields::of(&tree.value, "", &problems).map(|fields| root(fields, &problems));
        let problems = problems.into_inner();
        match configuration {
            Some(configuration) if problems.is_empty() => Ok(configuration),
            _ => Err(problems),
        }
    }
}

fn root(fields: Fields<'_>, problems: &Problems) -> Configuration {
    for (name, wanted) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        if fields.required(name).is_some_and(|found| found != wanted) {
            fields.refuse(name, &format!("must be {wanted}"));
        }
    }
    let health = fields.value("health").and_then(|value| health(value, problems));
    let keys = match fields.value("keys") {
        Some(Value::Array(list)) if !list.is_empty() => list.as_slice(),
        _ => {
            fields.refuse("keys", "must be a list of at least one key");
            &[]
        }
    };
    let mut claims = Claims::default();
    let read = |(at, value)| key(value, &format!("keys[{at}]"), problems, &mut claims);
    let keys: Vec<KeySettings> = keys.iter().enumerate().filter_map(read).collect();
    refuse_doubles(&claims, health.as_ref(), problems);
    fields.finish();
    Configuration { health, keys }
}

fn health(value: &Value, problems: &Problems) -> Option<HealthAddress> {
    let fields = Fields::of(value, "health", problems)?;
    let address = fields.required("listen").and_then(|text| {
        let address = match text.strip_prefix("unix://") {
            Some(path) => socket_path(path).map(HealthAddress::Unix),
            None => text.parse().ok().map(HealthAddress::Tcp),
        };
        if address.is_none() {
            fields.refuse("listen", "must be ADDRESS:PORT, such as 127.0.0.1:8087, or unix:///ABSOLUTE/PATH");
        }
        address
    });
    fields.finish();
    address
}

/// What no two keys may have: names and sockets, also of keys with other problems.
#[derive(Default)]
struct Claims {
    names: Vec<String>,
    sockets: Vec<PathBuf>,
}

fn key(value: &Value, path: &str, problems: &Problems, claims: &mut Claims) -> Option<KeySettings> {
    let fields = Fields::of(value, path, problems)?;
    let name = fields.required("name").filter(|name| {
        let is_good =
            name.len() <= 63 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !is_good {
            fields.refuse("name", "must have at most 63 letters, digits, `-`, `_` and `.`");
        }
        is_good
    });
    let socket = fields.required("socket").and_then(|text| {
        let path = socket_path(text);
        if path.is_none() {
            let message = format!("must be an absolute path without `..`, of at most {SOCKET_PATH_LIMIT} bytes");
            fields.refuse("socket", &message);
        }
        path
    });
    let owner = fields.text("owner").and_then(|text| {
        let owner = text.split_once(':').and_then(|(user, group)| Some((user.parse().ok()?, group.parse().ok()?)));
        if owner.is_none() {
            fields.refuse("owner", "must be UID:GID, in numbers");
        }
        owner
    });
    let on_outage = match fields.text("onOutage") {
        None | Some("error") => OnOutage::Error,
        Some("continue") => OnOutage::Continue,
        Some(_) => {
            fields.refuse("onOutage", "must be error or continue");
            OnOutage::Error
        }
    };
    let epoch = fields.number("epoch");
    let timeout = fields.span("timeout", TIMEOUT, TIMEOUT_LIMITS);
    let backend = backend(&fields, timeout, problems);
    fields.finish();
    claims.names.extend(name.map(str::to_owned));
    claims.sockets.extend(socket.clone());
    let (name, socket, backend) = (name?.to_owned(), socket?, backend?);
    Some(KeySettings { name, socket, owner, epoch, on_outage, timeout, backend })
}

/// The names of the key services.
const SERVICES: [&str; 4] = ["aws", "vault", "pkcs11", "file"];

fn backend(fields: &Fields<'_>, timeout: Duration, problems: &Problems) -> Option<Backend> {
    let given: Vec<_> = SERVICES.into_iter().filter_map(|name| Some((name, fields.value(name)?))).collect();
    let [(name, value)] = given.as_slice() else {
        fields.refuse_all("exactly one key service is required: aws, vault, pkcs11 or file");
        return None;
    };
    let path = fields.at(name);
    match *name {
        "aws" => aws(value, &path, timeout, problems).map(|settings| Backend::Aws(Box::new(settings))),
        "vault" => vault(value, &path, timeout, problems).map(|settings| Backend::Vault(Box::new(settings))),
        "pkcs11" => pkcs11(value, &path, PKCS11_SUPPORT, problems).map(|settings| Backend::Pkcs11(Box::new(settings))),
        _ => file(value, &path, problems),
    }
}

fn file(value: &Value, path: &str, problems: &Problems) -> Option<Backend> {
    let fields = Fields::of(value, path, problems)?;
    let path = fields.absolute("path", Presence::Required);
    fields.finish();
    Some(Backend::File { path: path? })
}

fn socket_path(text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    let is_good = is_plain(path) && text.len() <= SOCKET_PATH_LIMIT && !text.ends_with('/');
    (is_good && !text.contains('\0')).then(|| path.to_owned())
}

fn refuse_doubles(claims: &Claims, health: Option<&HealthAddress>, problems: &Problems) {
    let (mut names, mut sockets) = (BTreeSet::new(), BTreeSet::new());
    if let Some(HealthAddress::Unix(path)) = health {
        sockets.insert(path);
    }
    for name in claims.names.iter().filter(|name| !names.insert(*name)) {
        problems.add("keys", &format!("two keys have the name {name}"));
    }
    for socket in claims.sockets.iter().filter(|socket| !sockets.insert(*socket)) {
        problems.add("keys", &format!("the socket {} is used twice", socket.display()));
    }
    for beside in sockets.iter().flat_map(|socket| files_beside(socket)).filter(|path| sockets.contains(&path)) {
        problems.add("keys", &format!("{} is both a socket and a file beside another socket", beside.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1\nkind: PluginConfiguration\n";

    #[test]
    fn a_configuration_is_read_with_its_defaults() {
        let text = format!("{HEAD}keys:\n- name: a\n  socket: /run/a.sock\n  file: {{path: /etc/kms/a}}\n");
        let found = Configuration::parse(&text).unwrap();
        let key = KeySettings {
            name: "a".to_owned(),
            socket: "/run/a.sock".into(),
            owner: None,
            epoch: 0,
            on_outage: OnOutage::Error,
            timeout: TIMEOUT,
            backend: Backend::File { path: "/etc/kms/a".into() },
        };
        assert_eq!(found, Configuration { health: None, keys: vec![key] });
    }

    #[test]
    fn every_problem_is_reported_with_its_path() {
        let text = "apiVersion: v1\nkind: PluginConfiguration\nhealth: {listen: 8087}\nkees: 1\nkeys:\n\
            - {name: a b, socket: run/a.sock, owner: root, epoch: -1, onOutage: ok, timeout: 1h, fil: {}}\n\
            - {name: x, socket: /run/x, file: {path: here, mode: 1}}\n- 5\n\
            - {name: z, socket: /run/y, file: {path: /a}}\n- {name: z, socket: /run/y, file: {path: /b}}\n\
            - {name: w, socket: /run/y.new, file: {path: /a}}\n";
        let found = Configuration::parse(text).unwrap_err();
        let want = [
            "apiVersion: must be kms.machineadm.cluster.x-k8s.io/v1alpha1",
            "health.listen: must be a text that is not empty",
            "keys[0].name: must have at most 63 letters, digits, `-`, `_` and `.`",
            "keys[0].socket: must be an absolute path without `..`, of at most 100 bytes",
            "keys[0].owner: must be UID:GID, in numbers",
            "keys[0].onOutage: must be error or continue",
            "keys[0].epoch: must be a whole number, 0 or more",
            "keys[0].timeout: must be a duration from 100ms to 10s, such as 3s",
            "keys[0]: exactly one key service is required: aws, vault, pkcs11 or file",
            "keys[0].fil: unknown field; did you mean `file`?",
            "keys[1].file.path: must be an absolute path without `..`",
            "keys[1].file.mode: unknown field",
            "keys[2]: must be a mapping",
            "keys: two keys have the name z",
            "keys: the socket /run/y is used twice",
            "keys: /run/y.new is both a socket and a file beside another socket",
            "kees: unknown field; did you mean `keys`?",
        ];
        assert_eq!(found, want);
    }

    #[test]
    fn what_two_keys_share_is_reported_beside_the_problems_of_each() {
        let text = format!(
            "{HEAD}keys:\n- {{name: a, socket: /run/a}}\n- {{name: a, socket: /run/a, file: {{path: k}}}}\n\
            - {{name: 'a b', socket: /run/a, file: {{path: /k}}}}\n"
        );
        let want = [
            "keys[0]: exactly one key service is required: aws, vault, pkcs11 or file",
            "keys[1].file.path: must be an absolute path without `..`",
            "keys[2].name: must have at most 63 letters, digits, `-`, `_` and `.`",
            "keys: two keys have the name a",
            "keys: the socket /run/a is used twice",
            "keys: the socket /run/a is used twice",
        ];
        assert_eq!(Configuration::parse(&text).unwrap_err(), want);
    }

    #[test]
    fn a_socket_has_one_spelling() {
        let with = |socket: &str| {
            let key =
                |name: &str, socket: &str| format!("- {{name: {name}, socket: '{socket}', file: {{path: /k}}}}\n");
            Configuration::parse(&format!("{HEAD}keys:\n{}{}", key("a", "/run/k/a"), key("b", socket))).map(drop)
        };
        assert_eq!(with("/run/k/b"), Ok(()));
        for twice in ["/run/k/a", "/run//k/a", "/run/./k/a"] {
            assert_eq!(with(twice), Err(vec![format!("keys: the socket {twice} is used twice")]));
        }
        for other in ["/run/k/../k/a", "/run/k/a/", "/run/k/..", "/"] {
            let problem = "keys[1].socket: must be an absolute path without `..`, of at most 100 bytes";
            assert_eq!(with(other), Err(vec![problem.to_owned()]), "{other}");
        }
    }

    #[test]
    fn the_docs_have_the_defaults_of_the_reader_and_its_limits() {
        let docs = include_str!("../../../docs/operating/kms.md");
        let row = |field: &str| docs.lines().find(|line| line.starts_with(&format!("| `{field}` |"))).unwrap();
        let [least, most] = TIMEOUT_LIMITS;
        assert!(row("keys[].timeout").contains(&format!(", {least:?} to {most:?}.")), "{}", row("keys[].timeout"));
        assert!(row("keys[].socket").contains(&format!("at most {SOCKET_PATH_LIMIT} bytes")));
        let text = format!("{HEAD}keys:\n- name: a\n  socket: /run/a.sock\n  file: {{path: /etc/kms/a}}\n");
        let KeySettings { epoch, on_outage, timeout, .. } = Configuration::parse(&text).unwrap().keys.remove(0);
        let on_outage = format!("{on_outage:?}").to_lowercase();
        for (field, default) in
            [("epoch", epoch.to_string()), ("onOutage", on_outage), ("timeout", format!("{timeout:?}"))]
        {
            let row = row(&format!("keys[].{field}"));
            assert!(row.ends_with(&format!("| `{default}` |")), "{row}");
        }
    }

    #[test]
    fn what_is_no_configuration_is_refused() {
        for text in ["", "[]", "a: [", "keys: []", "a: 1\na: 2\n", "a: 1\n---\nb: 1\n"] {
            assert!(!Configuration::parse(text).unwrap_err().is_empty(), "{text}");
        }
    }
}
