//! A change after another one: what the earlier one left is neither taken for the new one's, nor overwritten.
use super::{
    auditing, change,
    fake::{FakeControlPlane, MANIFEST, RECORD, node, run},
    lines,
};
use crate::support::{file, text_of, wanted};
use documents::Secret;
use host::Memory;
use machineadm_engine::{Manifests, Mode, Prune, Run, Wanted};

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

const POLICY: &str = "/etc/kubernetes/machineadm/audit-policy.yaml";

/// An API server that was started meanwhile has read what others wrote.
#[test]
fn a_file_that_others_have_changed_restarts_the_api_server_each_time() {
    let (mut host, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    change(&wanted, &mut host, &cluster).unwrap();
    let mut manifests = vec![text_of(&host, MANIFEST)];
    for _ in 0..2 {
        let edited = text_of(&host, POLICY).replace("Metadata", "None");
        host.files.get_mut(POLICY).unwrap().contents = Secret::new(edited.into_bytes());
        assert_eq!(lines(&wanted, &host, &cluster), ["change kube-apiserver: 1 file, manifest, restart"]);
        change(&wanted, &mut host, &cluster).unwrap();
        assert!(text_of(&host, POLICY).contains("Metadata") && lines(&wanted, &host, &cluster).is_empty());
        let manifest = text_of(&host, MANIFEST);
        assert!(!manifests.contains(&manifest), "{manifest}");
        manifests.push(manifest);
    }
    assert_eq!(cluster.waits.borrow().len(), 3);
}

#[test]
fn a_cut_between_a_file_and_the_manifest_is_followed_by_a_restart() {
    let (mut first, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    change(&wanted, &mut first, &cluster).unwrap();
    let edited = text_of(&first, POLICY).replace("Metadata", "None");
    first.files.get_mut(POLICY).unwrap().contents = Secret::new(edited.into_bytes());
    let before = text_of(&first, MANIFEST);
    for power in 0.. {
        let mut host = Memory { power: Some(power), ..first.clone() };
        let is_cut = change(&wanted, &mut host, &cluster).is_err();
        host.power = None;
        change(&wanted, &mut host, &cluster).unwrap();
        assert!(text_of(&host, POLICY).contains("Metadata") && lines(&wanted, &host, &cluster).is_empty());
        assert_ne!(text_of(&host, MANIFEST), before, "after {power} changes");
        if !is_cut {
            break;
        }
    }
}

/// The kubelet would not restart it: to wait for a new pod would end in a roll back.
#[test]
fn what_does_not_matter_to_the_kubelet_is_corrected_without_a_restart() {
    let (mut host, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    change(&wanted, &mut host, &cluster).unwrap();
    let commented = format!("# ours\r\n{}", text_of(&host, MANIFEST));
    host.files.insert(MANIFEST.to_owned(), file(&commented));
    assert!(lines(&wanted, &host, &cluster).is_empty());
    host.files.get_mut(POLICY).unwrap().mode = 0o644;
    assert_eq!(lines(&wanted, &host, &cluster), ["change kube-apiserver: 1 file"]);
    host.directories.get_mut("/etc/kubernetes/machineadm").unwrap().mode = 0o755;
    change(&wanted, &mut host, &cluster).unwrap();
    assert_eq!((host.files[POLICY].mode, host.directories["/etc/kubernetes/machineadm"].mode), (0o600, 0o700));
    host.directories.get_mut("/etc/kubernetes/machineadm").unwrap().mode = 0o755;
    assert_eq!(lines(&wanted, &host, &cluster), ["change kube-apiserver: directory"]);
    assert_eq!((cluster.waits.borrow().len(), text_of(&host, MANIFEST)), (1, commented));
}

#[test]
fn the_mode_of_a_manifest_does_not_hide_an_unfinished_change() {
    let (mut host, cluster) = cut_with_new_manifest(&auditing("Metadata", "7"));
    host.files.get_mut(MANIFEST).unwrap().mode = 0o644;
    cluster.is_silent.set(true);
    let text = change(&auditing("Metadata", "7"), &mut host, &cluster).unwrap_err().cause.to_string();
    assert!(text.starts_with("the change was rolled back"), "{text}");
    assert_eq!(host.files[MANIFEST], node().files[MANIFEST]);
}

#[test]
fn a_roll_back_of_two_changes_keeps_what_another_client_wrote_between_them() {
    let (mut host, cluster) = cut_with_new_manifest(&auditing("Metadata", "0.001"));
    cluster.map.borrow_mut()["data"]["other"] = "changed".into();
    *cluster.fails.borrow_mut() = Some("x".to_owned());
    change(&auditing("Request", "7"), &mut host, &cluster).unwrap_err();
    assert_eq!(host.files[MANIFEST], node().files[MANIFEST]);
    assert_eq!(cluster.map.borrow()["data"]["other"], "changed");
}

#[test]
fn a_second_change_that_is_cut_anywhere_is_rolled_back_with_the_first() {
    let untouched = FakeControlPlane::new().configuration();
    let mut cuts = 0;
    for power in 0.. {
        let (mut host, cluster) = cut_with_new_manifest(&auditing("Metadata", "0.001"));
        host.power = Some(power);
        *cluster.fails.borrow_mut() = Some("x".to_owned());
        let other = auditing("Request", "7");
        change(&other, &mut host, &cluster).unwrap_err();
        let is_cut = host.power == Some(0);
        host.power = None;
        if host.files.contains_key(RECORD) {
            cluster.is_silent.set(true);
            change(&other, &mut host, &cluster).unwrap_err();
        }
        assert_eq!(host.files[MANIFEST], node().files[MANIFEST], "after {power} changes");
        assert_eq!(cluster.configuration(), untouched, "after {power} changes");
        if !is_cut {
            break;
        }
        cuts += 1;
    }
    assert!(cuts > 5, "only {cuts} cuts");
}

#[test]
fn a_file_that_the_manifest_names_is_not_pruned_before_the_api_server_is_changed() {
    let (mut host, cluster) = (node(), FakeControlPlane::new());
    change(&auditing("Metadata", "0.001"), &mut host, &cluster).unwrap();
    let without = wanted(&[("ControlPlaneConfig", "api", "{arguments: {goaway-chance: '0.001'}}")]);
    let pruning = Run {
        mode: Mode::Post,
        wanted: &without,
        prune: Prune::Restore,
        manifests: Manifests::Respected,
        reviewed: None,
    };
    cluster.is_silent.set(true);
    run(&pruning, &mut host, &cluster).unwrap();
    assert!(text_of(&host, MANIFEST).contains(POLICY) && host.files.contains_key(POLICY));
    cluster.is_silent.set(false);
    run(&pruning, &mut host, &cluster).unwrap();
    assert!(!text_of(&host, MANIFEST).contains(POLICY) && !host.files.contains_key(POLICY));
}

/// kubeadm has arguments of its own where the document has none.
#[test]
fn a_further_node_follows_when_authorization_and_admission_go() {
    let authorizers = "[{type: Node, name: node}, {type: RBAC, name: rbac}]";
    let authorization = format!(
        "{{apiVersion: apiserver.config.k8s.io/v1, kind: AuthorizationConfiguration, authorizers: {authorizers}}}"
    );
    let admission = "{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: []}";
    let spec = format!(
        "{{authorization: {{configuration: '{authorization}'}}, admission: {{enable: [AlwaysPullImages], configuration: \
         '{admission}'}}, arguments: {{goaway-chance: '0.001'}}}}"
    );
    let with = wanted(&[("ControlPlaneConfig", "api", &spec)]);
    let without = wanted(&[("ControlPlaneConfig", "api", "{arguments: {goaway-chance: '0.001'}}")]);
    let (mut first, mut further, cluster) = (node(), node(), FakeControlPlane::new());
    for wanted in [&with, &without] {
        for host in [&mut first, &mut further] {
            change(wanted, host, &cluster).unwrap();
            assert!(lines(wanted, host, &cluster).is_empty());
        }
        assert_eq!(text_of(&first, MANIFEST), text_of(&further, MANIFEST));
    }
    let manifest = text_of(&further, MANIFEST);
    assert!(manifest.contains("mode=Node,RBAC") && manifest.contains("plugins=NodeRestriction\n"), "{manifest}");
}
