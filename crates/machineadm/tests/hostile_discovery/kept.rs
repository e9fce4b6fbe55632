//! `discover --refresh` when somebody hostile answers at the kept address: what is kept stays as it is, to the byte.
use crate::{
    stage::{Cluster, Stage, kubeconfig, signed},
    watched::{Machine, by_token, each, nothing_was_told, refusal, told_apart},
};
use std::sync::Arc;
use testbed::fake::Authority;

/// What happens at the kept address, what is said, and whether consent to unpinned roots would let it pass.
struct Deed {
    name: &'static str,
    says: &'static str,
    passes_with_consent: bool,
    stage: fn(&Cluster) -> Stage,
}

const fn deed(name: &'static str, says: &'static str, stage: fn(&Cluster) -> Stage) -> Deed {
    Deed { name, says, passes_with_consent: false, stage }
}

const fn unless_agreed(name: &'static str, says: &'static str, stage: fn(&Cluster) -> Stage) -> Deed {
    Deed { name, says, passes_with_consent: true, stage }
}

const DEEDS: &[Deed] = &[
    deed("slow", "took longer than 10 s", |cluster| {
        Stage::drips(&cluster.authority, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    }),
    deed("impostor", "it is signed by nobody whom this request trusts", |_| {
        let own = Arc::new(Authority::new());
        Stage::tells(&own, signed(&kubeconfig("https://192.0.2.1:6443", &own.pem())))
    }),
    unless_agreed("other roots", "none of the new roots is pinned", |cluster| {
        let roots = Authority::new().pem();
        Stage::tells(&cluster.authority, signed(&kubeconfig(&format!("https://{}", cluster.tap.place()), &roots)))
    }),
    unless_agreed("no roots", "the answer names no roots", |cluster| {
        Stage::tells(&cluster.authority, signed(&kubeconfig(&format!("https://{}", cluster.tap.place()), "")))
    }),
    deed("insecure", "switches verification off", |cluster| {
        Stage::tells(&cluster.authority, signed(&cluster.with("insecure-skip-tls-verify: true")))
    }),
    deed("http", "its server must be https", |cluster| {
        Stage::tells(&cluster.authority, signed(&cluster.kubeconfig().replace("https://", "http://")))
    }),
    deed("credentials", "holds users", |cluster| {
        let users = "users: [{name: a, user: {token: hunter2hunter2}}]";
        Stage::tells(&cluster.authority, signed(&cluster.kubeconfig().replace("users: null", users)))
    }),
    deed("an empty cluster-info", "holds no kubeconfig", |cluster| {
        Stage::tells(&cluster.authority, cluster.honest().replace("\"kubeconfig\"", "\"kubeconfig2\""))
    }),
    deed("oversized", "is larger than 1048576 bytes", |cluster| Stage::never_ends(&cluster.authority)),
    deed("redirect to http", "which is not https", |cluster| Stage::redirects_to_http(&cluster.authority)),
    deed("redirect elsewhere", "not followed here", |cluster| Stage::redirects_elsewhere(&cluster.authority)),
    deed("404 with a cluster-info", "answered 404", |cluster| {
        Stage::answers(&cluster.authority, "404 Not Found", "", signed(&kubeconfig("https://192.0.2.1:6443", "")))
    }),
    deed("not JSON", "it is not JSON", |cluster| Stage::tells(&cluster.authority, cluster.kubeconfig())),
    deed("no TLS", "no TLS with", |cluster| Stage::is_plain(cluster.honest())),
];

/// A machine that has discovered the honest cluster.
fn joined(cluster: &Cluster) -> Machine {
    let machine = Machine::new();
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let words = by_token(cluster);
    let found = machine.discover(&words.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap();
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
        let said = refusal(deed.name, &machine.discover(&["--refresh"]).output().unwrap());
        assert!(said.contains(deed.says) && said.contains("what is kept stays"), "{}: {said}", deed.name);
        assert_eq!(machine.kept(), Some(before), "{}: what is kept was changed", deed.name);
        nothing_was_told(deed.name, &cluster, &stage);
        said
    });
    let rows: Vec<_> = DEEDS.iter().zip(told).map(|(deed, said)| (deed.name, None, said)).collect();
    told_apart(&rows);
}

/// Consent is to unpinned roots from the verified cluster, and to nothing else.
#[test]
fn consent_lets_nothing_pass_that_is_not_verified_or_not_a_cluster_info() {
    let deeds: Vec<_> = DEEDS.iter().filter(|deed| !deed.passes_with_consent && deed.name != "slow").collect();
    each(&deeds, |deed| {
        let cluster = Cluster::new();
        let machine = joined(&cluster);
        let before = machine.kept().unwrap();
        let stage = (deed.stage)(&cluster);
        cluster.tap.lead_to(stage.port);
        let output = machine.discover(&["--refresh", "--accept-unpinned-roots"]).output().unwrap();
        assert!(refusal(deed.name, &output).contains(deed.says), "{}: {output:?}", deed.name);
        assert_eq!(machine.kept(), Some(before), "{}: what is kept was changed", deed.name);
    });
}

/// A machine whose kept file was damaged or does not fit its own pins asks nobody.
#[test]
fn what_is_kept_and_was_tampered_with_is_not_used() {
    let cluster = Cluster::new();
    let machine = joined(&cluster);
    let file = machine.path().join("var/lib/machineadm/cluster-info.json");
    let text = String::from_utf8(machine.kept().unwrap()).unwrap();
    let other = Cluster::new();
    let swapped = text.replace(&cluster.pin(), &other.pin());
    for (content, says) in [(swapped.as_str(), "does not fit its own pins"), ("{", "is damaged")] {
        std::fs::write(&file, content).unwrap();
        let asked = cluster.tap.bytes().len();
        let said = refusal(says, &machine.discover(&["--refresh"]).output().unwrap());
        assert!(said.contains(says), "{said}");
        assert_eq!((machine.kept().unwrap(), cluster.tap.bytes().len()), (content.as_bytes().to_vec(), asked));
    }
}
