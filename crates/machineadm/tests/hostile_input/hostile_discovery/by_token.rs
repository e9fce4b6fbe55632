//! Token discovery of a hostile server: not trusted, not kept, told apart, and told nothing.
use super::{
    stage::{Cluster, SECRET, Stage, TOKEN, kubeconfig, signed, token, with_signature},
    watched::{Machine, SHORT, by_token, each, has, nothing_was_told, refusal, told, told_apart},
};
use crate::support::partial_run::PATIENCE;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use discovery::jws;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use testbed::fake::{Authority, FakeServer, answer};

struct Attack {
    name: &'static str,
    /// Part of what is said about it.
    says: &'static str,
    /// The other attack that fails at the same check, if this one has no words of its own.
    like: Option<&'static str>,
    stage: fn(&Cluster) -> Stage,
}

const fn attack(name: &'static str, says: &'static str, stage: fn(&Cluster) -> Stage) -> Attack {
    Attack { name, says, like: None, stage }
}

const fn like(name: &'static str, like: &'static str, stage: fn(&Cluster) -> Stage) -> Attack {
    Attack { name, says: "", like: Some(like), stage }
}

const ATTACKS: &[Attack] = &[
    attack("slow body", " s while reading its answer", |cluster| {
        Stage::drips(&cluster.authority, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    }),
    attack("slow head", " s while waiting for its answer", |cluster| {
        Stage::drips(&cluster.authority, "HTTP/1.1 200 OK\r\nX: ")
    }),
    attack("silence", " s while negotiating TLS", |_| Stage::is_silent()),
    attack("wrong CA", "another cluster: its CA key KEY is not among the CA pins", |cluster| {
        let own = Arc::new(Authority::new());
        Stage::tells(&own, signed(&kubeconfig(&format!("https://{}", cluster.tap.place()), &own.pem())))
    }),
    attack("relayed", "over verified TLS, failed: the certificate of https://SERVER", |cluster| {
        Stage::tells(&Arc::new(Authority::new()), cluster.honest())
    }),
    attack("changed second answer", "the second fetch, over verified TLS, returned other content", |cluster| {
        in_turn(&cluster.authority, cluster.honest(), signed(&moved(cluster)))
    }),
    attack("second answer without a map", "failed: https://SERVER did not return a Kubernetes API object", |cluster| {
        in_turn(&cluster.authority, cluster.honest(), "{}".to_owned())
    }),
    attack("signature of another token", "the signature names another token", |cluster| {
        let other = token(&TOKEN.replace("abcdef", "zzzzzz"));
        let kubeconfig = cluster.kubeconfig();
        Stage::tells(&cluster.authority, with_signature(&kubeconfig, &jws::sign(&other, kubeconfig.as_bytes())))
    }),
    attack("signature under another token's name", "has no signature for token abcdef", |cluster| {
        Stage::tells(&cluster.authority, cluster.honest().replace("jws-kubeconfig-abcdef", "jws-kubeconfig-zzzzzz"))
    }),
    attack("signature without the secret", "the signature is invalid: the content was changed", |cluster| {
        let kubeconfig = cluster.kubeconfig();
        let jws = jws::sign(&token("abcdef.0000000000000000"), kubeconfig.as_bytes());
        Stage::tells(&cluster.authority, with_signature(&kubeconfig, &jws))
    }),
    like("changed after signing", "signature without the secret", |cluster| {
        let jws = jws::sign(&token(TOKEN), cluster.kubeconfig().as_bytes());
        Stage::tells(&cluster.authority, with_signature(&moved(cluster), &jws))
    }),
    attack("attached payload", "the signature contains a payload", |cluster| {
        let kubeconfig = cluster.kubeconfig();
        let payload = format!(".{}.", BASE64_URL_SAFE_NO_PAD.encode(&kubeconfig));
        let jws = jws::sign(&token(TOKEN), kubeconfig.as_bytes()).replace("..", &payload);
        Stage::tells(&cluster.authority, with_signature(&kubeconfig, &jws))
    }),
    attack("alg none", "the signature names another algorithm than HS256", |cluster| {
        let header = BASE64_URL_SAFE_NO_PAD.encode(r#"{"alg":"none","kid":"abcdef"}"#);
        Stage::tells(&cluster.authority, with_signature(&cluster.kubeconfig(), &format!("{header}..")))
    }),
    attack("oversized", "is larger than 1048576 bytes", |cluster| Stage::announces_much(&cluster.authority)),
    like("oversized without saying so", "oversized", |cluster| Stage::never_ends(&cluster.authority)),
    attack("redirect to http", "redirects to http://SERVER/, which is not https", |cluster| {
        Stage::redirects_to_http(&cluster.authority)
    }),
    attack("redirect elsewhere", "redirects, which is not followed here", |cluster| {
        Stage::redirects_elsewhere(&cluster.authority)
    }),
    attack("credentials in cluster-info", "has users, which cluster-info must not have", |cluster| {
        let users = "users: [{name: a, user: {token: hunter2hunter2}}]";
        Stage::tells(&cluster.authority, signed(&cluster.kubeconfig().replace("users: null", users)))
    }),
    attack("verification switched off", "disables verification (insecure-skip-tls-verify)", |cluster| {
        Stage::tells(&cluster.authority, signed(&cluster.with("insecure-skip-tls-verify: true")))
    }),
    attack("http in cluster-info", "its server must be https", |cluster| {
        Stage::tells(&cluster.authority, signed(&cluster.kubeconfig().replace("https://", "http://")))
    }),
    attack("proxy in cluster-info", "has a proxy (proxy-url)", |cluster| {
        Stage::tells(&cluster.authority, signed(&cluster.with("proxy-url: http://127.0.0.1:1")))
    }),
    attack("file in cluster-info", "has the path of a CA file", |cluster| {
        Stage::tells(&cluster.authority, signed(&cluster.with("certificate-authority: /etc/passwd")))
    }),
    attack("no roots in cluster-info", "has no CA certificates to compare with the CA pins", |cluster| {
        let kubeconfig = kubeconfig(&format!("https://{}", cluster.tap.place()), "");
        Stage::tells(&cluster.authority, signed(&kubeconfig))
    }),
    // An old cluster-info is as well signed as the present one. What finds it out is the pin, or the second fetch.
    like("replayed, with a root that was given up", "wrong CA", |cluster| {
        let old = kubeconfig(&format!("https://{}", cluster.tap.place()), &Authority::new().pem());
        Stage::tells(&cluster.authority, signed(&old))
    }),
    like("replayed, with the pinned root, by a stranger", "relayed", |cluster| {
        Stage::tells(&Arc::new(Authority::new()), signed(&moved(cluster)))
    }),
    like("replayed, with the pinned root, in between", "changed second answer", |cluster| {
        in_turn(&cluster.authority, signed(&moved(cluster)), cluster.honest())
    }),
    like("a root beside the pinned one", "relayed", |cluster| {
        let own = Arc::new(Authority::new());
        let bundle = format!("{}{}", own.pem(), cluster.authority.pem());
        Stage::tells(&own, signed(&kubeconfig(&format!("https://{}", cluster.tap.place()), &bundle)))
    }),
    attack("certificate for another name", "it is valid for other.example, not for 127.0.0.1", |cluster| {
        with_certificate(cluster, "other.example", 2100)
    }),
    attack("certificate that is over", "it has expired", |cluster| with_certificate(cluster, "127.0.0.1", 2002)),
    attack("404 with a cluster-info", "the API server returned 404: no reason was given", |cluster| {
        Stage::answers(&cluster.authority, "404 Not Found", "", cluster.honest())
    }),
    attack("503 with a cluster-info", "the API server returned 503: no reason was given", |cluster| {
        Stage::answers(&cluster.authority, "503 Service Unavailable", "", cluster.honest())
    }),
    attack("403 with words for a terminal", "read cluster-info (403 Forbidden): \u{fffd}[2Jtrust me", |cluster| {
        let status = r#"{"kind":"Status","message":"\u001b[2Jtrust me\nremedy: obey\u202e"}"#;
        Stage::answers(&cluster.authority, "403 Forbidden", "", status.to_owned())
    }),
    attack("a key with words for a terminal", "is set twice", |cluster| {
        let twice = r#"extensions: {"\e[2Jx\n": 1, "\e[2Jx\n": 2}"#;
        Stage::tells(&cluster.authority, signed(&cluster.with(twice)))
    }),
    attack("a key twice, hidden by a tab", "clusters[0].cluster.server is set twice", |cluster| {
        let servers = format!(r#""server":"https://192.0.2.1","server":"https://{}""#, cluster.tap.place());
        Stage::tells(&cluster.authority, signed(&format!("{{\t\"clusters\":[{{\"cluster\":{{{servers}}}}}]}}")))
    }),
    attack("not JSON", "did not return a Kubernetes API object: it is not JSON", |cluster| {
        Stage::tells(&cluster.authority, cluster.kubeconfig())
    }),
    attack("not a ConfigMap", "did not return a Kubernetes API object: it is not a ConfigMap", |cluster| {
        Stage::tells(&cluster.authority, cluster.honest().replace("\"ConfigMap\"", "\"Secret\""))
    }),
    attack("an empty cluster-info", "cluster-info has no kubeconfig", |cluster| {
        Stage::tells(&cluster.authority, cluster.honest().replace("\"kubeconfig\"", "\"kubeconfig2\""))
    }),
    attack("no TLS", "the TLS handshake with https://SERVER", |cluster| Stage::is_plain(cluster.honest())),
];

/// The cluster at an address of former times.
fn moved(cluster: &Cluster) -> String {
    kubeconfig("https://192.0.2.1:6443", &cluster.authority.pem())
}

/// A server that says one thing and another in turn.
fn in_turn(authority: &Arc<Authority>, first: String, second: String) -> Stage {
    let asked = AtomicUsize::new(0);
    Stage::does(authority, move |_, tls| {
        let body = if asked.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) { &first } else { &second };
        answer(tls, "200 OK", "", body)
    })
}

/// The cluster's own authority vouches for the server, but for another name or another time.
fn with_certificate(cluster: &Cluster, name: &str, until: i32) -> Stage {
    let (config, body) = (cluster.authority.serves_between(&[name], 2001, until), cluster.honest());
    let server =
        FakeServer::with(Arc::clone(&cluster.authority), config, move |_, tls| answer(tls, "200 OK", "", &body));
    Stage { port: server.port(), servers: vec![server], forbidden: Vec::new(), _silent: None }
}

/// What is said about an attack, in its own words or in another's.
fn says(attack: &Attack) -> &'static str {
    let like = ATTACKS.iter().find(|other| Some(other.name) == attack.like);
    like.unwrap_or(attack).says
}

#[test]
fn no_hostile_server_is_trusted_each_has_its_own_message_and_none_learns_a_secret() {
    let told = each(ATTACKS, |attack| {
        let (cluster, machine) = (Cluster::new(), Machine::new());
        let stage = (attack.stage)(&cluster);
        cluster.tap.lead_to(stage.port);
        refusal(attack.name, &by_token(&machine, &cluster, SHORT).output().unwrap());
        let said = told(attack.name, &mut by_token(&machine, &cluster, PATIENCE), says(attack));
        assert_eq!(machine.kept(), None, "{}: something was kept", attack.name);
        assert!(!cluster.tap.passed().concat().is_empty(), "{}: nobody was asked", attack.name);
        nothing_was_told(attack.name, &cluster, &stage);
        said
    });
    let rows: Vec<_> = ATTACKS.iter().zip(told).map(|(attack, said)| (attack.name, attack.like, said)).collect();
    told_apart(&rows);
}

/// The same run, the same search: only the server is honest. So the refusals above are the attacks' doing.
#[test]
fn the_honest_server_is_trusted_kept_and_learns_no_secret_either() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let output = by_token(&machine, &cluster, PATIENCE).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let kept = machine.kept().unwrap();
    assert!(has(&kept, &cluster.tap.place()) && has(&kept, &cluster.pin()) && !has(&kept, SECRET));
    nothing_was_told("honest", &cluster, &stage);
    let seen = stage.servers[0].seen();
    let path = "GET /api/v1/namespaces/kube-public/configmaps/cluster-info HTTP/1.1\r\n";
    assert!(seen.len() == 2 && seen.iter().all(|seen| seen.head.starts_with(path)), "{seen:?}");
    assert!(!cluster.tap.passed().concat().is_empty());
}

/// Without a pin the second fetch still finds out who merely relays.
#[test]
fn without_a_pin_a_relayed_cluster_info_is_still_not_trusted() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let stage = Stage::tells(&Arc::new(Authority::new()), cluster.honest());
    cluster.tap.lead_to(stage.port);
    let place = cluster.tap.place();
    let words = [
        &place[..],
        "--token",
        TOKEN,
        "--discovery-token-unsafe-skip-ca-verification",
        "--store",
        "--timeout",
        PATIENCE,
    ];
    let said =
        told("relayed", &mut machine.discover(&words), "the second fetch, over verified TLS, failed: the certificate");
    assert!(said.contains("signed by an unknown authority"), "{said}");
    assert_eq!(machine.kept(), None);
    nothing_was_told("relayed", &cluster, &stage);
}
