//! From the bytes of a kubeconfig to ClusterInfo, or everything that forbids to trust it. No value is quoted.
use super::{ClusterInfo, credentials, members};
use crate::{
    certificate::{NoCertificates, bundle},
    endpoint::{Endpoint, NoEndpoint, is_dns_name},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use objects::{printable, yaml};
use serde_json::{Map, Value};
use std::{collections::BTreeSet, net::IpAddr};

/// The members of a mapping.
pub(super) type Members = Map<String, Value>;

/// A kubeconfig that is larger isn't one of a single cluster.
const LIMIT: usize = 1024 * 1024;

/// Where a kubeconfig comes from, which decides what it may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From a cluster-info ConfigMap: no users at all, no files.
    Signed,
    /// From a URL or standard input: no credentials, no files.
    Elsewhere,
    /// From a file of this machine: no credentials; roots may lie in another file.
    File,
}

/// What a kubeconfig says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Where the cluster is.
    pub info: ClusterInfo,
    /// The file that holds its roots, which is the caller's to read and to put into `info`.
    pub roots_file: Option<String>,
}

/// Why a kubeconfig isn't trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is too large to be one.
    #[error("is larger than {} KiB", LIMIT / 1024)]
    TooLarge,
    /// It is no text.
    #[error("is not UTF-8")]
    NotText,
    /// It is no YAML.
    #[error("{0}")]
    Syntax(yaml::SyntaxError),
    /// It is no kubeconfig.
    #[error("is no kubeconfig: apiVersion v1, kind Config")]
    NoKubeconfig,
    /// A member has a form that no kubeconfig has.
    #[error("{} has the wrong form", shown(.0))]
    WrongForm(String),
    /// Readers differ on which of them counts.
    #[error("{} stands there twice", shown(.0))]
    Repeated(String),
    /// A member that could mean anything to somebody else.
    #[error("holds {}, which no kubeconfig has: remove it{}", shown(.path), or_write(*.meant))]
    Unknown {
        /// Where.
        path: String,
        /// The member that has this name in other letters.
        meant: Option<&'static str>,
    },
    /// Something follows it.
    #[error("goes on after its end (`---` or `...`): keep the one document")]
    GoesOn,
    /// It names no cluster to use.
    #[error("names no cluster: neither one without a name nor that of the current context")]
    NoCluster,
    /// It holds users, which cluster-info must not.
    #[error("holds users: cluster-info must not")]
    Users,
    /// It holds a credential.
    #[error("holds credentials ({}): remove them; a token for TLS bootstrap is given by its own flag", shown(.path))]
    Credentials {
        /// Where.
        path: String,
    },
    /// It switches verification off.
    #[error("switches verification off (insecure-skip-tls-verify): remove it and name the roots")]
    Insecure,
    /// It sends traffic through somebody else.
    #[error("names a proxy (proxy-url): a machine takes its proxy from its own configuration")]
    Proxy,
    /// It names a file, but may not.
    #[error("names a file of roots (certificate-authority): embed it as certificate-authority-data")]
    RootsFile,
    /// Its roots are none.
    #[error("its certificate-authority-data {0}")]
    Roots(NoCertificates),
    /// Its roots aren't base64.
    #[error("its certificate-authority-data is not base64")]
    RootsNotBase64,
    /// It has no usable address.
    #[error("its server {0}")]
    Server(NoEndpoint),
    /// Its name for the server is none.
    #[error("its tls-server-name is no host name or address")]
    ServerName,
}

/// A path, whose names are those of whoever wrote the kubeconfig.
fn shown(path: &str) -> String {
    printable(path, 200)
}

fn or_write(meant: Option<&str>) -> String {
    meant.map(|meant| format!(", or write {meant}")).unwrap_or_default()
}

/// Reads a kubeconfig.
pub fn read(bytes: &[u8], origin: Origin) -> Result<Read, Vec<Problem>> {
    if bytes.len() > LIMIT {
        return Err(vec![Problem::TooLarge]);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| vec![Problem::NotText])?;
    let tree = yaml::parse(text).map_err(|error| vec![Problem::Syntax(error)])?;
    let Some(config) = tree.value.as_object() else { return Err(vec![Problem::NoKubeconfig]) };
    let mut problems: Vec<_> = tree.repeated.iter().cloned().map(Problem::Repeated).collect();
    let is = |member: &str, value: &str| config.get(member).is_none_or(|found| found.is_null() || found == value);
    if !is("apiVersion", "v1") || !is("kind", "Config") {
        problems.push(Problem::NoKubeconfig);
    }
    if tree.goes_on {
        problems.push(Problem::GoesOn);
    }
    problems.extend(members::problems(config));
    problems.extend(credentials::problems(config, origin));
    let found = chosen(config, &mut problems).map(|cluster| read_cluster(cluster, origin, &mut problems));
    match found {
        Some(found) if problems.is_empty() => Ok(found),
        _ => Err(problems),
    }
}

/// The cluster to use: the unnamed one, else that of the current context.
fn chosen<'a>(config: &'a Members, problems: &mut Vec<Problem>) -> Option<&'a Members> {
    let clusters = named(config, "clusters", "cluster", problems);
    let contexts = named(config, "contexts", "context", problems);
    let find = |list: &[Named<'a>], name: &str| list.iter().find(|it| it.name == name).map(|it| it.members);
    let current = config.get("current-context").and_then(Value::as_str).unwrap_or_default();
    let of_context = || find(&clusters, find(&contexts, current)?.get("cluster")?.as_str()?);
    let cluster = find(&clusters, "").or_else(of_context);
    if cluster.is_none() {
        problems.push(Problem::NoCluster);
    }
    cluster
}

/// An entry of a list of named things.
pub(super) struct Named<'a> {
    pub(super) index: usize,
    name: &'a str,
    pub(super) members: &'a Members,
}

/// The entries of a list of named things; those that say nothing but their name are left out.
pub(super) fn named<'a>(config: &'a Members, list: &str, member: &str, problems: &mut Vec<Problem>) -> Vec<Named<'a>> {
    let entries = match config.get(list) {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(entries)) => entries,
        Some(_) => {
            problems.push(Problem::WrongForm(list.to_owned()));
            &[]
        }
    };
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some((name, members)) = named_entry(entry, member) else {
            problems.push(Problem::WrongForm(format!("{list}[{index}]")));
            continue;
        };
        if !names.insert(name) {
            problems.push(Problem::Repeated(format!("{list}[{index}].name")));
        }
        found.extend(members.map(|members| Named { index, name, members }));
    }
    found
}

fn named_entry<'a>(entry: &'a Value, member: &str) -> Option<(&'a str, Option<&'a Members>)> {
    let entry = entry.as_object()?;
    let name = match entry.get("name") {
        None | Some(Value::Null) => "",
        Some(name) => name.as_str()?,
    };
    match entry.get(member) {
        None | Some(Value::Null) => Some((name, None)),
        Some(members) => Some((name, Some(members.as_object()?))),
    }
}

fn read_cluster(cluster: &Members, origin: Origin, problems: &mut Vec<Problem>) -> Read {
    let mut text = |member: &str| match cluster.get(member) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(_) => {
            problems.push(Problem::WrongForm(format!("cluster.{member}")));
            String::new()
        }
    };
    let (server, name) = (text("server"), text("tls-server-name"));
    let (data, file, proxy) = (text("certificate-authority-data"), text("certificate-authority"), text("proxy-url"));
    if !matches!(cluster.get("insecure-skip-tls-verify"), None | Some(Value::Null | Value::Bool(false))) {
        problems.push(Problem::Insecure);
    }
    if !proxy.is_empty() {
        problems.push(Problem::Proxy);
    }
    if !file.is_empty() && origin != Origin::File {
        problems.push(Problem::RootsFile);
    }
    if let Err(reason) = Endpoint::from_url(&server) {
        problems.push(Problem::Server(reason));
    }
    if !name.is_empty() && !is_dns_name(&name) && name.parse::<IpAddr>().is_err() {
        problems.push(Problem::ServerName);
    }
    let roots = roots(&data).unwrap_or_else(|problem| {
        problems.push(problem);
        Vec::new()
    });
    let roots_file = Some(file).filter(|file| !file.is_empty() && data.is_empty());
    Read {
        info: ClusterInfo { server, roots, tls_server_name: Some(name).filter(|name| !name.is_empty()) },
        roots_file,
    }
}

fn roots(data: &str) -> Result<Vec<u8>, Problem> {
    if data.is_empty() {
        return Ok(Vec::new());
    }
    let without_breaks: String = data.chars().filter(|letter| !matches!(letter, '\n' | '\r')).collect();
    let pem = STANDARD.decode(without_breaks).map_err(|_| Problem::RootsNotBase64)?;
    bundle(&pem).map_err(Problem::Roots)?;
    Ok(pem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(cluster: &str, origin: Origin) -> Vec<Problem> {
        let text = format!("apiVersion: v1\nkind: Config\nclusters:\n- name: ''\n  cluster: {{{cluster}}}\n");
        read(text.as_bytes(), origin).err().unwrap_or_default()
    }

    #[test]
    fn everything_that_forbids_trust_is_listed_at_once() {
        let cluster = "server: 'http://x', insecure-skip-tls-verify: true, proxy-url: 'http://p', \
            certificate-authority: /etc/ca.crt, tls-server-name: 'a b'";
        assert_eq!(
            problems(cluster, Origin::Elsewhere),
            [
                Problem::Insecure,
                Problem::Proxy,
                Problem::RootsFile,
                Problem::Server(NoEndpoint::NotHttps),
                Problem::ServerName
            ]
        );
    }

    #[test]
    fn a_local_file_may_name_a_file_of_roots() {
        let text = "clusters: [{cluster: {server: 'https://x', certificate-authority: ca.crt}}]";
        let found = read(text.as_bytes(), Origin::File).unwrap();
        assert_eq!(found.roots_file.as_deref(), Some("ca.crt"));
        assert_eq!(read(text.as_bytes(), Origin::Signed), Err(vec![Problem::RootsFile]));
    }

    #[test]
    fn the_unnamed_cluster_comes_first_then_the_current_contexts() {
        let server = |text: &str| read(text.as_bytes(), Origin::Signed).map(|found| found.info.server);
        let (a, b) = ("{name: a, cluster: {server: 'https://a'}}", "{name: '', cluster: {server: 'https://b'}}");
        let context = "contexts: [{name: c, context: {cluster: a, user: u}}]\ncurrent-context: c";
        assert_eq!(server(&format!("clusters: [{a}, {b}]\n{context}")), Ok("https://b".to_owned()));
        assert_eq!(server(&format!("clusters: [{a}]\n{context}")), Ok("https://a".to_owned()));
        assert_eq!(server(&format!("clusters: [{a}]")), Err(vec![Problem::NoCluster]));
        assert_eq!(server(""), Err(vec![Problem::NoKubeconfig]));
    }

    /// Most readers stop there, and whoever else looks on finds what nobody has judged.
    #[test]
    fn nothing_may_follow_the_document() {
        let one = "clusters: [{cluster: {server: 'https://a'}}]\n";
        for more in ["---\nusers: [{name: a, user: {token: hunter2}}]\n", "...\n- x\n", "---\n---\nx\n"] {
            assert_eq!(read(format!("{one}{more}").as_bytes(), Origin::File), Err(vec![Problem::GoesOn]), "{more}");
        }
        for more in ["---\n", "...\n", "---\n# the end\n"] {
            assert!(read(format!("---\n{one}{more}").as_bytes(), Origin::File).is_ok(), "{more}");
        }
    }

    #[test]
    fn what_is_ambiguous_or_misshapen_is_refused() {
        let of = |text: &str| read(text.as_bytes(), Origin::Signed).unwrap_err();
        let (one, two) = ("{cluster: {server: 'https://a'}}", "{cluster: {server: 'https://b'}}");
        assert_eq!(of(&format!("clusters: [{one}, {two}]")), [Problem::Repeated("clusters[1].name".to_owned())]);
        assert_eq!(
            of("clusters: [{cluster: {server: 'https://a', server: 'https://b'}}]"),
            [Problem::Repeated("clusters[0].cluster.server".to_owned())]
        );
        assert_eq!(of("clusters: x"), [Problem::WrongForm("clusters".to_owned()), Problem::NoCluster]);
        assert_eq!(
            problems("server: 'https://x', insecure-skip-tls-verify: 'false'", Origin::File),
            [Problem::Insecure]
        );
        assert_eq!(problems("server: 7", Origin::File)[0], Problem::WrongForm("cluster.server".to_owned()));
        assert_eq!(of("kind: Pod\nclusters: [{cluster: {server: 'https://a'}}]"), [Problem::NoKubeconfig]);
        assert_eq!(read(&vec![b' '; LIMIT + 1], Origin::File), Err(vec![Problem::TooLarge]));
        assert_eq!(read(b"\xff", Origin::File), Err(vec![Problem::NotText]));
    }

    /// With a tab it is no YAML, and another reader takes it.
    #[test]
    fn a_repeated_key_is_refused_in_json_too() {
        let text = "{\t\"clusters\": [{\"cluster\": {\"server\": \"https://a\", \"server\": \"https://b\"}}]}";
        let repeated = Problem::Repeated("clusters[0].cluster.server".to_owned());
        assert_eq!(read(text.as_bytes(), Origin::Signed), Err(vec![repeated]));
    }

    #[test]
    fn a_name_can_t_move_the_cursor() {
        let text = r#"users: [{user: {"\e[2J\nremedy: obey": x}}]"#;
        let problems = read(text.as_bytes(), Origin::File).unwrap_err();
        assert_eq!(problems[0], Problem::Credentials { path: "users[0].user.\u{1b}[2J\nremedy: obey".to_owned() });
        assert!(!problems[0].to_string().contains(char::is_control), "{}", problems[0]);
    }

    #[test]
    fn roots_that_are_none_are_refused() {
        let of =
            |data: &str| problems(&format!("server: 'https://x', certificate-authority-data: '{data}'"), Origin::File);
        assert_eq!(of("!"), [Problem::RootsNotBase64]);
        assert_eq!(of("eA=="), [Problem::Roots(NoCertificates::Empty)]);
    }
}
