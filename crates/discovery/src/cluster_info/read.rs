//! From the bytes of a kubeconfig to ClusterInfo, or everything that forbids to trust it. No value is quoted.
use super::{ClusterInfo, credentials, members};
use crate::{
    certificate::{CaBundle, NoCertificates},
    endpoint::NoEndpoint,
};
use objects::{
    kubeconfig::{self, Entry, Kubeconfig, List},
    printable,
};
use serde_json::Value;

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
    /// The file that holds its roots, which is the caller's to read.
    pub roots_file: Option<String>,
}

/// Why a kubeconfig isn't trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It doesn't have the form of one, or one that readers could take for another.
    #[error(transparent)]
    Form(#[from] kubeconfig::Problem),
    /// A member that could mean anything to somebody else.
    #[error("has the unknown field {}: remove it{}", shown(.path), or_write(*.meant))]
    Unknown {
        /// Where.
        path: String,
        /// The member that has this name in other letters.
        meant: Option<&'static str>,
    },
    /// It names no cluster to use.
    #[error("has no cluster for the current context, and no cluster without a name")]
    NoCluster,
    /// It holds users, which cluster-info must not.
    #[error("has users, which cluster-info must not have")]
    Users,
    /// It holds a credential.
    #[error("has credentials ({}): remove them; a token for TLS bootstrap is given by its own flag", shown(.path))]
    Credentials {
        /// Where.
        path: String,
    },
    /// It disables verification.
    #[error("disables verification (insecure-skip-tls-verify): remove it, and set certificate-authority-data")]
    Insecure,
    /// It sends traffic through somebody else.
    #[error("has a proxy (proxy-url): configure the proxy on the machine instead")]
    Proxy,
    /// It names a file, but may not.
    #[error("has the path of a CA file (certificate-authority): embed it as certificate-authority-data")]
    RootsFile,
    /// Its roots are none.
    #[error("its certificate-authority-data {0}")]
    Roots(NoCertificates),
    /// It has no usable address.
    #[error("its server {0}")]
    Server(NoEndpoint),
    /// Its name for the server is none.
    #[error("its tls-server-name is not a host name or address")]
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
    let config = Kubeconfig::read(bytes).map_err(|problem| vec![Problem::Form(problem)])?;
    let mut problems: Vec<_> = config.problems().into_iter().map(Problem::Form).collect();
    problems.extend(members::problems(&config));
    problems.extend(credentials::problems(&config, origin));
    let found = match chosen(&config) {
        Some(cluster) => read_cluster(&cluster, origin, &mut problems),
        None => {
            problems.push(Problem::NoCluster);
            None
        }
    };
    found.filter(|_| problems.is_empty()).ok_or(problems)
}

/// The cluster to use: the unnamed one, else that of the current context.
fn chosen(config: &Kubeconfig) -> Option<Entry<'_>> {
    let of_context = || {
        let context = config.entry(List::Contexts, config.current_context())?;
        config.entry(List::Clusters, context.members.get("cluster")?.as_str()?)
    };
    config.entry(List::Clusters, "").or_else(of_context)
}

fn read_cluster(cluster: &Entry<'_>, origin: Origin, problems: &mut Vec<Problem>) -> Option<Read> {
    let mut text = |member: &str| {
        let text = cluster.text(member).map_err(|problem| problems.push(problem.into()));
        text.ok().flatten().map(str::to_owned)
    };
    let (server, name) = (text("server").unwrap_or_default(), text("tls-server-name"));
    let (file, proxy) = (text("certificate-authority"), text("proxy-url"));
    if !matches!(cluster.members.get("insecure-skip-tls-verify"), None | Some(Value::Null | Value::Bool(false))) {
        problems.push(Problem::Insecure);
    }
    if proxy.is_some() {
        problems.push(Problem::Proxy);
    }
    if file.is_some() && origin != Origin::File {
        problems.push(Problem::RootsFile);
    }
    let roots = roots(cluster).map_err(|problem| problems.push(problem)).ok().flatten();
    let roots_file = file.filter(|_| roots.is_none());
    let info = ClusterInfo::new(server, roots.unwrap_or_default(), name).map_err(|more| problems.extend(more)).ok()?;
    Some(Read { info, roots_file })
}

fn roots(cluster: &Entry<'_>) -> Result<Option<CaBundle>, Problem> {
    let Some(pem) = cluster.data("certificate-authority-data")? else { return Ok(None) };
    CaBundle::read(pem.to_vec()).map(Some).map_err(Problem::Roots)
}

#[cfg(test)]
mod tests {
    use super::{kubeconfig::Problem as Form, *};

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
        let server = |text: &str| read(text.as_bytes(), Origin::Signed).map(|found| found.info.server().to_owned());
        let (a, b) = ("{name: a, cluster: {server: 'https://a'}}", "{name: '', cluster: {server: 'https://b'}}");
        let context = "contexts: [{name: c, context: {cluster: a, user: u}}]\ncurrent-context: c";
        assert_eq!(server(&format!("clusters: [{a}, {b}]\n{context}")), Ok("https://b".to_owned()));
        assert_eq!(server(&format!("clusters: [{a}]\n{context}")), Ok("https://a".to_owned()));
        assert_eq!(server(&format!("clusters: [{a}]")), Err(vec![Problem::NoCluster]));
        assert_eq!(server(""), Err(vec![Form::OtherKind.into()]));
    }

    /// Most readers stop there, and whoever else looks on finds what nobody has judged.
    #[test]
    fn nothing_may_follow_the_document() {
        let one = "clusters: [{cluster: {server: 'https://a'}}]\n";
        for more in ["---\nusers: [{name: a, user: {token: hunter2}}]\n", "...\n- x\n", "---\n---\nx\n"] {
            assert_eq!(read(format!("{one}{more}").as_bytes(), Origin::File), Err(vec![Form::GoesOn.into()]), "{more}");
        }
        for more in ["---\n", "...\n", "---\n# the end\n"] {
            assert!(read(format!("---\n{one}{more}").as_bytes(), Origin::File).is_ok(), "{more}");
        }
    }

    #[test]
    fn what_is_ambiguous_or_misshapen_is_refused() {
        let of = |text: &str| read(text.as_bytes(), Origin::Signed).unwrap_err();
        let (one, two) = ("{cluster: {server: 'https://a'}}", "{cluster: {server: 'https://b'}}");
        assert_eq!(of(&format!("clusters: [{one}, {two}]")), [Form::Repeated("clusters[1].name".to_owned()).into()]);
        assert_eq!(
            of("clusters: [{cluster: {server: 'https://a', server: 'https://b'}}]"),
            [Form::Repeated("clusters[0].cluster.server".to_owned()).into()]
        );
        assert_eq!(of("clusters: x"), [Form::WrongForm("clusters".to_owned()).into(), Problem::NoCluster]);
        assert_eq!(
            problems("server: 'https://x', insecure-skip-tls-verify: 'false'", Origin::File),
            [Problem::Insecure]
        );
        let wrong = Form::WrongForm("clusters[0].cluster.server".to_owned());
        assert_eq!(problems("server: 7", Origin::File)[0], wrong.into());
        assert_eq!(of("kind: Pod\nclusters: [{cluster: {server: 'https://a'}}]"), [Form::OtherKind.into()]);
        assert_eq!(read(b"\xff", Origin::File), Err(vec![Form::NotText.into()]));
    }

    /// With a tab it is no YAML, and another reader takes it.
    #[test]
    fn a_repeated_key_is_refused_in_json_too() {
        let text = "{\t\"clusters\": [{\"cluster\": {\"server\": \"https://a\", \"server\": \"https://b\"}}]}";
        let repeated = Form::Repeated("clusters[0].cluster.server".to_owned());
        assert_eq!(read(text.as_bytes(), Origin::Signed), Err(vec![repeated.into()]));
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
        let path = "clusters[0].cluster.certificate-authority-data".to_owned();
        assert_eq!(of("!"), [Form::NotBase64(path).into()]);
        assert_eq!(of("eA=="), [Problem::Roots(NoCertificates::Empty)]);
    }
}
