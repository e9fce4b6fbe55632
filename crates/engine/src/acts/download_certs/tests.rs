//! The download on a machine in memory: what it writes, what stops it, and power lost anywhere.
use super::*;
use crate::{
    Cluster, ContainerRuntime, Download, Downloads, Facts, NodeWait, Patience, ServerVersion, Unanswered, Wanted,
    pem_set::PemSet,
};
use certs::{Etcd, ExternalEtcd, FileName, Found};
use discovery::{ClusterInfo, Method};
use host::{DirectoryState, Draft, Memory};
use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
const KUBECONFIG: &[u8] = b"the discovered cluster, with a bootstrap token";
const PKI: &str = "/etc/kubernetes/pki";

/// A cluster with a certificates copy, which checks what it is asked. It decrypts nothing.
struct FakeCluster {
    files: FileSet,
    directory: &'static str,
    found: BTreeMap<FileName, Found>,
    downloads: Cell<usize>,
}

/// Nobody asks it.
struct NoRuntime;

impl ContainerRuntime for NoRuntime {
    fn ask(&self, _: &str, _: &Patience<'_>) -> cri::Result<cri::RuntimeReport> {
        panic!("certificates need no container runtime")
    }
}

/// Nothing may be fetched.
struct NoDownloads;

impl Downloads for NoDownloads {
    fn receive(&self, download: &Download<'_>, _: &mut dyn Draft) -> host::Result<()> {
        panic!("nothing here fetches {}", download.name)
    }
}

impl Cluster for FakeCluster {
    fn has(&self, _: &[u8], _: &[&str], _: &Patience<'_>) -> Result<bool, Unanswered> {
        panic!("a download needs no other objects")
    }

    fn networks(&self, _: &[u8], _: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        panic!("a download asks for nothing else")
    }

    fn delete(&self, _: &[u8], _: &str, _: &Patience<'_>) -> Result<(), Unanswered> {
        panic!("a download asks for nothing else")
    }

    fn discover(&self, _: &Method, _: Duration) -> Result<ClusterInfo, crate::PlanError> {
        panic!("the cluster was discovered before")
    }

    fn version(&self, _: &[u8], _: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        panic!("nothing here discovers a cluster")
    }

    fn wait_for_node(&self, _: &[u8], _: &NodeWait<'_>) -> Result<(), Unanswered> {
        panic!("a download waits for no Node")
    }

    fn live_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered> {
        panic!("after two hours there is nothing to compare with")
    }

    fn upload_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: BTreeMap<FileName, Found>,
    ) -> Result<(), crate::PlanError> {
        panic!("a joining machine uploads nothing")
    }

    fn download_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        roots: &CaBundle,
    ) -> Result<CertificateSet, crate::PlanError> {
        assert_eq!((kubeconfig, copy.key.expose_digits().as_str()), (KUBECONFIG, KEY));
        assert_eq!((copy.directory, copy.files), (Path::new(self.directory), &self.files));
        self.downloads.set(self.downloads.get() + 1);
        Ok(check_download(copy.files, self.found.clone(), roots, Timestamp::now()).expect("the cluster's own set"))
    }
}

/// A cluster, and the act of a machine that has discovered it.
fn cluster(set: &PemSet) -> (DownloadCerts, FakeCluster) {
    cluster_of(set, FileSet::new(&Etcd::Stacked), set.found())
}

fn cluster_of(set: &PemSet, files: FileSet, found: BTreeMap<FileName, Found>) -> (DownloadCerts, FakeCluster) {
    let (kubeconfig, key) = (Secret::new(KUBECONFIG.to_vec()), KEY.parse().unwrap());
    let (roots, directory) = (set.ca(), PKI.into());
    let source = CopySource { kubeconfig, roots, directory, files: files.clone() };
    let act = DownloadCerts { key: Some(key), source: Some(source) };
    (act, FakeCluster { files, directory: PKI, found, downloads: Cell::new(0) })
}

fn effect(act: &DownloadCerts, host: &Memory, cluster: &FakeCluster) -> Effect {
    let (wanted, facts, named) = (Wanted::of(Vec::new()), Facts::default(), BTreeSet::new());
    act.effect(&Look::now(&wanted, host, cluster, &facts, &named)).unwrap()
}

fn run(act: &DownloadCerts, host: &mut Memory, cluster: &FakeCluster) -> Result<(), String> {
    let world = &mut World { host, cluster, runtime: &NoRuntime, downloads: &NoDownloads, patience: Duration::ZERO };
    act.run(world).map_err(|error| error.to_string())
}

/// A machine that has these files of a set.
fn with(set: &PemSet, is_there: impl Fn(&str) -> bool) -> Memory {
    let files = set.on_a_node(PKI).into_iter().filter(|(path, _)| is_there(path));
    Memory { files: files.collect(), ..Memory::default() }
}

#[test]
fn a_download_writes_every_file_with_its_mode_and_is_done_then() {
    let set = PemSet::new();
    let (act, cluster) = cluster(&set);
    let mut host = Memory::default();
    assert_eq!(effect(&act, &host, &cluster), Effect::Absent);
    run(&act, &mut host, &cluster).unwrap();
    assert_eq!(host.files, set.on_a_node(PKI));
    assert_eq!(host.files.len(), 8);
    assert_eq!((effect(&act, &host, &cluster), cluster.downloads.get()), (Effect::Done, 1));
}

#[test]
fn a_machine_that_lacks_a_file_or_has_another_mode_is_completed() {
    let set = PemSet::new();
    let (act, cluster) = cluster(&set);
    for path in set.on_a_node(PKI).into_keys() {
        let mut host = with(&set, |there| there != path);
        assert_eq!(effect(&act, &host, &cluster), Effect::Absent, "{path} is missing");
        run(&act, &mut host, &cluster).unwrap();
        assert_eq!(host.files, set.on_a_node(PKI), "{path} was missing");
        host.files.get_mut(&path).unwrap().mode = 0o666;
        assert_eq!(effect(&act, &host, &cluster), Effect::Absent, "{path} has another mode");
        run(&act, &mut host, &cluster).unwrap();
        assert_eq!(host.files, set.on_a_node(PKI), "{path} had another mode");
        assert_eq!(effect(&act, &host, &cluster), Effect::Done);
    }
}

#[test]
fn files_of_another_cluster_are_not_taken_for_this_one_and_not_overwritten() {
    let (set, other) = (PemSet::new(), PemSet::new());
    let (act, cluster) = cluster(&set);
    let mut host = with(&other, |_| true);
    assert_eq!(effect(&act, &host, &cluster), Effect::Absent);
    let why = run(&act, &mut host, &cluster).unwrap_err();
    assert!(other.on_a_node(PKI).keys().all(|path| why.contains(&format!("{path} exists with other content"))));
    assert_eq!(host.files, other.on_a_node(PKI));
    // One file is enough, also where all others are missing.
    let key = format!("{PKI}/etcd/ca.key");
    let mut host = with(&other, |path| path == key);
    let why = run(&act, &mut host, &cluster).unwrap_err();
    assert!(why.contains(&format!("{key} exists with other content")), "{why}");
    assert_eq!(host.files.len(), 1);
}

#[test]
fn what_is_in_the_way_is_named_and_nothing_is_written() {
    type Case = (fn(&mut Memory), &'static str);
    let cases: [Case; 9] = [
        (
            |host| drop(host.links.insert(format!("{PKI}/ca.key"), "/tmp/x".into())),
            "/etc/kubernetes/pki/ca.key is a symbolic link, not a regular file",
        ),
        (
            |host| drop(host.links.insert(format!("{PKI}/etcd"), "/tmp/x".into())),
            "/etc/kubernetes/pki/etcd is a symbolic link, not a directory",
        ),
        (
            |host| drop(host.links.insert(PKI.into(), "/tmp/x".into())),
            "/etc/kubernetes/pki is a symbolic link, not a directory",
        ),
        (
            |host| host.directories.extend([(format!("{PKI}/sa.pub"), directory(0o755))]),
            "/etc/kubernetes/pki/sa.pub is a directory, not a regular file",
        ),
        (
            |host| host.directories.extend([(PKI.into(), directory(0o777))]),
            "/etc/kubernetes/pki has mode 0777: other users can write it",
        ),
        (
            |host| host.directories.extend([(format!("{PKI}/etcd"), directory(0o775))]),
            "/etc/kubernetes/pki/etcd has mode 0775: other users can write it",
        ),
        (
            |host| host.directories.extend([(PKI.into(), DirectoryState { uid: 1000, ..directory(0o755) })]),
            "/etc/kubernetes/pki is owned by user 1000, who can replace its files",
        ),
        (
            |host| host.directories.extend([(format!("{PKI}/etcd"), DirectoryState { uid: 1000, ..directory(0o700) })]),
            "/etc/kubernetes/pki/etcd is owned by user 1000, who can replace its files",
        ),
        (
            |host| {
                let (contents, mode) = (Secret::new(Vec::new()), 0o600);
                let file = host::FileState { contents, mode, uid: 0, gid: 0 };
                host.files.insert("/etc/kubernetes/manifests/kube-apiserver.yaml".into(), file);
            },
            "a control plane runs on this machine",
        ),
    ];
    let set = PemSet::new();
    let (act, cluster) = cluster(&set);
    for (change, reason) in cases {
        let mut host = Memory::default();
        change(&mut host);
        let before = host.clone();
        assert_eq!(effect(&act, &host, &cluster), Effect::Absent, "{reason}");
        let why = run(&act, &mut host, &cluster).unwrap_err();
        assert!(why.contains(reason), "{why}");
        assert_eq!(host, before, "{reason}");
    }
}

fn directory(mode: u32) -> DirectoryState {
    DirectoryState { mode, uid: 0, gid: 0 }
}

#[test]
fn a_node_that_runs_with_the_whole_set_is_done() {
    let set = PemSet::new();
    let (act, cluster) = cluster(&set);
    let mut host = with(&set, |_| true);
    let file = host.files.values().next().cloned().unwrap();
    host.files.insert("/etc/kubernetes/manifests/kube-apiserver.yaml".into(), file);
    assert_eq!(effect(&act, &host, &cluster), Effect::Done);
}

#[test]
fn power_lost_after_any_change_leaves_no_file_or_all_of_them() {
    let set = PemSet::new();
    let (act, cluster) = cluster(&set);
    let mut cuts = 0;
    for power in 0.. {
        let mut host = Memory { power: Some(power), ..Memory::default() };
        let ended = run(&act, &mut host, &cluster);
        let expected = if ended.is_ok() { set.on_a_node(PKI) } else { BTreeMap::new() };
        assert_eq!(host.files, expected, "after {power} changes");
        host.power = None;
        run(&act, &mut host, &cluster).unwrap();
        assert_eq!(effect(&act, &host, &cluster), Effect::Done, "after {power} changes");
        if ended.is_ok() {
            break;
        }
        cuts += 1;
    }
    assert_eq!(cuts, 1, "all files are one change");
}

/// However the configuration spells the directory, its files are written at once and links in it are not followed.
#[test]
fn a_directory_is_the_same_however_its_path_is_written() {
    let set = PemSet::new();
    for spelled in ["/etc/kubernetes/pki/", "/etc//kubernetes/./pki", "/etc/kubernetes/pki//."] {
        let (act, mut cluster) = cluster(&set);
        let source = act.source.map(|source| CopySource { directory: spelled.into(), ..source });
        let act = DownloadCerts { key: act.key, source };
        cluster.directory = spelled;
        let mut host = Memory { power: Some(1), ..Memory::default() };
        run(&act, &mut host, &cluster).unwrap();
        assert_eq!(host.files, set.on_a_node(PKI), "{spelled}: all files are one change");
        assert_eq!(effect(&act, &host, &cluster), Effect::Done, "{spelled}");
        let mut host = Memory::default();
        host.links.insert(format!("{PKI}/etcd"), "/tmp/x".into());
        let why = run(&act, &mut host, &cluster).unwrap_err();
        assert!(why.contains("/etc/kubernetes/pki/etcd is a symbolic link, not a directory"), "{spelled}: {why}");
    }
}

/// Files of external etcd lie elsewhere, so that they are not written at once with the others: they come first.
#[test]
fn with_external_etcd_power_lost_after_any_change_is_not_taken_for_done_and_the_next_run_completes() {
    let set = PemSet::new();
    let [ca_file, cert_file, key_file] = ["ca.crt", "client.crt", "client.key"].map(|name| format!("/etc/etcd/{name}"));
    let [ca, cert, key] = [&ca_file, &cert_file, &key_file].map(|path| Some(path.into()));
    let files = FileSet::new(&Etcd::External(ExternalEtcd { ca_file: ca, cert_file: cert, key_file: key }));
    let mut found = set.found();
    for (of_etcd, stacked) in [
        (FileName::ExternalEtcdCaCertificate, FileName::EtcdCaCertificate),
        (FileName::ExternalEtcdCertificate, FileName::EtcdCaCertificate),
        (FileName::ExternalEtcdKey, FileName::EtcdCaKey),
    ] {
        found.insert(of_etcd, found[&stacked].clone());
    }
    let (act, cluster) = cluster_of(&set, files, found);
    // Nothing of the set is written where another user could exchange a part of it.
    for state in [directory(0o777), DirectoryState { uid: 1000, ..directory(0o755) }] {
        let mut host = Memory::default();
        host.directories.insert("/etc/etcd".into(), state);
        let why = run(&act, &mut host, &cluster).unwrap_err();
        assert!(why.contains("/etc/etcd ") && host.files.is_empty(), "{why}");
    }
    let mut whole = Memory::default();
    run(&act, &mut whole, &cluster).unwrap();
    let modes = [ca_file, cert_file, key_file].map(|path| whole.files[&path].mode);
    assert_eq!((whole.files.len(), modes), (9, [0o644, 0o644, 0o600]));
    for power in 0..4 {
        let mut host = Memory { power: Some(power), ..Memory::default() };
        run(&act, &mut host, &cluster).unwrap_err();
        assert!(!host.files.keys().any(|path| path.starts_with(PKI)), "after {power} changes");
        host.power = None;
        assert_eq!(effect(&act, &host, &cluster), Effect::Absent, "after {power} changes");
        run(&act, &mut host, &cluster).unwrap();
        assert_eq!(host.files, whole.files, "after {power} changes");
        assert_eq!(effect(&act, &host, &cluster), Effect::Done, "after {power} changes");
    }
}

#[test]
fn one_path_for_two_files_is_refused_before_any_of_them_is_written() {
    let set = PemSet::new();
    let [ca_file, cert_file, key_file] =
        ["/etc/etcd/ca.crt", "/etc/etcd/client.crt", "/etc/kubernetes/pki/ca.key"].map(|path| Some(path.into()));
    let files = FileSet::new(&Etcd::External(ExternalEtcd { ca_file, cert_file, key_file }));
    let mut found = set.found();
    for (of_etcd, shared) in [
        (FileName::ExternalEtcdCaCertificate, FileName::CaCertificate),
        (FileName::ExternalEtcdCertificate, FileName::CaCertificate),
        (FileName::ExternalEtcdKey, FileName::CaKey),
    ] {
        found.insert(of_etcd, found[&shared].clone());
    }
    let (act, cluster) = cluster_of(&set, files, found);
    let mut host = Memory::default();
    let why = run(&act, &mut host, &cluster).unwrap_err();
    assert!(why.contains("/etc/kubernetes/pki/ca.key is the path of two files") && host.files.is_empty(), "{why}");
}

#[test]
fn a_download_shows_nothing_secret() {
    let set = PemSet::new();
    let (act, cluster) = cluster(&set);
    let shown = format!("{act:?} {} {} {}", act.name(), act.id(), act.shows());
    assert!(!shown.contains(&KEY[..16]) && !shown.contains("bootstrap token"), "{shown}");
    assert_eq!(act.shows(), "8 files in /etc/kubernetes/pki");
    let mut host = with(&PemSet::new(), |_| true);
    let why = run(&act, &mut host, &cluster).unwrap_err();
    assert!(set.private_keys().flat_map(str::lines).all(|line| line.len() < 20 || !why.contains(line)), "{why}");
}

#[test]
fn a_plan_that_knows_no_cluster_shows_the_download_and_cannot_run_it() {
    let act = DownloadCerts { key: Some(KEY.parse().unwrap()), source: None };
    let (_, cluster) = cluster(&PemSet::new());
    let mut host = Memory::default();
    assert_eq!((effect(&act, &host, &cluster), act.shows().as_str()), (Effect::Absent, "from the cluster"));
    assert!(run(&act, &mut host, &cluster).unwrap_err().contains("was not discovered"));
    assert_eq!((host.files.len(), cluster.downloads.get()), (0, 0));
}
