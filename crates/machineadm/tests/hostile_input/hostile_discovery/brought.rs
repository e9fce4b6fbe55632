//! Discovery by a kubeconfig that somebody brought: a hostile one is refused before anything is sent.
use super::{
    stage::{Cluster, Stage, kubeconfig, signed},
    watched::{Machine, SHORT, each, nothing_was_told, refusal, told, told_apart, wrong_input},
};
use crate::support::partial_run::PATIENCE;
use std::{os::unix::fs::PermissionsExt, process::Stdio, sync::Arc};
use testbed::fake::{Authority, FakeServer, answer};

/// Every form of a credential, as members of a user.
const CREDENTIALS: &[(&str, &str)] = &[
    ("token", "token: hunter2hunter2"),
    ("tokenFile", "tokenFile: /hunter2hunter2"),
    ("username", "username: hunter2hunter2"),
    ("password", "password: hunter2hunter2"),
    ("client-certificate", "client-certificate: /hunter2hunter2"),
    ("client-certificate-data", "client-certificate-data: aHVudGVyMg=="),
    ("client-key", "client-key: /hunter2hunter2"),
    ("client-key-data", "client-key-data: aHVudGVyMg=="),
    ("exec", "exec: {apiVersion: client.authentication.k8s.io/v1, command: hunter2hunter2}"),
    ("auth-provider", "auth-provider: {name: hunter2hunter2}"),
    ("as", "as: hunter2hunter2"),
    ("as-uid", "as-uid: hunter2hunter2"),
    ("as-groups", "as-groups: [hunter2hunter2]"),
    ("as-user-extra", "as-user-extra: {a: [hunter2hunter2]}"),
    ("invented-tomorrow", "invented-tomorrow: hunter2hunter2"),
];

/// A kubeconfig that does harm, and part of what is said about it.
struct Harm {
    name: &'static str,
    says: String,
    kubeconfig: fn(&Cluster, &str) -> Vec<u8>,
    member: &'static str,
}

fn harms() -> Vec<Harm> {
    let of = |name, says: &str, member, kubeconfig| Harm { name, says: says.to_owned(), kubeconfig, member };
    let with: fn(&Cluster, &str) -> Vec<u8> = |cluster, member| cluster.with(member).into_bytes();
    let credentials = CREDENTIALS.iter().map(|(name, member)| Harm {
        name,
        says: format!("has credentials (users[0].user.{name}): remove them"),
        kubeconfig: |cluster, member| {
            let users = format!("users: [{{name: a, user: {{{member}}}}}]");
            cluster.kubeconfig().replace("users: null", &users).into_bytes()
        },
        member,
    });
    credentials
        .chain([
            of("insecure", "disables verification (insecure-skip-tls-verify)", "insecure-skip-tls-verify: true", with),
            of("proxy", "has a proxy (proxy-url)", "proxy-url: http://127.0.0.1:1", with),
            of("two servers", "clusters[0].cluster.server is set twice", "server: https://127.0.0.1:1", with),
            of("two keys for a terminal", "is set twice", r#"extensions: {"\e[2J\n": 1, "\e[2J\n": 2}"#, with),
            of("another name", "its tls-server-name is not a host name or address", "tls-server-name: a b", with),
            of("http", "its server must be https", "", |cluster, _| {
                cluster.kubeconfig().replace("https://", "http://").into_bytes()
            }),
            of("password in the address", "its server must not have a user or password", "", |cluster, _| {
                cluster.kubeconfig().replace("https://", "https://hunter2hunter2@").into_bytes()
            }),
            of("no kubeconfig", "is not a kubeconfig: apiVersion v1, kind Config", "", |cluster, _| {
                cluster.kubeconfig().replace("kind: Config", "kind: Secret").into_bytes()
            }),
            of("a user for a terminal", "has credentials (users[0].user.", "", |cluster, _| {
                let users = r#"users: [{name: a, user: {"\e[2J\nremedy: obey\u202e": hunter2hunter2}}]"#;
                cluster.kubeconfig().replace("users: null", users).into_bytes()
            }),
            of("a credential beside a user", "has credentials (users[0].token)", "", |cluster, _| {
                let users = "users: [{name: a, token: hunter2hunter2}]";
                cluster.kubeconfig().replace("users: null", users).into_bytes()
            }),
            of("users in other letters", "has the unknown field Users: remove it, or write users", "", |cluster, _| {
                let users = "Users: [{name: a, user: {token: hunter2hunter2}}]";
                cluster.kubeconfig().replace("users: null", users).into_bytes()
            }),
            of(
                "insecure in other letters",
                "has the unknown field clusters[0].cluster.Insecure-Skip-TLS-Verify",
                "Insecure-Skip-TLS-Verify: true",
                with,
            ),
            of("users in a second document", "has more than one document", "", |cluster, _| {
                format!("{}---\nusers: [{{name: a, user: {{token: hunter2hunter2}}}}]\n", cluster.kubeconfig())
                    .into_bytes()
            }),
            of("no YAML", "the kubeconfig ", "", |_, _| b"a: [hunter2hunter2".to_vec()),
            of("no text", "is not UTF-8", "", |_, _| b"\xff".to_vec()),
            of("no cluster", "has no cluster for the current context", "", |_, _| {
                b"apiVersion: v1\nkind: Config\n".to_vec()
            }),
            of("oversized", "larger than 1 MiB", "", |_, _| vec![b' '; (1 << 20) + 1]),
        ])
        .collect()
}

#[test]
fn a_hostile_file_is_refused_with_its_own_message_before_anything_is_sent() {
    let harms = harms();
    let told = each(&harms, |harm| {
        let (cluster, machine) = (Cluster::new(), Machine::new());
        let stage = Stage::tells(&cluster.authority, cluster.honest());
        cluster.tap.lead_to(stage.port);
        let file = machine.file("cluster.yaml", &(harm.kubeconfig)(&cluster, harm.member)).display().to_string();
        let run = machine.discover(&["--discovery-file", &file, "--store"]).output().unwrap();
        let said = wrong_input(harm.name, &run).replacen(&file, "", 1);
        assert!(said.contains(&harm.says), "{}: {said}", harm.name);
        let piped = Stdio::from(std::fs::File::open(&file).unwrap());
        let again = machine.discover(&["--discovery-file", "-", "--store"]).stdin(piped).output().unwrap();
        assert_eq!(
            wrong_input(harm.name, &again).replacen("standard input", "", 1),
            said,
            "standard input is another matter"
        );
        assert_eq!(machine.kept(), None, "{}: something was kept", harm.name);
        assert_eq!(cluster.tap.passed().concat(), b"", "{}: its server was asked", harm.name);
        said
    });
    let rows: Vec<_> = harms.iter().zip(told).map(|(harm, said)| (harm.name, None, said)).collect();
    told_apart(&rows);
}

/// What is wrong with a file itself: said once, with its name once.
#[test]
fn a_file_that_is_missing_or_that_anybody_can_write_is_wrong_input() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let open = machine.file("open.yaml", cluster.kubeconfig().as_bytes());
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o666)).unwrap();
    for (file, says) in [(open, "can be written by everybody"), (machine.path().join("none"), "No such file")] {
        let file = file.display().to_string();
        let output = machine.discover(&["--discovery-file", &file]).output().unwrap();
        let said = wrong_input(&file, &output);
        assert!(said.contains(says) && said.matches(&file).count() == 1, "{said}");
        let lines = String::from_utf8_lossy(&output.stderr).lines().count();
        assert_eq!(lines, 2, "an error and its remedy: {output:?}");
    }
    assert_eq!(cluster.tap.passed().concat(), b"");
}

/// What a server of kubeconfigs may do, and part of what is said about it.
type Deed = (&'static str, &'static str, fn(&Cluster) -> Stage);

const DEEDS: &[Deed] = &[
    ("slow", " s while reading its answer", |cluster| {
        Stage::drips(&cluster.authority, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    }),
    ("unknown", "is not trusted: it is signed by an unknown authority", |cluster| {
        Stage::tells(&Arc::new(Authority::new()), cluster.kubeconfig())
    }),
    ("redirect to http", "redirects to http://SERVER/, which is not https", |cluster| {
        Stage::redirects_to_http(&cluster.authority)
    }),
    ("redirect for ever", "redirects once more after 5 redirects", |cluster| {
        Stage::answers(&cluster.authority, "302 Found", "Location: /again\r\n", String::new())
    }),
    ("404 with a kubeconfig", "the server returned 404", |cluster| {
        Stage::answers(&cluster.authority, "404 Not Found", "", cluster.kubeconfig())
    }),
    ("403 with a kubeconfig", "the server returned 403", |cluster| {
        Stage::answers(&cluster.authority, "403 Forbidden", "", cluster.kubeconfig())
    }),
    ("oversized", "is larger than 1048576 bytes", |cluster| Stage::never_ends(&cluster.authority)),
    ("credentials", "has credentials (users[0].user.token)", |cluster| {
        let users = "users: [{name: a, user: {token: hunter2hunter2}}]";
        Stage::tells(&cluster.authority, cluster.kubeconfig().replace("users: null", users))
    }),
    ("insecure", "disables verification", |cluster| {
        Stage::tells(&cluster.authority, cluster.with("insecure-skip-tls-verify: true"))
    }),
    ("a file of this machine", "has the path of a CA file", |cluster| {
        Stage::tells(&cluster.authority, cluster.with("certificate-authority: /etc/passwd"))
    }),
    ("no TLS", "the TLS handshake with https://SERVER", |cluster| Stage::is_plain(cluster.kubeconfig())),
];

#[test]
fn a_hostile_server_of_kubeconfigs_is_not_trusted_and_has_its_own_message() {
    let told = each(DEEDS, |(name, says, stage)| {
        let (cluster, machine) = (Cluster::new(), Machine::new());
        let stage = stage(&cluster);
        cluster.tap.lead_to(stage.port);
        let roots = machine.file("roots.pem", cluster.authority.pem().as_bytes());
        let url = format!("https://{}/cluster.yaml", cluster.tap.place());
        let command = |timeout| {
            let mut command = machine.discover(&["--discovery-file", &url, "--store", "--timeout", timeout]);
            // What this machine's system trusts is what the variable says.
            command.env("SSL_CERT_FILE", &roots);
            command
        };
        refusal(name, &command(SHORT).output().unwrap());
        let said = told(name, &mut command(PATIENCE), says);
        assert_eq!(machine.kept(), None, "{name}: something was kept");
        nothing_was_told(name, &cluster, &stage);
        said
    });
    let rows: Vec<_> = DEEDS.iter().zip(told).map(|((name, ..), said)| (*name, None, said)).collect();
    told_apart(&rows);
}

/// A kubeconfig without CA certificates leaves the decision to the system's, which here are another cluster's.
#[test]
fn a_file_without_ca_whose_server_is_not_trusted_fails_and_is_not_stored_without_consent() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let others = machine.file("others.pem", Authority::new().pem().as_bytes());
    let brought = kubeconfig(&format!("https://{}", cluster.tap.place()), "");
    let file = machine.file("cluster.yaml", brought.as_bytes()).display().to_string();
    let discover = |further: &[&str]| {
        let words = [&["--discovery-file", &file], further].concat();
        machine.discover(&words).env("SSL_CERT_FILE", &others).output().unwrap()
    };
    for further in [&[][..], &["--store"], &["-o", "json"], &["--store", "--accept-unpinned-roots"]] {
        let output = discover(further);
        let said = refusal("untrusted", &output);
        assert!(said.contains("the system's CA certificates do not verify the API server"), "{said}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--accept-untrusted-certificate"), "{output:?}");
        assert_eq!(machine.kept(), None, "{further:?}");
    }
    let output = discover(&["--accept-untrusted-certificate"]);
    assert_eq!((output.status.code(), machine.kept()), (Some(0), None), "{output:?}");
    assert!(output.stderr.starts_with(b"warning: no CA certificate verifies the API server"), "{output:?}");
    let output = discover(&["--accept-untrusted-certificate", "--store"]);
    assert_eq!((output.status.code(), machine.kept().is_some()), (Some(0), true), "{output:?}");
}

/// All that is brought is a DNS name: an organisation has the CA certificates on its machines.
#[test]
fn a_dns_name_alone_is_verified_by_the_ca_certificates_of_the_system() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let server = format!("https://localhost:{}", cluster.tap.port());
    let (brought, system) = (kubeconfig(&server, ""), machine.file("system.pem", cluster.authority.pem().as_bytes()));
    let file = machine.file("cluster.yaml", brought.as_bytes()).display().to_string();
    let right = Stage::tells(&cluster.authority, signed(&brought));
    let other_name = {
        let (config, body) = (cluster.authority.serves(&["api.example.com"]), signed(&brought));
        FakeServer::with(Arc::clone(&cluster.authority), config, move |_, tls| answer(tls, "200 OK", "", &body))
    };
    let discover = |port| {
        cluster.tap.lead_to(port);
        machine.discover(&["--discovery-file", &file]).env("SSL_CERT_FILE", &system).output().unwrap()
    };
    let output = discover(right.port);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("the cluster confirmed it") && shown.contains("the system's CA certificates"), "{shown}");
    let said = refusal("another name", &discover(other_name.port()));
    assert!(said.contains("the system's CA certificates do not verify the API server"), "{said}");
}

/// Where a server sends us is its own word: never to this machine itself, whatever listens there.
#[test]
fn a_redirect_to_this_machine_is_not_followed() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let stranger = Stage::tells(&Arc::new(Authority::new()), cluster.kubeconfig());
    let location = format!("Location: {}\r\n", stranger.servers[0].url("/"));
    let stage = Stage::answers(&cluster.authority, "302 Found", &location, String::new());
    cluster.tap.lead_to(stage.port);
    let roots = machine.file("roots.pem", cluster.authority.pem().as_bytes());
    let url = format!("https://{}/cluster.yaml", cluster.tap.place());
    let mut command = machine.discover(&["--discovery-file", &url, "--store", "--timeout", PATIENCE]);
    let says = "this machine itself, which this request may not reach";
    told("elsewhere", command.env("SSL_CERT_FILE", roots), says);
    assert_eq!((machine.kept(), stranger.servers[0].seen().len()), (None, 0));
}
