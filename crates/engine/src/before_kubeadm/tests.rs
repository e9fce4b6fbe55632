//! What is recorded before kubeadm runs, on real directories.
use super::*;
use host::Linux;
use std::{fs, os::unix::fs::symlink, path::PathBuf};

/// `kubeadm reset` empties the directory that the link leads to.
#[test]
fn what_a_link_in_the_place_of_pki_or_manifests_leads_to_is_recorded() {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join(path);
    for directory in ["etc/kubernetes", "srv/pki/etcd", "srv/manifests"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    fs::write(at("srv/pki/etcd/own.key"), "the operator's key").unwrap();
    fs::write(at("srv/manifests/own.yaml"), "the operator's pod").unwrap();
    symlink("/srv/pki", at("etc/kubernetes/pki")).unwrap();
    symlink("../../srv/manifests", at("etc/kubernetes/manifests")).unwrap();
    let host = Linux::new(root.path(), PathBuf::new(), Box::new(|_| ())).unwrap();
    let record = BeforeKubeadm { entries: entries(found(&host).unwrap(), &host).unwrap(), ..Default::default() };
    let restored: BTreeMap<_, _> = record.restored().collect();
    for (path, text) in [
        ("/etc/kubernetes/pki/etcd/own.key", "the operator's key"),
        ("/etc/kubernetes/manifests/own.yaml", "the operator's pod"),
    ] {
        let Some(PathState::File(file)) = restored.get(path) else { panic!("{path}: {restored:?}") };
        assert_eq!(file.contents.expose(), text.as_bytes());
    }
    assert!(matches!(restored["/etc/kubernetes/pki"], PathState::Link { .. }));
}
