//! The data of etcd in another directory than kubeadm's own: it is known also where a power cut has emptied the manifest
//! that names it.
use crate::{
    etcd_machine::{self, DATA, FakeEtcd, machine, run},
    reset::{lines, request, reset_as},
    started_init::{FINISHED, UNDONE, calls},
    support::{FORWARDING, file, has, left, text_of, wanted},
};
use host::{Memory, Played};
use machineadm_engine::{ResetError, Wanted};

/// The data of the etcd of these tests.
const ELSEWHERE: &str = "/srv/etcd/member/snap/db";

fn documents() -> Wanted {
    wanted(&[FORWARDING, ("InitConfig", "", "{kubernetesVersion: v1.36.4, etcd: {dataDirectory: /srv/etcd}}")])
}

/// What `kubeadm init` writes then.
fn init() -> Vec<Played> {
    let moved = |one: Played| match one {
        Played::Write(path, text) if path == DATA => Played::Write(ELSEWHERE.into(), text),
        Played::Write(path, text) => Played::Write(path, text.replace("/var/lib/etcd", "/srv/etcd")),
        other => other,
    };
    etcd_machine::init().into_iter().map(moved).collect()
}

#[test]
fn data_of_etcd_in_another_directory_keeps_a_cluster_whose_manifest_is_empty() {
    let wanted = documents();
    let unfinished = || {
        let mut host = machine();
        host.programs.insert("kubeadm init".into(), init().into_iter().chain([Played::Fail]).collect());
        run(&wanted, &mut host, &FakeEtcd::with(&[1])).unwrap_err();
        host.programs.insert("kubeadm init".into(), init());
        host.log.clear();
        host
    };
    for manifest in [Some(file("")), None] {
        let mut host = unfinished();
        host.files.remove("/etc/kubernetes/manifests/etcd.yaml");
        host.files.extend(manifest.map(|empty| ("/etc/kubernetes/manifests/etcd.yaml".to_owned(), empty)));
        run(&wanted, &mut host, &FakeEtcd::silent()).unwrap();
        assert_eq!(calls(&host), FINISHED);
        assert!(has(&host, ELSEWHERE), "the data of a cluster that others may have joined was deleted");
    }
    // Data of another etcd in kubeadm's own directory is none of this cluster's.
    let mut host = unfinished();
    host.files.remove(ELSEWHERE);
    host.files.insert("/etc/kubernetes/manifests/etcd.yaml".into(), file(""));
    host.files.insert(DATA.into(), file("of another etcd"));
    run(&wanted, &mut host, &FakeEtcd::silent()).unwrap();
    assert_eq!(calls(&host), UNDONE);
    assert_eq!(text_of(&host, DATA), "of another etcd");
}

/// An argument of etcd replaces the directory, which stays empty but for what the argument names.
#[test]
fn data_in_the_directory_of_an_argument_is_known_and_its_directory_goes_with_it() {
    let spec = "{kubernetesVersion: v1.36.4, etcd: {arguments: {data-dir: /var/lib/etcd/data}}}";
    let documents = wanted(&[FORWARDING, ("InitConfig", "", spec)]);
    let (manifest, data) = ("/etc/kubernetes/manifests/etcd.yaml", "/var/lib/etcd/data/member/snap/db");
    let written = || {
        etcd_machine::init().into_iter().map(|one| match one {
            Played::Write(path, text) if path == DATA => Played::Write(data.into(), text),
            Played::Write(path, text) => Played::Write(path, text.replace("/var/lib/etcd", "/var/lib/etcd/data")),
            other => other,
        })
    };
    let unfinished = || {
        let mut host = machine();
        host.programs.insert("kubeadm init".into(), written().chain([Played::Fail]).collect());
        run(&documents, &mut host, &FakeEtcd::with(&[1])).unwrap_err();
        host.programs.insert("kubeadm init".into(), written().collect());
        host.log.clear();
        host
    };
    let mut host = unfinished();
    host.files.insert(manifest.into(), file(""));
    run(&documents, &mut host, &FakeEtcd::silent()).unwrap();
    assert_eq!(calls(&host), FINISHED);
    assert!(has(&host, data), "the data of a cluster that others may have joined was deleted");
    let mut host = unfinished();
    reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    // kubeadm refuses a directory that is not empty.
    assert!(!has(&host, "/var/lib/etcd/data") && !has(&host, "/var/lib/etcd"), "{:?}", host.directories.keys());
}

#[test]
fn data_in_another_directory_is_not_taken_for_none_without_a_manifest_that_can_be_read() {
    let elsewhere = || {
        let mut host = machine();
        host.programs.insert("kubeadm init".into(), init());
        host
    };
    let mut host = elsewhere();
    run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    host.files.insert("/etc/kubernetes/manifests/etcd.yaml".into(), file(""));
    host.address = Some("10.50.0.1".parse().unwrap());
    let before = host.clone();
    let error = reset_as(&request(), &mut host, &FakeEtcd::silent()).unwrap_err();
    assert!(matches!(error, ResetError::MemberUnknown(_)), "{error}");
    assert_eq!(host, before);
    let shown = lines(&request(), &host, &FakeEtcd::with(&[1, 2, 3]));
    assert!(shown.iter().any(|line| line == "delete /srv/etcd/member/"), "{shown:?}");
    reset_as(&request(), &mut host, &FakeEtcd::with(&[1, 2, 3])).unwrap();
    assert_eq!(left(&host), left(&Memory { address: host.address, ..elsewhere() }));
}
