//! A reset of a machine whose kubeadm is not installed any more.
use crate::{
    etcd_machine::{FakeEtcd, machine},
    reset::{node, request, reset_as},
};
use machineadm_engine::{ResetError, ResetPlan};

/// An operator has uninstalled it: its part of the reset would fail.
#[test]
fn a_member_is_not_removed_where_kubeadm_is_not_installed() {
    let (mut host, cluster) = (node(), FakeEtcd::with(&[1, 2, 3]));
    host.resources.missing_programs.insert("kubeadm".into());
    let before = host.clone();
    let error = reset_as(&request(), &mut host, &cluster).unwrap_err();
    assert!(matches!(error, ResetError::NoKubeadm), "{error}");
    assert_eq!((host.files == before.files, cluster.numbers()), (true, vec![1, 2, 3]));
    // A machine that is no node needs none.
    let mut plain = machine();
    plain.resources.missing_programs.insert("kubeadm".into());
    assert!(ResetPlan::new(&request(), &plain, &cluster).unwrap().is_empty());
}
