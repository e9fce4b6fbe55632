//! A change after another one: what the earlier one left is neither taken for the new one's, nor overwritten.
use super::{
    auditing, change,
    fake::{FakeControlPlane, MANIFEST, RECORD, node},
};
use crate::support::{file, text_of};
use host::Memory;
use machineadm_engine::Wanted;

/// A machine whose power was cut when the new manifest was written, and its cluster.
fn cut_with_new_manifest(wanted: &Wanted) -> (Memory, FakeControlPlane) {
    for power in 0.. {
        let (mut host, cluster) = (Memory { power: Some(power), ..node() }, FakeControlPlane::new());
        change(wanted, &mut host, &cluster).expect_err("a cut after the new manifest, with a record");
        if host.files.contains_key(RECORD) && text_of(&host, MANIFEST).contains("goaway-chance") {
            return (Memory { power: None, ..host }, cluster);
        }
    }
    unreachable!("one of the changes writes the manifest")
}

#[test]
fn the_pod_of_an_unfinished_change_is_not_the_new_one_of_another_change() {
    let (mut host, cluster) = cut_with_new_manifest(&auditing("Metadata", "0.001"));
    *cluster.running.borrow_mut() = "unfinished".to_owned();
    change(&auditing("Request", "0.002"), &mut host, &cluster).unwrap();
    assert_eq!(cluster.waits.borrow().last().unwrap(), "NoneOf([\"old\", \"unfinished\"])");
    // The same change again waits for that very pod.
    let (mut host, cluster) = cut_with_new_manifest(&auditing("Metadata", "0.001"));
    *cluster.running.borrow_mut() = "unfinished".to_owned();
    change(&auditing("Metadata", "0.001"), &mut host, &cluster).unwrap();
    assert_eq!(cluster.waits.borrow().last().unwrap(), "NoneOf([\"old\"])");
}

/// The kubelet deletes logs minutes after their pod.
#[test]
fn logs_of_an_earlier_pod_do_not_roll_back_a_change() {
    let (mut host, cluster) = (node(), FakeControlPlane::new());
    let directory = "/var/log/pods/kube-system_kube-apiserver-cp1_earlier/kube-apiserver";
    let failure = "2026-11-17T10:00:01Z stderr F E1117 1 run.go:72] \"command failed\" err=\"unknown flag\"\n";
    host.files.insert(format!("{directory}/1.log"), file(failure));
    change(&auditing("Metadata", "0.001"), &mut host, &cluster).unwrap();
    assert!(text_of(&host, MANIFEST).contains("goaway-chance"));
}
