//! `discover --refresh` when somebody hostile answers at the kept address: what is kept stays as it is, to the byte.
use super::{
    stage::{Cluster, Stage, kubeconfig, signed},
    watched::{Machine, SHORT, by_token, each, has, nothing_was_told, refusal, told, told_apart},
};
use crate::support::partial_run::PATIENCE;
use std::sync::Arc;
use testbed::fake::Authority;

/// What happens at the kept address, what is said, and what is said to somebody who agrees to unpinned roots.
struct Deed {
    name: &'static str,
    says: &'static str,
    says_to_consent: &'static str,
    stage: fn(&Cluster) -> Stage,
}

const fn deed(name: &'static str, says: &'static str, stage: fn(&Cluster) -> Stage) -> Deed {
    Deed { name, says, says_to_consent: says, stage }
}

/// Consent takes it one step further: the cluster must be reached under what it says.
const fn unless_agreed(name: &'static str, says: &'static str, stage: fn(&Cluster) -> Stage) -> Deed {
    Deed { name, says, says_to_consent: NOT_CONFIRMED, stage }
}

const NOT_CONFIRMED: &str = "the cluster does not confirm it: ";

const DEEDS: &[Deed] = &[
    deed("slow", "took longer than", |cluster| {
        Stage::drips(&cluster.authority, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    }),
    deed("impostor", "it is signed by an unknown authority", |_| {
        let own = Arc::new(Authority::new());
        Stage::tells(&own, signed(&kubeconfig("https://192.0.2.1:6443", &own.pem())))
    }),
    unless_agreed("other roots", "none of the new CA certificates is pinned", |cluster| {
        let roots = Authority::new().pem();
        Stage::tells(&cluster.authority, signed(&kubeconfig(&format!("https://{}", cluster.tap.place()), &roots)))
    }),
    unless_agreed("no roots", "the answer has no CA certificates", |cluster| {
        Stage::tells(&cluster.authority, signed(&kubeconfig(&format!("https://{}", cluster.tap.place()), "")))
    }),
    deed("an address where nobody listens", "not confirm it: connection refused", |cluster| {
        Stage::tells(&cluster.authority, signed(&kubeconfig("https://127.0.0.1:9", &cluster.authority.pem())))
    }),
    deed("an address of somebody else", "not confirm it: the certificate of", |cluster| {
        let mut stage = Stage::tells(&Arc::new(Authority::new()), String::new());
        let moved = kubeconfig(&format!("https://127.0.0.1:{}", stage.port), &cluster.authority.pem());
        let kept = Stage::tells(&cluster.authority, signed(&moved));
        stage.port = kept.port;
        stage.servers.extend(kept.servers);
        stage
    }),
    deed("insecure", "disables verification", |cluster| {
        Stage::tells(&cluster.authority, signed(&cluster.with("insecure-skip-tls-verify: true")))
    }),
    deed("http", "its server must be https", |cluster| {
        Stage::tells(&cluster.authority, signed(&cluster.kubeconfig().replace("https://", "http://")))
    }),
    deed("credentials", "has users", |cluster| {
        let users = "users: [{name: a, user: {token: hunter2hunter2}}]";
        Stage::tells(&cluster.authority, signed(&cluster.kubeconfig().replace("users: null", users)))
    }),
    deed("an empty cluster-info", "has no kubeconfig", |cluster| {
        Stage::tells(&cluster.authority, cluster.honest().replace("\"kubeconfig\"", "\"kubeconfig2\""))
    }),
    deed("oversized", "is larger than 1048576 bytes", |cluster| Stage::never_ends(&cluster.authority)),
    deed("redirect to http", "which is not https", |cluster| Stage::redirects_to_http(&cluster.authority)),
    deed("redirect elsewhere", "not followed here", |cluster| Stage::redirects_elsewhere(&cluster.authority)),
    deed("404 with a cluster-info", "returned 404", |cluster| {
        Stage::answers(&cluster.authority, "404 Not Found", "", signed(&kubeconfig("https://192.0.2.1:6443", "")))
    }),
    deed("403", "read cluster-info (403 Forbidden): strangers may not", |cluster| {
        let status = r#"{"kind":"Status","message":"strangers may not"}"#;
        Stage::answers(&cluster.authority, "403 Forbidden", "", status.to_owned())
    }),
    deed("not JSON", "it is not JSON", |cluster| Stage::tells(&cluster.authority, cluster.kubeconfig())),
    deed("no TLS", "the TLS handshake with", |cluster| Stage::is_plain(cluster.honest())),
];

/// A machine that has discovered the honest cluster.
pub(crate) fn joined(cluster: &Cluster) -> Machine {
    let machine = Machine::new();
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let found = by_token(&machine, cluster, PATIENCE).output().unwrap();
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    machine
}

#[test]
fn whoever_answers_at_the_kept_address_what_is_kept_stays_byte_for_byte() {
    let told = each(DEEDS, |deed| {
        let cluster = Cluster::new();
        let machine = joined(&cluster);
        let before = machine.kept().unwrap();
        let stage = (deed.stage)(&cluster);
        cluster.tap.lead_to(stage.port);
        let refused = refusal(deed.name, &machine.discover(&["--refresh", "--timeout", SHORT]).output().unwrap());
        assert!(refused.contains("unchanged: "), "{}: {refused}", deed.name);
        let said = told(deed.name, &mut machine.discover(&["--refresh", "--timeout", PATIENCE]), deed.says);
        assert_eq!(machine.kept(), Some(before), "{}: what is kept was changed", deed.name);
        nothing_was_told(deed.name, &cluster, &stage);
        said
    });
    let rows: Vec<_> = DEEDS.iter().zip(told).map(|(deed, said)| (deed.name, None, said)).collect();
    told_apart(&rows);
}

/// Consent is to unpinned roots of the verified cluster that is reached under them, and to nothing else.
#[test]
fn consent_lets_nothing_pass_that_is_not_verified_or_not_a_cluster_info() {
    each(DEEDS, |deed| {
        let cluster = Cluster::new();
        let machine = joined(&cluster);
        let before = machine.kept().unwrap();
        let stage = (deed.stage)(&cluster);
        cluster.tap.lead_to(stage.port);
        let words = ["--refresh", "--accept-unpinned-roots", "--timeout", PATIENCE];
        told(deed.name, &mut machine.discover(&words), deed.says_to_consent);
        assert_eq!(machine.kept(), Some(before), "{}: what is kept was changed", deed.name);
    });
}

/// The cluster has moved to another address and has other roots there, which are not pinned.
#[test]
fn a_cluster_that_moved_is_followed_with_consent_and_the_proof_tells_it() {
    let (cluster, elsewhere) = (Cluster::new(), Cluster::new());
    let machine = joined(&cluster);
    let before = machine.kept().unwrap();
    let (old, new) =
        (Stage::tells(&cluster.authority, elsewhere.honest()), Stage::tells(&elsewhere.authority, elsewhere.honest()));
    cluster.tap.lead_to(old.port);
    elsewhere.tap.lead_to(new.port);
    let said = refusal("no consent", &machine.discover(&["--refresh"]).output().unwrap());
    assert!(said.contains("none of the new CA certificates is pinned"), "{said}");
    assert_eq!(machine.kept(), Some(before));
    let output = machine.discover(&["--refresh", "--accept-unpinned-roots"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let proven = String::from_utf8_lossy(&output.stdout).into_owned();
    let from = format!("followed from https://{} on 20", cluster.tap.place());
    let to = format!("a user accepted the key {}", elsewhere.pin());
    assert!(proven.contains(&from) && proven.contains(&to) && !proven.contains(&cluster.pin()), "{proven}");
    let kept = machine.kept().unwrap();
    assert!(has(&kept, &elsewhere.tap.place()) && has(&kept, &elsewhere.pin()) && !has(&kept, &cluster.pin()));
    let again = machine.discover(&["--refresh"]).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "it is reached under what was followed: {again:?}");
}

#[test]
fn the_date_of_what_is_kept_is_that_of_its_last_confirmation() {
    let cluster = Cluster::new();
    let machine = joined(&cluster);
    let file = machine.path().join("var/lib/machineadm/cluster-info.json");
    let mut kept: serde_json::Value = serde_json::from_slice(&machine.kept().unwrap()).unwrap();
    kept["updated"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&file, kept.to_string()).unwrap();
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let output = machine.discover(&["--refresh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let after: serde_json::Value = serde_json::from_slice(&machine.kept().unwrap()).unwrap();
    assert_ne!(after["updated"], kept["updated"]);
    assert_eq!((&after["kubeconfig"], &after["proof"]), (&kept["kubeconfig"], &kept["proof"]));
}

/// A machine whose kept file was damaged or does not match its own CA pins asks nobody.
#[test]
fn what_is_kept_and_was_tampered_with_is_not_used() {
    let cluster = Cluster::new();
    let machine = joined(&cluster);
    let file = machine.path().join("var/lib/machineadm/cluster-info.json");
    let text = String::from_utf8(machine.kept().unwrap()).unwrap();
    let other = Cluster::new();
    let swapped = text.replace(&cluster.pin(), &other.pin());
    for (content, says) in [(swapped.as_str(), "does not match its own CA pins"), ("{", "is damaged")] {
        std::fs::write(&file, content).unwrap();
        let asked = cluster.tap.passed().concat().len();
        let said = refusal(says, &machine.discover(&["--refresh"]).output().unwrap());
        assert!(said.contains(says) && said.contains(&file.display().to_string()), "{said}");
        assert_eq!(
            (machine.kept().unwrap(), cluster.tap.passed().concat().len()),
            (content.as_bytes().to_vec(), asked)
        );
    }
}
