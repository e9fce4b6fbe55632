//! Kubeconfigs, good ones and all kinds of bad ones.
use super::*;
use crate::exec::InteractiveMode;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rcgen::{CertificateParams, KeyPair};

/// A certificate and its key, as PEM.
fn pair() -> (String, String) {
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::default().self_signed(&key).expect("a certificate");
    (certificate.pem(), key.serialize_pem())
}

fn text(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- {{name: other, context: {{}}}}\n\
         - {{name: c, context: {{cluster: k, user: u}}}}\nclusters:\n- name: k\n  cluster: {cluster}\n\
         users:\n- name: u\n  user: {user}\n"
    )
}

fn read(cluster: &str, user: &str) -> Result<Kubeconfig> {
    Kubeconfig::read(text(cluster, user).as_bytes(), Path::new("/nonexistent"))
}

fn problems(text: &str) -> Vec<String> {
    match Kubeconfig::read(text.as_bytes(), Path::new("/nonexistent")) {
        Err(Error::Kubeconfig(problems)) => problems.into_iter().map(|problem| problem.path).collect(),
        other => panic!("{other:?}"),
    }
}

fn authorization(user: &str) -> Option<String> {
    let found = read("{server: 'https://h:6443'}", user).expect("a kubeconfig");
    found.authorization.map(|text| text.expose().clone())
}

#[test]
fn data_in_the_file_is_read() {
    let (certificate, key) = pair();
    let [authority, key] = [certificate, key].map(|pem| BASE64_STANDARD.encode(pem));
    let cluster = format!(
        "{{server: 'https://h:6443/prefix', certificate-authority-data: {authority}, certificate-authority: /ignored, \
         tls-server-name: name, proxy-url: 'http://p:1'}}"
    );
    let user = format!("{{client-certificate-data: {authority}, client-key-data: {key}}}");
    let found = read(&cluster, &user).expect("a kubeconfig");
    assert_eq!(found.server.as_str(), "https://h:6443/prefix");
    assert_eq!((found.authorities.expect("one").len(), found.identity.is_some()), (1, true));
    assert_eq!(found.tls_server_name.as_deref(), Some("name"));
    let proxy = found.proxy.expect("one");
    assert_eq!((proxy.url.expose().as_str(), proxy.bypass), ("http://p:1", fetch::Bypass::Nothing));
    assert!(found.authorization.is_none());
}

#[test]
fn files_are_found_beside_the_kubeconfig() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = pair();
    let files = [("ca.crt", certificate.as_str()), ("c.crt", &certificate), ("c.key", &key), ("token", " t.1 \n")];
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).expect("a file");
    }
    let cluster = "{server: 'https://h', certificate-authority: ca.crt}";
    let user = "{client-certificate: ./c.crt, client-key: c.key, tokenFile: token}";
    std::fs::write(folder.path().join("admin.conf"), text(cluster, user)).expect("a file");
    let found = Kubeconfig::load(&folder.path().join("admin.conf")).expect("a kubeconfig");
    assert!(found.authorities.is_some() && found.identity.is_some());
    assert_eq!(found.authorization.expect("one").expose(), "Bearer t.1");
}

#[test]
fn tokens_and_passwords_become_the_header() {
    assert_eq!(authorization("{token: a.b, tokenFile: /ignored}").as_deref(), Some("Bearer a.b"));
    assert_eq!(authorization("{username: jo, password: pw}").as_deref(), Some("Basic am86cHc="));
    assert_eq!(authorization("{}"), None);
}

#[test]
fn the_proxy_of_the_environment_counts_where_the_kubeconfig_has_none() {
    let environment = || fetch::Proxy::of_environment(|name| (name == "HTTPS_PROXY").then(|| "http://e:1".to_owned()));
    let url = |cluster: &str| {
        let found = read(cluster, "{}").expect("a kubeconfig").or_proxy(environment());
        found.proxy.map(|proxy| proxy.url.expose().clone())
    };
    assert_eq!(url("{server: 'https://h', proxy-url: 'http://p:1'}").as_deref(), Some("http://p:1"));
    assert_eq!(url("{server: 'https://h'}").as_deref(), Some("http://e:1"));
}

#[test]
fn another_context_than_the_current_one_can_be_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config");
    let other = text("{server: 'https://h'}", "{}")
        .replace("{name: other, context: {}}", "{name: other, context: {cluster: l}}")
        .replace("users:", "- {name: l, cluster: {server: 'https://other'}}\nusers:");
    std::fs::write(&file, other).expect("a file");
    let server = |context| Kubeconfig::load_context(&file, context).map(|found| found.server.to_string());
    assert_eq!(server(None).expect("the current one"), "https://h/");
    assert_eq!(server(Some("other")).expect("the named one"), "https://other/");
    let error = server(Some("third")).expect_err("there is none").to_string();
    assert!(error.contains("contexts[third]: does not exist; the kubeconfig has the contexts: other, c"), "{error}");
}

#[test]
fn an_exec_plugin_is_found_beside_the_kubeconfig_or_in_the_path() {
    let exec = |command: &str| {
        let user = format!("{{exec: {{apiVersion: client.authentication.k8s.io/v1beta1, command: {command}}}}}");
        let found = read("{server: 'https://h'}", &user).expect("a kubeconfig").exec.expect("a plugin");
        (found.command.display().to_string(), found.interactive_mode, found.cluster)
    };
    assert_eq!(exec("bin/aws"), ("/nonexistent/bin/aws".to_owned(), InteractiveMode::IfAvailable, None));
    assert_eq!(exec("/bin/aws").0, "/bin/aws");
    assert_eq!(exec("aws").0, "aws");
}

#[test]
fn an_exec_plugin_gets_the_cluster_if_it_asks_for_it() {
    let authority = BASE64_STANDARD.encode(pair().0);
    let cluster = format!(
        "{{server: 'https://h', certificate-authority-data: {authority}, tls-server-name: name, extensions: \
         [{{name: client.authentication.k8s.io/exec, extension: {{audience: a}}}}]}}"
    );
    let user = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never, \
        provideClusterInfo: true, env: [{name: A, value: s3cret}]}}";
    let found = read(&cluster, user).expect("a kubeconfig").exec.expect("a plugin");
    let expected = serde_json::json!({"server": "https://h", "tls-server-name": "name", "config": {"audience": "a"},
        "certificate-authority-data": authority});
    assert_eq!(found.cluster, Some(expected));
    assert!(!format!("{found:?}").contains("s3cret"));
}

#[test]
fn an_exec_plugin_that_cannot_be_used_is_a_problem() {
    let good = "{server: 'https://h'}";
    let v1 = "apiVersion: client.authentication.k8s.io/v1";
    for (user, path) in [
        (format!("{{exec: {{{v1}, command: a}}}}"), "exec.interactiveMode"),
        (format!("{{exec: {{{v1}alpha1, command: a}}}}"), "exec.apiVersion"),
        (format!("{{exec: {{{v1}, interactiveMode: Never}}}}"), "exec.command"),
        (format!("{{exec: {{{v1}, interactiveMode: Never, command: [a]}}}}"), "exec"),
        (format!("{{exec: {{{v1}, interactiveMode: Never, command: a}}, token: t}}"), "exec"),
    ] {
        assert_eq!(problems(&text(good, &user)), [format!("users[u].user.{path}")], "{user}");
    }
}

#[test]
fn without_an_authority_the_system_s_count() {
    assert!(read("{server: 'https://h'}", "{}").expect("a kubeconfig").authorities.is_none());
}

#[test]
fn every_problem_is_listed_at_once() {
    let cluster =
        "{server: 'http://h', insecure-skip-tls-verify: true, certificate-authority: ca.crt, proxy-url: 'socks5://p'}";
    let user = "{exec: {args: [x]}, auth-provider: {name: gcp}, as: root, client-key-data: '!', token: 'a b'}";
    let expected = [
        "users[u].user.auth-provider",
        "users[u].user.as",
        "users[u].user.exec.apiVersion",
        "users[u].user.exec.command",
        "users[u].user.client-certificate",
        "users[u].user.client-key-data",
        "users[u].user.token",
        "clusters[k].cluster.insecure-skip-tls-verify",
        "clusters[k].cluster.server",
        "clusters[k].cluster.certificate-authority",
        "clusters[k].cluster.proxy-url",
    ];
    assert_eq!(problems(&text(cluster, user)), expected);
}

#[test]
fn half_an_identity_and_two_authorizations_are_problems() {
    let (certificate, _) = pair();
    let certificate = BASE64_STANDARD.encode(certificate);
    let good = "{server: 'https://h'}";
    let half = format!("{{client-certificate-data: {certificate}}}");
    assert_eq!(problems(&text(good, &half)), ["users[u].user.client-key"]);
    assert_eq!(problems(&text(good, "{token: a, username: b}")), ["users[u].user.username"]);
    assert_eq!(problems(&text(good, "{token: [a]}")), ["users[u].user.token"]);
}

#[test]
fn what_the_context_names_must_be_there_once() {
    let good = text("{server: 'https://h'}", "{}");
    assert_eq!(problems(&good.replace("current-context: c", "")), ["current-context"]);
    assert_eq!(problems(&good.replace("current-context: c", "current-context: x")), ["contexts[x]"]);
    assert_eq!(
        problems(&good.replace("- name: k", "- name: l").replace("- name: u", "- name: v")),
        ["clusters[k]", "users[u]"]
    );
    assert_eq!(problems(&good.replace("name: other", "name: c")), ["contexts[c]"]);
    assert_eq!(problems("{"), [""]);
    assert_eq!(problems("[]"), [""]);
    assert_eq!(problems("{}"), ["current-context"]);
}

#[test]
fn problems_and_kubeconfigs_show_no_credentials() {
    let cluster = "{server: 'https://jo:s3cret@h?s3cret', proxy-url: 'ftp://jo:s3cret@p'}";
    let user = "{token: 's3cret s3cret', client-key-data: 's3cret!', password: s3cret}";
    let error = read(cluster, user).expect_err("bad");
    assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
    let good = read("{server: 'https://h', proxy-url: 'http://jo:s3cret@p'}", "{token: s3cret}").expect("a kubeconfig");
    assert!(!format!("{good:?}").contains("s3cret"));
}

#[test]
fn only_files_and_pipes_are_read_and_no_endless_ones() {
    let refused = |path: &Path| match Kubeconfig::load(path) {
        Err(Error::KubeconfigFile { source, .. }) => source.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(Path::new("/dev/zero")), "it is neither a file nor a pipe");
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(refused(folder.path()), "it is neither a file nor a pipe");
    let large = folder.path().join("large");
    std::fs::write(&large, " ".repeat(objects::SMALL_FILE_LIMIT + 1)).expect("a file");
    assert_eq!(refused(&large), "it is larger than 1 MiB");

    let named = text("{server: 'https://h', certificate-authority: /dev/zero}", "{tokenFile: large}");
    let problems = Kubeconfig::read(named.as_bytes(), folder.path()).expect_err("bad").to_string();
    assert!(problems.contains("cannot read /dev/zero: it is neither a file nor a pipe"), "{problems}");
    assert!(problems.contains("large: it is larger than 1 MiB"), "{problems}");
}

#[test]
fn a_kubeconfig_may_come_through_a_pipe_and_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
    std::fs::write(&file, text("{server: 'https://h'}", "{}")).expect("a file");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    assert!(Kubeconfig::load(&link).is_ok());

    let (reading, mut writing) = std::io::pipe().expect("a pipe");
    std::io::Write::write_all(&mut writing, text("{server: 'https://h'}", "{}").as_bytes()).expect("room in a pipe");
    drop(writing);
    let name = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reading));
    assert!(Kubeconfig::load(Path::new(&name)).is_ok());
}
