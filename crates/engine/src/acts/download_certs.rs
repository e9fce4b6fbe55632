//! Download of the certificates copy: the files that a joining control plane node shares with the others.
use super::{Act, AfterFailure, Effect, Sort, Undone};
use crate::{
    Look, PlanError, World,
    certificate_files::{self, Existing, Placement},
    fingerprint::Parts,
    look::CertificateCopy,
};
use certs::{CertificateKey, CertificateSet, FileSet, check_download};
use discovery::certificate::CaBundle;
use documents::{Secret, v1alpha1::Repeat};
use jiff::Timestamp;
use std::path::PathBuf;

/// The journal id. A machine joins one cluster.
pub const DOWNLOAD_ID: &str = "download-certs";

/// An interrupted download leaves no file, or all of them.
pub(super) const SORT: Sort = Sort { first_words: DOWNLOAD_ID, left_behind: |_, _| Ok(None) };

/// Reads, decrypts and checks the copy with a bootstrap token's rights, and writes all files at once.
#[derive(Clone, Debug)]
pub struct DownloadCerts {
    /// The discovered cluster, with a bootstrap token as credentials.
    pub kubeconfig: Secret<Vec<u8>>,
    /// The CA certificates by which the cluster was discovered.
    pub roots: CaBundle,
    /// What decrypts the files.
    pub key: CertificateKey,
    /// The certificates directory of the cluster.
    pub directory: PathBuf,
    /// The files that are copied.
    pub files: FileSet,
}

impl DownloadCerts {
    /// The whole set as the machine has it, if it has one of this cluster.
    fn present(&self, look: &Look<'_>) -> Option<CertificateSet> {
        let found = certificate_files::found(look.host, &self.files, &self.directory);
        check_download(&self.files, found, &self.roots, Timestamp::now()).ok()
    }
}

impl Act for DownloadCerts {
    fn name(&self) -> &str {
        "download of certificates"
    }

    fn id(&self) -> String {
        DOWNLOAD_ID.to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// Whether the machine has a whole set that belongs to the discovered cluster, with the right modes. The cluster is
    /// not asked: after two hours it has nothing to compare with.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        let Some(set) = self.present(look) else { return Ok(Effect::Absent) };
        let placement = Placement::of(look.host, &set, &self.directory, Existing::Refused)?;
        let is_so = placement.is_ok_and(|placement| !placement.is_needed());
        Ok(if is_so { Effect::Done } else { Effect::Absent })
    }

    fn run(&self, world: &mut World<'_>) -> host::Result<()> {
        let copy = CertificateCopy { key: &self.key, files: &self.files, directory: &self.directory };
        let set = world.cluster.download_certs(self.kubeconfig.expose(), &copy, &self.roots)?;
        let placement = Placement::of(&*world.host, &set, &self.directory, Existing::Refused)?;
        let placement = placement.map_err(|obstacles| host::Error::Unfit {
            what: "certificates".to_owned(),
            why: obstacles.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            advice: "check which cluster these files belong to, then remove what is in the way".to_owned(),
        })?;
        placement.write(world.host)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Ended
    }

    fn undo(&self, _: &mut World<'_>) -> host::Result<Undone> {
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        format!("{} files in {}", self.files.files().len(), objects::one_line(&self.directory.to_string_lossy()))
    }

    fn compares(&self, parts: &mut Parts) {
        let Self { kubeconfig, roots, key, directory, files } = self;
        let files = certificate_files::compared(files, directory);
        parts.text(DOWNLOAD_ID).bytes(kubeconfig.expose()).bytes(roots.pem()).text(key.expose_digits().as_str());
        parts.list(&files);
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cluster, Facts, NodeWait, Patience, Unanswered, Wanted, pem_set::PemSet};
    use certs::{Etcd, FileName, Found};
    use discovery::{ClusterInfo, Method};
    use host::{DirectoryState, Memory};
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
    struct FakeCluster<'a> {
        set: &'a PemSet,
        downloads: Cell<usize>,
    }

    impl Cluster for FakeCluster<'_> {
        fn has(&self, _: &[u8], _: &[&str], _: &Patience<'_>) -> Result<bool, Unanswered> {
            panic!("a download needs no other objects")
        }

        fn discover(&self, _: &Method, _: Duration) -> host::Result<ClusterInfo> {
            panic!("the cluster was discovered before")
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

        fn upload_certs(&self, _: &[u8], _: &CertificateCopy<'_>, _: BTreeMap<FileName, Found>) -> host::Result<()> {
            panic!("a joining machine uploads nothing")
        }

        fn download_certs(
            &self,
            kubeconfig: &[u8],
            copy: &CertificateCopy<'_>,
            roots: &CaBundle,
        ) -> host::Result<CertificateSet> {
            assert_eq!((kubeconfig, copy.key.expose_digits().as_str()), (KUBECONFIG, KEY));
            assert_eq!((copy.directory, copy.files), (Path::new(PKI), &FileSet::new(&Etcd::Stacked)));
            self.downloads.set(self.downloads.get() + 1);
            Ok(check_download(copy.files, self.set.found(), roots, Timestamp::now()).expect("the cluster's own set"))
        }
    }

    /// A cluster, and the act of a machine that has discovered it.
    fn cluster(set: &PemSet) -> (DownloadCerts, FakeCluster<'_>) {
        let (kubeconfig, key) = (Secret::new(KUBECONFIG.to_vec()), KEY.parse().unwrap());
        let (directory, files) = (PKI.into(), FileSet::new(&Etcd::Stacked));
        let act = DownloadCerts { kubeconfig, roots: set.ca(), key, directory, files };
        (act, FakeCluster { set, downloads: Cell::new(0) })
    }

    fn effect(act: &DownloadCerts, host: &Memory, cluster: &FakeCluster<'_>) -> Effect {
        let (wanted, facts, named) = (Wanted::of(Vec::new()), Facts::default(), BTreeSet::new());
        act.effect(&Look::now(&wanted, host, cluster, &facts, &named)).unwrap()
    }

    fn run(act: &DownloadCerts, host: &mut Memory, cluster: &FakeCluster<'_>) -> Result<(), String> {
        let world = &mut World { host, cluster, patience: Duration::ZERO };
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
        let cases: [Case; 6] = [
            (
                |host| drop(host.links.insert(format!("{PKI}/ca.key"), "/tmp/x".into())),
                "/etc/kubernetes/pki/ca.key is a symbolic link, not a regular file",
            ),
            (
                |host| drop(host.links.insert(format!("{PKI}/etcd"), "/tmp/x".into())),
                "/etc/kubernetes/pki/etcd is a symbolic link, not a directory",
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
}
