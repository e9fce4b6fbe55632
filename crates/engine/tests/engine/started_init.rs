//! An init that did not finish: what is seen decides whether it is undone or finished, and a cluster that others may have
//! joined is never deleted. And the record of what existed before kubeadm ran.
use crate::{
    etcd_machine::{DATA, FakeEtcd, documents, init, machine, run},
    support::{FORWARDING, file, has, left, text_of, wanted},
};
use host::{FileState, Host, Inspect, Memory, PathState, Played, Progress};
use machineadm_engine::{PlanError, Unanswered};
use std::collections::BTreeMap;

const RECORD: &str = "/var/lib/machineadm/before-kubeadm.json";

/// What the calls of kubeadm were.
pub(crate) fn calls(host: &Memory) -> Vec<String> {
    let call = |entry: &String| {
        let words = entry.strip_prefix("run kubeadm ")?;
        let is_kept =
            |word: &&str| !word.starts_with("--config") && !word.starts_with("/run") && !word.contains("token");
        Some(words.split(' ').filter(is_kept).collect::<Vec<_>>().join(" "))
    };
    host.log.iter().filter_map(call).collect()
}

/// A machine on which kubeadm was interrupted after so many of its files.
fn interrupted(files: usize, with_data: bool) -> Memory {
    let mut host = machine();
    host.programs.insert("kubeadm init".into(), init()[..files].iter().cloned().chain([Played::Fail]).collect());
    run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap_err();
    if with_data {
        host.files.insert(DATA.into(), file("all of the cluster"));
    }
    host.programs.insert("kubeadm init".into(), init());
    host.log.clear();
    host
}

pub(crate) const UNDONE: [&str; 2] =
    ["reset --force --skip-phases=remove-etcd-member --cri-socket=unix:///run/containerd/containerd.sock", "init"];
pub(crate) const FINISHED: [&str; 1] = ["init --skip-phases=preflight"];
/// The files before the manifest of etcd, that manifest included, and all of them.
const WITH_ETCD: usize = 10;
const ALL: usize = 14;

#[test]
fn what_is_found_decides_what_an_unfinished_init_needs() {
    let unfinished = || FakeEtcd { has_objects: Ok(false), ..FakeEtcd::with(&[1]) };
    let no_api = || FakeEtcd { nodes: Err(Unanswered("refused".into())), ..unfinished() };
    let no_api_and_worker = || FakeEtcd { nodes_in_etcd: Ok(vec!["cp1", "w1"]), ..no_api() };
    let joined = || FakeEtcd { has_objects: Ok(false), ..FakeEtcd::with(&[1, 2]) };
    let worker = || FakeEtcd { nodes: Ok(vec!["cp1", "w1"]), ..unfinished() };
    let only_worker = || FakeEtcd { nodes: Ok(vec!["w1"]), ..unfinished() };
    type Row<'a> = (&'a str, Memory, FakeEtcd, &'a [&'a str]);
    let unreadable = || {
        let mut host = interrupted(ALL, true);
        host.files.insert("/etc/kubernetes/manifests/etcd.yaml".into(), file(""));
        host
    };
    let stopped = || {
        let mut host = interrupted(ALL, true);
        host.files.remove("/etc/kubernetes/manifests/etcd.yaml");
        host
    };
    let rows: [Row<'_>; 13] = [
        ("only certificates", interrupted(2, false), FakeEtcd::silent(), &["init"]),
        ("kubeconfigs, no etcd", interrupted(7, false), FakeEtcd::silent(), &UNDONE),
        ("etcd has never started", interrupted(WITH_ETCD, false), FakeEtcd::silent(), &UNDONE),
        ("etcd alone, no other Node", interrupted(ALL, true), unfinished(), &UNDONE),
        ("etcd alone, no API server", interrupted(ALL, true), no_api(), &UNDONE),
        ("no API server, others are Nodes", interrupted(ALL, true), no_api_and_worker(), &FINISHED),
        ("others are members", interrupted(ALL, true), joined(), &FINISHED),
        ("others are members, files are missing", interrupted(WITH_ETCD, true), joined(), &FINISHED),
        ("others are Nodes", interrupted(ALL, true), worker(), &FINISHED),
        ("another is the only Node", interrupted(ALL, true), only_worker(), &FINISHED),
        ("a power cut has emptied the manifest of etcd", unreadable(), unfinished(), &FINISHED),
        ("the manifest of etcd was moved away", stopped(), FakeEtcd::silent(), &FINISHED),
        ("etcd has data and is silent", interrupted(WITH_ETCD, true), FakeEtcd::silent(), &FINISHED),
    ];
    for (row, mut host, cluster, expected) in rows {
        run(&documents(), &mut host, &cluster).unwrap();
        assert_eq!(calls(&host), expected, "{row}");
        assert_eq!(text_of(&host, "/etc/kubernetes/pki/own.key"), "the operator's key", "{row}");
        assert_eq!(host.progress("kubeadm init").unwrap(), Progress::Ended, "{row}");
        let others = cluster.numbers();
        assert!(others.len() < 2 || has(&host, DATA), "{row}: data of a member with others was deleted");
    }
}

/// kubeadm ignores `skipPhases` of its file beside the flag: so an older kubeadm is told to leave addons out.
#[test]
fn an_init_that_is_finished_creates_no_addon_that_the_cluster_is_created_without() {
    let cluster = FakeEtcd { has_objects: Ok(false), ..FakeEtcd::with(&[1, 2]) };
    for (without, phases) in [
        ("[kubeProxy]", "preflight,addon/kube-proxy"),
        ("[coreDNS, kubeProxy]", "preflight,addon/coredns,addon/kube-proxy"),
    ] {
        let spec = format!("{{kubernetesVersion: v1.36.4, without: {without}}}");
        let mut host = interrupted(ALL, true);
        run(&wanted(&[FORWARDING, ("InitConfig", "", &spec)]), &mut host, &cluster).unwrap();
        assert_eq!(calls(&host), [format!("init --skip-phases={phases}")]);
    }
}

#[test]
fn an_init_that_is_done_needs_nothing_and_one_of_others_is_left_alone() {
    let mut done = interrupted(ALL, true);
    run(&documents(), &mut done, &FakeEtcd::with(&[1])).unwrap();
    assert_eq!(calls(&done), [""; 0]);
    let mut foreign = interrupted(WITH_ETCD, true);
    foreign.note("kubeadm init", Progress::New).unwrap();
    let before = left(&foreign);
    let failure = run(&documents(), &mut foreign, &FakeEtcd::with(&[1])).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::Foreign(_)), "{failure:?}");
    assert!(failure.cause.to_string().contains("run \"machineadm reset\""), "{failure:?}");
    assert_eq!(left(&foreign), before);
    let mut ended = interrupted(WITH_ETCD, true);
    ended.note("kubeadm init", Progress::Ended).unwrap();
    run(&documents(), &mut ended, &FakeEtcd::with(&[1])).unwrap();
    assert_eq!(calls(&ended), [""; 0]);
}

#[test]
fn what_exists_is_recorded_once_before_kubeadm_starts() {
    let mut host = machine();
    host.programs.insert("kubeadm init".into(), vec![init()[3].clone(), Played::Fail]);
    run(&documents(), &mut host, &FakeEtcd::with(&[])).unwrap_err();
    let first = host.files[RECORD].clone();
    assert_eq!((first.mode, first.uid, first.gid), (0o600, 0, 0));
    let record: serde_json::Value = serde_json::from_slice(first.contents.expose()).unwrap();
    let entries = record["entries"].as_object().unwrap();
    let expected = [
        "/etc/kubernetes",
        "/etc/kubernetes/audit.yaml",
        "/etc/kubernetes/manifests",
        "/etc/kubernetes/manifests/own.yaml",
        "/etc/kubernetes/pki",
        "/etc/kubernetes/pki/ca.crt",
        "/etc/kubernetes/pki/link",
        "/etc/kubernetes/pki/own.key",
        "/var/lib/kubelet",
        "/var/lib/kubelet/config.json",
    ];
    assert_eq!(entries.keys().collect::<Vec<_>>(), expected);
    let key = &entries["/etc/kubernetes/pki/own.key"];
    assert_eq!((key["mode"].as_u64(), key["uid"].as_u64()), (Some(0o600), Some(7)));
    run(&documents(), &mut host, &FakeEtcd::with(&[])).unwrap_err();
    assert_eq!(host.files[RECORD], first, "what kubeadm left is not what was there before");
}

#[test]
fn an_init_that_has_ended_and_runs_again_is_recorded_anew_and_a_new_one_keeps_its_record() {
    let mut host = machine();
    run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    let first = host.files[RECORD].clone();
    // An operator has reset the machine by hand, and has a new file.
    host.files.retain(|path, _| !path.starts_with("/etc/kubernetes/") && path != DATA);
    host.files.insert("/etc/kubernetes/new".into(), file("x"));
    let mut again = host.clone();
    run(&documents(), &mut again, &FakeEtcd::with(&[1])).unwrap();
    assert!(text_of(&again, RECORD).contains("/etc/kubernetes/new"));
    host.note("kubeadm init", Progress::New).unwrap();
    run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    assert_eq!(host.files[RECORD], first, "what was written for kubeadm since is not what was there before");
}

#[test]
fn a_file_that_is_too_large_is_recorded_without_its_content() {
    let mut host = machine();
    host.files.insert("/var/lib/kubelet/huge".into(), file(&"x".repeat(5 << 20)));
    run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    let record: serde_json::Value = serde_json::from_slice(host.files[RECORD].contents.expose()).unwrap();
    assert_eq!(record["entries"]["/var/lib/kubelet/huge"]["notCopied"], serde_json::json!({}));
}

#[test]
fn a_damaged_record_stops_a_run_and_shows_nothing_of_its_content() {
    let mut host = interrupted(ALL, true);
    let text = r#"{"version": 1, "isRecorded": "s3cret", "entries": {}}"#;
    host.files.insert(RECORD.into(), FileState { mode: 0o600, ..file(text) });
    let failure = run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap_err();
    assert!(failure.cause.needs_operator(), "{failure:?}");
    let cause = failure.cause.to_string();
    assert!(cause.contains("damaged at line 1") && !cause.contains("s3cret"), "{cause}");
}

#[test]
fn an_undo_that_is_interrupted_anywhere_is_finished_by_the_next_run() {
    let cluster = || FakeEtcd { has_objects: Ok(false), ..FakeEtcd::with(&[1]) };
    let mut whole = interrupted(ALL, true);
    run(&documents(), &mut whole, &cluster()).unwrap();
    assert_eq!(calls(&whole), UNDONE);
    for power in 0.. {
        let mut host = Memory { power: Some(power), ..interrupted(ALL, true) };
        let is_cut = run(&documents(), &mut host, &cluster()).is_err();
        host.power = None;
        // The data goes with the undo: whoever answers afterwards is asked about nothing.
        let after = if has(&host, DATA) { cluster() } else { FakeEtcd::silent() };
        run(&documents(), &mut host, &FakeEtcd { has_objects: Ok(false), ..after }).unwrap();
        // Without an answer, the objects of the cluster are looked for in vain: a last run closes it.
        run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap();
        assert_eq!(left(&host), left(&whole), "power failed after {power} changes");
        assert!(matches!(host.state_at("/etc/kubernetes/pki/link").unwrap(), PathState::Link { .. }));
        if !is_cut {
            assert!(power > 20, "only {power} cuts");
            break;
        }
    }
}

/// An operator's own CA in a directory of its own, beside other files. `kubeadm reset --cert-dir` deletes all of them.
#[test]
fn an_undo_deletes_in_another_certificates_directory_what_kubeadm_wrote_and_nothing_else() {
    let elsewhere =
        || wanted(&[FORWARDING, ("InitConfig", "", "{kubernetesVersion: v1.36.4, certificatesDirectory: /srv/pki}")]);
    let deletes_all = format!("kubeadm {} --cert-dir=/srv/pki", UNDONE[0]);
    let mut host = machine();
    for (path, text) in [("ca.key", "the operator's CA"), ("notes", "the operator's notes"), ("etcd/own", "x")] {
        host.files.insert(format!("/srv/pki/{path}"), file(text));
    }
    let before = host.files.clone();
    let written = ["apiserver.key", "etcd/ca.key"].map(|name| Played::Write(format!("/srv/pki/{name}"), "k".into()));
    let failing: Vec<_> = written.into_iter().chain([init()[4].clone(), Played::Fail]).collect();
    host.programs.insert("kubeadm init".into(), failing);
    host.programs.insert(deletes_all, vec![Played::RemoveBelow("/srv/pki/".into())]);
    run(&elsewhere(), &mut host, &FakeEtcd::silent()).unwrap_err();
    assert!(has(&host, "/srv/pki/apiserver.key") && has(&host, "/srv/pki/etcd/ca.key"));
    host.programs.insert("kubeadm init".into(), init());
    run(&elsewhere(), &mut host, &FakeEtcd::silent()).unwrap();
    let of_operator = |files: &BTreeMap<String, FileState>| {
        files.iter().filter(|(path, _)| path.starts_with("/srv/pki/")).map(|(_, file)| file.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of_operator(&host.files), of_operator(&before));
}

/// Whether others have joined is asked with the certificates of the first try.
#[test]
fn an_init_is_undone_also_if_its_certificates_directory_was_changed_since() {
    let init_in = |directory: &str| {
        let spec = format!("{{kubernetesVersion: v1.36.4, certificatesDirectory: {directory}}}");
        wanted(&[FORWARDING, ("InitConfig", "", &spec)])
    };
    let cluster = || FakeEtcd { has_objects: Ok(false), ..FakeEtcd::with(&[1]) };
    let mut host = machine();
    let moved = init().into_iter().map(|one| match one {
        Played::Write(path, text) => Played::Write(path.replace("/etc/kubernetes/pki/", "/srv/one/"), text),
        other => other,
    });
    host.programs.insert("kubeadm init".into(), moved.chain([Played::Fail]).collect());
    run(&init_in("/srv/one"), &mut host, &cluster()).unwrap_err();
    host.programs.insert("kubeadm init".into(), init());
    host.log.clear();
    run(&init_in("/srv/two"), &mut host, &cluster()).unwrap();
    assert_eq!(calls(&host), UNDONE);
    assert!(!has(&host, "/srv/one"), "{:?}", host.files.keys());
}

#[test]
fn an_init_that_is_done_again_finds_the_files_of_the_present_document() {
    let with = |level: &str| {
        let policy = format!("{{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{{level: {level}}}]}}");
        let mut both = wanted(&[("ControlPlaneConfig", "", &format!("{{audit: {{policy: '{policy}'}}}}"))]);
        both.documents.extend(documents().documents);
        both
    };
    let mut host = machine();
    host.programs.insert("kubeadm init".into(), init().into_iter().chain([Played::Fail]).collect());
    run(&with("None"), &mut host, &FakeEtcd::with(&[1])).unwrap_err();
    assert!(has(&host, "/etc/kubernetes/manifests/kube-apiserver.yaml"));
    host.programs.insert("kubeadm init".into(), init());
    run(&with("Metadata"), &mut host, &FakeEtcd::with(&[1])).unwrap();
    let policy = "/etc/kubernetes/machineadm/audit-policy.yaml";
    assert!(text_of(&host, policy).contains("Metadata"));
}

/// The power failed when the undo had started, and the kubelet has started the cluster again before machineadm.
#[test]
fn a_cluster_that_others_have_joined_since_its_undo_started_is_finished() {
    let others = FakeEtcd { has_objects: Ok(false), ..FakeEtcd::with(&[1, 2]) };
    let worker = FakeEtcd { nodes: Ok(vec!["cp1", "w1"]), has_objects: Ok(false), ..FakeEtcd::with(&[1]) };
    for cluster in [others, worker] {
        let mut host = interrupted(ALL, true);
        let mut record: serde_json::Value = serde_json::from_str(&text_of(&host, RECORD)).unwrap();
        record["reset"] = serde_json::json!({"deleting": {"etcdData": "/var/lib/etcd", "by": "act"}});
        host.files.insert(RECORD.into(), FileState { mode: 0o600, ..file(&record.to_string()) });
        run(&documents(), &mut host, &cluster).unwrap();
        assert_eq!(calls(&host), FINISHED);
        assert!(has(&host, DATA), "the data of a member with others was deleted");
        host.log.clear();
        run(&documents(), &mut host, &FakeEtcd::with(&[1, 2])).unwrap();
        assert_eq!(calls(&host), [""; 0], "the undo is over");
    }
}
