//! `machineadm init` on a whole machine: by flags alone, with its closing message, its token and its certificate key.
use crate::support::machine_search;
use base64::{Engine, prelude::BASE64_STANDARD as BASE64};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::time::Duration;
use testbed::{Bed, Machine, Output, Profile, Result, judges, until};

/// Where the machine has machineadm.
const PROGRAM: &str = "/usr/bin/machineadm";
/// How long it may take.
const LIMIT: Duration = Duration::from_secs(600);
const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
/// What every init here is told: the machine has control groups of version 1, and nothing here needs addons.
const FLAGS: &str = "--patches /srv/patches --ignore-preflight-errors SystemVerification --skip-phases addon";
const KUBELET: &str = "\
cgroupDriver: cgroupfs
failCgroupV1: false
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
";

#[test]
fn a_cluster_is_created_by_flags_and_says_how_machines_join_it() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let bed = Bed::new()?;
    let machine = bed.machine("cp1", &Profile::node())?;
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    machine.boot()?;
    machine.write("/srv/patches/kubeletconfiguration+merge.yaml", KUBELET, 0o644)?;
    machine.write("/srv/key", format!("{KEY}\n"), 0o600)?;
    machine.write("/srv/token", format!("{TOKEN}\n"), 0o600)?;
    machine.shell("sysctl -w net.ipv4.ip_forward=1")?;

    machine_search::sample(&machine)?;
    let given = format!(
        "{FLAGS} --control-plane-endpoint {} --token-file /srv/token --token-ttl 2h --skip-token-print --upload-certs \
         --certificate-key-file - --skip-certificate-key-print",
        machine.address()
    );
    let before = Timestamp::now();
    let created = init(&machine, &format!("{given} < /srv/key"))?;
    the_closing_message_invites(&machine, &created.stdout)?;
    the_token_has_both_usages_and_its_time(&machine, before)?;
    assert_eq!(machine_search::holders(&machine, &[KEY], PROGRAM)?, ["/srv/key"], "the key is nowhere else");

    a_second_run_shows_no_token_that_was_never_created(&machine, &given)?;
    deleted_certificates_are_uploaded_again_in_mode_post(&machine, &given)?;
    a_new_key_is_printed_and_decrypts(&machine, &given)?;

    machine.check(&["kubeadm", "reset", "--force"])?;
    without_a_token_and_with_directories_of_its_own(&machine)?;
    bed.down()
}

fn init(machine: &Machine, words: &str) -> Result<Output> {
    let ran = machine.run_within(&["sh", "-c", &format!("{PROGRAM} init {words}")], LIMIT)?;
    let kubelet = || machine.shell("journalctl --no-pager --unit=kubelet --lines=30").unwrap_or_default();
    assert_eq!(ran.code, 0, "{}\n{}\n{}", ran.stdout, ran.stderr, kubelet());
    Ok(ran)
}

/// The CA pin of a certificate, by a real openssl.
fn pin(machine: &Machine, certificate: &str) -> Result<String> {
    let folder = tempfile::tempdir().expect("a directory");
    let copy = folder.path().join("ca.crt");
    machine.copy_out(certificate, &copy)?;
    judges::command("openssl").expect("openssl is there");
    let script = "openssl x509 -pubkey -noout -in \"$0\" | openssl pkey -pubin -outform der | openssl dgst -sha256 -r";
    let output = std::process::Command::new("sh").args(["-ec", script]).arg(&copy).output().expect("a shell");
    let digest = String::from_utf8(output.stdout).expect("text");
    Ok(format!("sha256:{}", digest.split_whitespace().next().expect("a digest")))
}

/// Both join commands without their secrets, and what these risk.
fn the_closing_message_invites(machine: &Machine, said: &str) -> Result<()> {
    let (endpoint, pin) = (format!("{}:6443", machine.address()), pin(machine, "/etc/kubernetes/pki/ca.crt")?);
    let commands: Vec<&str> = said.lines().filter(|line| line.starts_with("  machineadm join ")).collect();
    let [control_plane, worker] = commands[..] else { panic!("{said}") };
    let common = format!("  machineadm join {endpoint} --token <value withheld> --discovery-token-ca-cert-hash {pin}");
    assert_eq!(worker, common, "{said}");
    assert_eq!(control_plane, format!("{common} --control-plane --certificate-key <value withheld>"), "{said}");
    let (id, half) = TOKEN.split_once('.').expect("a token");
    assert!(!said.contains(KEY) && !said.contains(half), "{said}");
    for text in [
        "export KUBECONFIG=/etc/kubernetes/admin.conf",
        "The cluster deletes the uploaded certificates after two hours. Until then anyone who has the certificate key",
        "machineadm init phase upload-certs --upload-certs",
        "UTC anyone who has this token can join this cluster as a node",
        &format!("machineadm token delete {id}"),
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    Ok(())
}

fn the_token_has_both_usages_and_its_time(machine: &Machine, before: Timestamp) -> Result<()> {
    let (id, half) = TOKEN.split_once('.').expect("a token");
    let secret =
        machine.kubectl_json(&["--namespace=kube-system", "get", "secret", &format!("bootstrap-token-{id}")])?;
    let entry = |name: &str| {
        let bytes = BASE64.decode(secret["data"][name].as_str().unwrap_or_default()).expect("base64");
        String::from_utf8(bytes).expect("text")
    };
    assert_eq!(entry("token-secret"), half);
    assert_eq!(
        (entry("usage-bootstrap-signing"), entry("usage-bootstrap-authentication")),
        ("true".into(), "true".into())
    );
    assert_eq!(entry("auth-extra-groups"), "system:bootstrappers:kubeadm:default-node-token");
    let expires: Timestamp = entry("expiration").parse().expect("a time");
    let two_hours = SignedDuration::from_hours(2);
    let (earliest, latest) = (before + two_hours - SignedDuration::from_secs(5), Timestamp::now() + two_hours);
    assert!((earliest..=latest).contains(&expires), "{expires}");
    Ok(())
}

fn a_second_run_shows_no_token_that_was_never_created(machine: &Machine, given: &str) -> Result<()> {
    let tokens = || machine.kubectl_json(&["--namespace=kube-system", "get", "secrets"]).map(|list| names(&list));
    let before = tokens()?;
    let again = init(machine, &format!("{given} < /srv/key"))?;
    assert!(again.stdout.starts_with("cp1: provision done, nothing to do\n"), "{}", again.stdout);
    assert!(again.stdout.contains("This run created no bootstrap token."), "{}", again.stdout);
    assert!(again.stdout.contains("machineadm token create --print-join-command"), "{}", again.stdout);
    assert!(!again.stdout.contains("machineadm join"), "{}", again.stdout);
    assert_eq!(tokens()?, before);
    let json: Value =
        serde_json::from_str(&init(machine, &format!("{given} -o json < /srv/key"))?.stdout).expect("JSON");
    let members: Vec<&String> = json["join"].as_object().expect("join").keys().collect();
    assert_eq!(members, ["caPins", "endpoint"], "{json}");
    Ok(())
}

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().expect("a list").iter();
    items.map(|item| item["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
}

/// The same flags as a document, with another key.
fn document(machine: &Machine, given: &str, key: &str, path: &str) -> Result<()> {
    let given = given.replace("--certificate-key-file -", &format!("--certificate-key-file {key}"));
    machine.shell(&format!("umask 077; {PROGRAM} init {given} --print-config > {path}")).map(drop)
}

fn plan(machine: &Machine, path: &str) -> Result<Output> {
    machine.run_within(&[PROGRAM, "plan", "-f", path, "--mode", "post", "--exit-code"], LIMIT)
}

fn deleted_certificates_are_uploaded_again_in_mode_post(machine: &Machine, given: &str) -> Result<()> {
    document(machine, given, "/srv/key", "/srv/node.yaml")?;
    let alive = plan(machine, "/srv/node.yaml")?;
    assert_eq!(alive.code, 0, "{alive:?}");
    machine.check(&[PROGRAM, "certs", "delete"])?;
    let due = plan(machine, "/srv/node.yaml")?;
    assert!(due.code == 3 && due.stdout.contains("upload of certificates"), "{due:?}");
    let post = [PROGRAM, "bootstrap", "-f", "/srv/node.yaml", "--mode", "post"];
    let uploaded = machine.run_within(&post, LIMIT)?;
    assert!(uploaded.code == 0 && uploaded.stdout.contains("1 step"), "{uploaded:?}");
    machine.check(&[
        "kubectl",
        "--kubeconfig=/etc/kubernetes/admin.conf",
        "-n",
        "kube-system",
        "get",
        "secret",
        "kubeadm-certs",
    ])?;
    let again = machine.run_within(&post, LIMIT)?;
    assert!(again.code == 0 && again.stdout.contains("nothing to do"), "{again:?}");
    Ok(())
}

fn a_new_key_is_printed_and_decrypts(machine: &Machine, given: &str) -> Result<()> {
    let skipped = machine.run(&[PROGRAM, "init", "phase", "upload-certs"])?;
    assert_eq!((skipped.code, skipped.stdout.as_str()), (0, ""), "{skipped:?}");
    let words = [PROGRAM, "init", "phase", "upload-certs", "--upload-certs"];
    let uploaded = machine.run_within(&words, LIMIT)?;
    let key = uploaded.stdout.trim_end();
    assert!(uploaded.code == 0 && key.len() == 64 && key != KEY, "{uploaded:?}");
    assert!(uploaded.stderr.contains("anyone who has this certificate key"), "{uploaded:?}");
    machine.write("/srv/new-key", &uploaded.stdout, 0o600)?;
    document(machine, given, "/srv/new-key", "/srv/new.yaml")?;
    // Under the new key the cluster has this node's files, under the old one it does not.
    let (new, old) = (plan(machine, "/srv/new.yaml")?, plan(machine, "/srv/node.yaml")?);
    assert_eq!((new.code, old.code), (0, 3), "{new:?}\n{old:?}");
    Ok(())
}

/// A loop on the machine itself waits until kubeadm has written the administrator's kubeconfig.
fn killed_before_the_api_server_runs(machine: &Machine, given: &str) -> Result<()> {
    let written = "until test -e /etc/kubernetes/admin.conf; do :; done; kill -9 $(pgrep -o -x machineadm)";
    machine.write("/srv/init", format!("#!/bin/sh\nexec {PROGRAM} init {given}\n"), 0o755)?;
    machine.shell(&format!("systemd-run --quiet --unit=killer sh -c '{written}'"))?;
    machine.shell("systemd-run --quiet --unit=killed /srv/init")?;
    until("the kill", LIMIT, || match machine.run(&["systemctl", "is-failed", "killed"]) {
        Ok(output) if output.stdout == "failed\n" => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    until("kubeadm's end with machineadm's", LIMIT, || match machine.run(&["pgrep", "-x", "kubeadm"]) {
        Ok(output) if output.code == 1 => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    let ready = machine.run(&["curl", "-sk", "https://127.0.0.1:6444/readyz"])?;
    assert_ne!(ready.code, 0, "the kill came too late: {ready:?}");
    Ok(())
}

fn without_a_token_and_with_directories_of_its_own(machine: &Machine) -> Result<()> {
    let given = format!(
        "{FLAGS} --token '' --cert-dir /srv/pki --apiserver-bind-port 6444 --control-plane-endpoint {} --upload-certs",
        machine.address()
    );
    // A CA of the operator's own, beside other files.
    machine.check(&["kubeadm", "init", "phase", "certs", "ca", "--cert-dir", "/srv/pki"])?;
    machine.write("/srv/pki/notes", "the operator's notes", 0o600)?;
    let own = machine.snapshot(&["/srv/pki"])?;
    killed_before_the_api_server_runs(machine, &given)?;
    let json: Value = serde_json::from_str(&init(machine, &format!("{given} -o json"))?.stdout).expect("JSON");
    let deleted: Vec<_> = own.changes(&machine.snapshot(&["/srv/pki"])?);
    assert!(deleted.iter().all(|change| change.starts_with("+ ")), "{deleted:?}");
    let join = &json["join"];
    assert_eq!(join["endpoint"], format!("{}:6444", machine.address()), "{join}");
    assert_eq!(join["caPins"][0], pin(machine, "/srv/pki/ca.crt")?, "{join}");
    assert!(join.get("token").is_none() && join.get("expires").is_none(), "{join}");
    let secrets = names(&machine.kubectl_json(&["--namespace=kube-system", "get", "secrets"])?);
    let usable = machine.check(&[PROGRAM, "token", "list", "--kubeconfig", "/etc/kubernetes/admin.conf"])?;
    assert!(secrets.iter().any(|name| name == "kubeadm-certs"), "{secrets:?}");
    assert!(!usable.contains("authentication") && !usable.contains("signing"), "no token is usable: {usable}");
    // Its one token ends the life of the certificates.
    let tokens = secrets.iter().filter(|name| name.starts_with("bootstrap-token-")).count();
    assert_eq!(tokens, 1, "{secrets:?}");
    // The key decrypts what was uploaded from that directory.
    machine.write("/srv/third-key", join["certificateKey"].as_str().expect("a key"), 0o600)?;
    document(machine, &format!("{given} --certificate-key-file -"), "/srv/third-key", "/srv/third.yaml")?;
    let alive = plan(machine, "/srv/third.yaml")?;
    assert_eq!(alive.code, 0, "{alive:?}");
    // Without --cert-dir: it is known, and real kubeadm, which can ask the cluster for it, does not delete all of it.
    let reset = machine.run_within(&[PROGRAM, "reset", "--force"], LIMIT)?;
    assert_eq!(reset.code, 0, "{reset:?}");
    assert_eq!(own.changes(&machine.snapshot(&["/srv/pki"])?), [""; 0]);
    Ok(())
}
