//! What `machineadm discover` says while it asks and when it refuses, and what it finds out before it asks.
use super::{
    kept::joined,
    stage::{Cluster, Stage, kubeconfig},
    watched::{ANSWERED, Machine, by_token, refusal, wrong_input},
};
use std::{fs, os::unix::fs::PermissionsExt, os::unix::process::CommandExt, process::Command, sync::Arc, thread};
use testbed::fake::{Authority, answer};

/// Port 9 is nobody's here.
#[test]
fn advice_fits_the_cause_and_is_printed_once_with_the_time_that_is_left() {
    let machine = Machine::new();
    // One CA certificate, since reading all of the system's takes a busy machine its time.
    let system = machine.file("system.pem", Authority::new().pem().as_bytes());
    let words = ["--discovery-file", "https://127.0.0.1:9/cluster.yaml", "--timeout", "3s"];
    let output = machine.discover(&words).env("SSL_CERT_FILE", system).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].starts_with("waiting for https://127.0.0.1:9/cluster.yaml: "), "{said}");
    assert!(lines[0].contains(", gives up in "), "{said}");
    assert_eq!(lines[1], "remedy: check the host and the port in the URL, and that the server runs there", "{said}");
    assert_eq!((said.matches("remedy: ").count(), said.matches("waiting for").count()), (1, 1), "{said}");
}

/// What stands behind a cluster's address.
type Staging = Box<dyn Fn(&Cluster) -> Stage + Send>;

/// Advice to create a token is for a token that has not signed; everything else has another cause.
#[test]
fn each_cause_has_its_own_advice() {
    let status = |status: &'static str| {
        move |cluster: &Cluster| Stage::answers(&cluster.authority, status, "", "{\"kind\": \"Status\"}".to_owned())
    };
    let unsigned = |cluster: &Cluster| {
        Stage::tells(&cluster.authority, cluster.honest().replace("jws-kubeconfig-abcdef", "jws-kubeconfig-zzzzzz"))
    };
    let stranger = |cluster: &Cluster| Stage::tells(&Arc::new(Authority::new()), cluster.honest());
    let causes: [(Staging, &str); 6] = [
        (
            Box::new(without_etcd),
            "remedy: on a control plane node: machineadm control-plane list shows the etcd members",
        ),
        (Box::new(status("403 Forbidden")), "the RoleBinding kubeadm:bootstrap-signer-clusterinfo in kube-public"),
        (Box::new(status("401 Unauthorized")), "remedy: on the cluster: enable anonymous authentication"),
        (Box::new(status("404 Not Found")), "remedy: on the cluster: machineadm discovery-objects"),
        (Box::new(unsigned), "remedy: on the cluster: machineadm token create --print-join-command"),
        (Box::new(stranger), "remedy: check the address: the server that answers there does not belong to the cluster"),
    ];
    let is_advised = |stage: Staging, advice: &str| {
        let (cluster, machine) = (Cluster::new(), Machine::new());
        let stage = stage(&cluster);
        cluster.tap.lead_to(stage.port);
        let output = by_token(&machine, &cluster, ANSWERED).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!((said.matches(advice).count(), said.matches("remedy: ").count()), (1, 1), "{advice}: {said}");
    };
    // All at once: each is asked until its time is over.
    thread::scope(|scope| causes.map(|(stage, advice)| drop(scope.spawn(move || is_advised(stage, advice)))));
}

/// An API server without its etcd; of its report only etcd's failure counts.
fn without_etcd(cluster: &Cluster) -> Stage {
    Stage::does(&cluster.authority, |seen, tls| match seen.path() {
        "/readyz?verbose" => {
            answer(tls, "500 Internal Server Error", "", "[+]ping ok\n[-]etcd failed: \u{1b}[2J remedy: obey\n")
        }
        path => {
            assert_eq!(path, discovery::cluster_info::path());
            answer(tls, "503 Service Unavailable", "", "{\"kind\": \"Status\"}")
        }
    })
}

#[test]
fn an_api_server_without_its_etcd_is_named_and_asked_about_it_once() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let stage = without_etcd(&cluster);
    cluster.tap.lead_to(stage.port);
    let output = by_token(&machine, &cluster, ANSWERED).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let place = cluster.tap.place();
    let error =
        format!("error: cannot discover the cluster from {place}: the API server answers, and reports that its etcd");
    assert!(said.contains(&error) && !said.contains("obey") && !said.contains("address"), "{said}");
    let asked: Vec<_> = stage.servers[0].seen().iter().map(|seen| seen.path().to_owned()).collect();
    let readiness = asked.iter().filter(|path| *path == "/readyz?verbose").count();
    assert!(readiness == 1 && asked.len() > 2, "{asked:?}");
}

#[test]
fn an_anonymous_request_that_is_refused_is_not_blamed_on_credentials() {
    for (status, reason) in [
        (
            "401 Unauthorized",
            "the API server refuses anonymous requests (401 Unauthorized): anonymous authentication is disabled",
        ),
        (
            "403 Forbidden",
            "the API server does not allow anonymous clients to read cluster-info (403 Forbidden): no reason was given",
        ),
    ] {
        let (cluster, machine) = (Cluster::new(), Machine::new());
        let stage = Stage::answers(&cluster.authority, status, "", "{\"kind\": \"Status\"}".to_owned());
        cluster.tap.lead_to(stage.port);
        let output = by_token(&machine, &cluster, ANSWERED).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        let error = format!("error: cannot discover the cluster from {}: {reason}\n", cluster.tap.place());
        assert!(printed.contains(&error) && !printed.contains("credentials"), "{printed}");
    }
}

#[test]
fn an_endpoint_that_refuses_is_told_though_the_next_one_is_right() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let output = by_token(&machine, &cluster, "10m").output().unwrap();
    assert_eq!((output.status.code(), output.stderr.starts_with(b"saved in")), (Some(0), true), "{output:?}");
    let (place, pin) = (cluster.tap.place(), cluster.pin());
    let words = ["127.0.0.1:9", &place, "--token", super::stage::TOKEN, "--discovery-token-ca-cert-hash", &pin];
    let output = machine.discover(&words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.starts_with("waiting for 127.0.0.1:9: connection refused, gives up in "), "{said}");
}

#[test]
fn a_token_file_that_other_users_can_read_is_warned_of() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let file = machine.file("token", super::stage::TOKEN.as_bytes());
    let (place, pin, name) = (cluster.tap.place(), cluster.pin(), file.display().to_string());
    let words = [&place[..], "--token-file", &name, "--discovery-token-ca-cert-hash", &pin];
    for (mode, warned) in [(0o600, false), (0o640, true), (0o644, true)] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let output = machine.discover(&words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let warning = format!("warning: --token-file {name} has mode {mode:04o}: other users can read the token");
        assert_eq!(said.contains(&warning), warned, "{mode:o}: {said}");
        assert_eq!(said.contains(&format!("chmod 0600 {name}")), warned, "{said}");
    }
}

/// So that somebody, or a program, can compare them before agreeing.
#[test]
fn the_keys_of_roots_that_are_not_pinned_are_told() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    let machine = joined(&cluster);
    let stage = Stage::tells(&other.authority, other.honest());
    other.tap.lead_to(stage.port);
    let file = machine.file("cluster.yaml", other.kubeconfig().as_bytes()).display().to_string();
    let output = machine.discover(&["--discovery-file", &file, "--store", "-o", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains(&other.pin()), "{output:?}");
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["unpinnedKeys"], serde_json::json!([other.pin()]));
    assert!(printed["refused"].as_str().unwrap().contains(&other.pin()), "{printed}");
}

#[test]
fn a_cluster_that_forbids_is_not_called_unreached_and_is_named_once() {
    let cluster = Cluster::new();
    let machine = joined(&cluster);
    let stage = Stage::answers(&cluster.authority, "403 Forbidden", "", "{}".to_owned());
    cluster.tap.lead_to(stage.port);
    let said = refusal("403", &machine.discover(&["--refresh", "--timeout", ANSWERED]).output().unwrap());
    let start = "the cluster did not return its cluster-info; the saved cluster is unchanged: \
                 the API server does not allow anonymous clients to read cluster-info (403 Forbidden)";
    assert!(said.starts_with(start), "{said}");
    for (server, shown) in [("https://127.0.0.1:9", "SERVER"), ("https://127.0.0.1:9/path", "https://SERVER/path")] {
        let nowhere = kubeconfig(server, &cluster.authority.pem());
        let file = machine.file("cluster.yaml", nowhere.as_bytes()).display().to_string();
        let words = ["--discovery-file", &file, "--store", "--timeout", "500ms"];
        let said = refusal("nowhere", &machine.discover(&words).output().unwrap());
        assert_eq!(said.matches(shown).count(), 1, "{said}");
    }
}

/// A file may be brought for a cluster that shows its cluster-info to nobody.
#[test]
fn a_cluster_that_forbids_takes_the_place_of_another_if_its_roots_were_brought() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    let machine = joined(&cluster);
    let stage = Stage::answers(&other.authority, "403 Forbidden", "", "{}".to_owned());
    other.tap.lead_to(stage.port);
    let file = machine.file("cluster.yaml", other.kubeconfig().as_bytes()).display().to_string();
    let words = ["--discovery-file", &file, "--store", "--accept-unpinned-roots"];
    let output = machine.discover(&words).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let kept: serde_json::Value = serde_json::from_slice(&machine.kept().unwrap()).unwrap();
    assert_eq!((&kept["pins"][0], &kept["proof"]["method"]), (&other.pin().into(), &"agreed".into()));
}

#[test]
fn the_same_cluster_stored_again_without_a_pin_stays_proven_by_its_pin() {
    let cluster = Cluster::new();
    let machine = joined(&cluster);
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let place = cluster.tap.place();
    let skip = "--discovery-token-unsafe-skip-ca-verification";
    let output = machine.discover(&[&place, "--token", super::stage::TOKEN, skip, "--store"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("warning"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("by the CA pin {}", cluster.pin())));
}

#[test]
fn a_machine_that_cannot_keep_a_cluster_asks_nobody() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let mut nowhere = by_token(&machine, &cluster, "10m");
    fs::remove_dir_all(machine.path()).unwrap();
    assert!(wrong_input("no root", &nowhere.output().unwrap()).contains("the directory does not exist"));
    fs::create_dir(machine.path()).unwrap();
    fs::write(machine.path().join("var"), "").unwrap();
    let said = refusal("no directory", &by_token(&machine, &cluster, "10m").output().unwrap());
    assert!(said.contains("is not a directory"), "{said}");
    assert_eq!(cluster.tap.passed().concat(), b"");
}

/// Root may write everywhere, so that somebody else has to try.
#[test]
fn whoever_may_not_write_asks_nobody() {
    let (cluster, machine) = (Cluster::new(), Machine::new());
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let program = machine.path().join("machineadm");
    // Not by us: a file that some other test's fork still holds open for writing can't be run.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_machineadm")).arg(&program).status().unwrap();
    assert!(copied.success());
    fs::set_permissions(&program, fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(machine.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = Command::new(&program);
    command.args(by_token(&machine, &cluster, "10m").get_args());
    if fs::write(machine.path().join("probe"), "").is_ok() {
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    fs::set_permissions(machine.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(refusal("not allowed", &output).contains("Permission denied"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("remedy: run as root"), "{output:?}");
    assert_eq!(cluster.tap.passed().concat(), b"");
}
