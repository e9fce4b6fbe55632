//! A change of the API server of a control plane node: one act, whatever interrupts it.
mod fake;
mod repeated;

use crate::support::{file, text_of, turn, wanted};
use fake::{FakeControlPlane, MANIFEST, RECORD, node, plan, post};
use host::{Memory, Progress};
use machineadm_engine::{Failure, Line, Manifests, PlanError, Wanted};

const POLICY: &str = "/etc/kubernetes/machineadm/audit-policy.yaml";
const ID: &str = "change kube-apiserver";

fn auditing(level: &str, chance: &str) -> Wanted {
    let policy = format!("{{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{{level: {level}}}]}}");
    let spec = format!("{{audit: {{policy: '{policy}'}}, arguments: {{goaway-chance: '{chance}'}}}}");
    wanted(&[("ControlPlaneConfig", "api", &spec)])
}

fn change(wanted: &Wanted, host: &mut Memory, cluster: &FakeControlPlane) -> Result<(), Failure> {
    post(wanted, Manifests::Respected, host, cluster).map(drop)
}

fn lines(wanted: &Wanted, host: &Memory, cluster: &FakeControlPlane) -> Vec<String> {
    let preview = plan(wanted, host, cluster).unwrap();
    let lines = turn(&preview, "ControlPlaneConfig api").steps.iter().map(Line::of);
    lines.map(|line| format!("{line}: {}", line.detail)).collect()
}

/// Everything that a change is about, and nothing else.
#[derive(Debug, PartialEq)]
struct State {
    manifest: String,
    policy: Option<String>,
    configuration: String,
}

fn state(host: &Memory, cluster: &FakeControlPlane) -> State {
    let policy = host.files.contains_key(POLICY).then(|| text_of(host, POLICY));
    State { manifest: text_of(host, MANIFEST), policy, configuration: cluster.configuration() }
}

#[test]
fn the_map_the_files_and_the_manifest_change_together_and_a_second_run_changes_nothing() {
    let (mut host, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    assert_eq!(lines(&wanted, &host, &cluster), ["change kube-apiserver: kubeadm-config, 1 file, manifest, restart"]);
    change(&wanted, &mut host, &cluster).unwrap();
    let State { manifest, policy, configuration } = state(&host, &cluster);
    assert!(
        manifest.contains("--goaway-chance=0.001") && manifest.contains("files-digest: hmac-sha256:"),
        "{manifest}"
    );
    assert!(manifest.contains("name: machineadm-files") && configuration.contains("machineadm-files"), "{manifest}");
    assert!(policy.unwrap().contains("level: Metadata"));
    assert!(configuration.contains("goaway-chance") && configuration.contains("audit-policy-file"), "{configuration}");
    assert_eq!(*cluster.waits.borrow(), ["NoneOf([\"old\"])"]);
    assert!(!host.files.contains_key(RECORD));
    assert_eq!((host.files[MANIFEST].mode, host.files[POLICY].mode), (0o600, 0o600));
    assert_eq!(host.directories["/etc/kubernetes/machineadm"].mode, 0o700);

    let before = host.clone();
    change(&wanted, &mut host, &cluster).unwrap();
    assert!(lines(&wanted, &host, &cluster).is_empty());
    assert_eq!((&host, cluster.waits.borrow().len()), (&before, 1));
}

#[test]
fn a_file_alone_changes_the_digest_in_the_manifest_and_not_the_map() {
    let (mut host, cluster) = (node(), FakeControlPlane::new());
    change(&auditing("Metadata", "0.001"), &mut host, &cluster).unwrap();
    let before = state(&host, &cluster);
    let other = auditing("Request", "0.001");
    assert_eq!(lines(&other, &host, &cluster), ["change kube-apiserver: 1 file, manifest, restart"]);
    change(&other, &mut host, &cluster).unwrap();
    let after = state(&host, &cluster);
    assert_eq!(after.configuration, before.configuration);
    let differing: Vec<_> =
        after.manifest.lines().zip(before.manifest.lines()).filter(|(new, old)| new != old).collect();
    assert!(differing.len() == 1 && differing[0].0.contains("files-digest"), "{differing:?}");

    // `kubeadm upgrade` renders the manifest without the digest: no reason for another restart.
    let upgraded: String =
        after.manifest.lines().filter(|line| !line.contains("files-digest")).map(|line| format!("{line}\n")).collect();
    host.files.insert(MANIFEST.to_owned(), file(&upgraded));
    assert!(lines(&other, &host, &cluster).is_empty());
}

#[test]
fn a_digest_depends_on_the_clusters_key() {
    let manifests = ["key", "another key"].map(|key| {
        let (mut host, cluster) = (node(), FakeControlPlane::new());
        host.files.insert("/etc/kubernetes/pki/sa.key".to_owned(), file(key));
        change(&auditing("Metadata", "0.001"), &mut host, &cluster).unwrap();
        text_of(&host, MANIFEST)
    });
    assert_ne!(manifests[0], manifests[1]);
}

#[test]
fn an_api_server_that_does_not_become_ready_is_rolled_back_with_everything() {
    let (mut host, cluster) = (node(), FakeControlPlane::new());
    change(&auditing("Metadata", "0.001"), &mut host, &cluster).unwrap();
    let before = state(&host, &cluster);
    *cluster.fails.borrow_mut() = Some("its pod is not ready".to_owned());
    let failure = change(&auditing("Request", "7"), &mut host, &cluster).unwrap_err();
    let expected = "the change was rolled back: kube-apiserver did not become ready: its pod is not ready; manifest, files and \
        kubeadm-config are as before";
    assert_eq!(failure.cause.to_string(), expected);
    assert_eq!(state(&host, &cluster), before);
    assert!(!host.files.contains_key(RECORD), "nothing is left to roll back");
    assert_eq!(cluster.waits.borrow()[1..], ["NoneOf([\"old\"])", "Is(\"old\")"]);

    // Files that the change created are deleted.
    let (mut host, untouched) = (node(), node());
    let cluster = FakeControlPlane { fails: Some("x".to_owned()).into(), ..FakeControlPlane::new() };
    change(&auditing("Request", "7"), &mut host, &cluster).unwrap_err();
    assert_eq!(state(&host, &cluster), state(&untouched, &FakeControlPlane::new()));
}

#[test]
fn a_cut_anywhere_is_finished_by_the_next_run() {
    let wanted = auditing("Metadata", "0.001");
    let (mut whole, whole_cluster) = (node(), FakeControlPlane::new());
    change(&wanted, &mut whole, &whole_cluster).unwrap();
    let mut cuts = 0;
    for power in 0.. {
        let (mut host, cluster) = (Memory { power: Some(power), ..node() }, FakeControlPlane::new());
        let is_cut = change(&wanted, &mut host, &cluster).is_err();
        host.power = None;
        change(&wanted, &mut host, &cluster).unwrap();
        assert_eq!(state(&host, &cluster), state(&whole, &whole_cluster), "after {power} changes");
        assert!(!host.files.contains_key(RECORD) && host.progress_of(ID) == Progress::Ended, "after {power} changes");
        if !is_cut {
            break;
        }
        cuts += 1;
    }
    assert!(cuts > 5, "only {cuts} cuts");
}

#[test]
fn a_cut_anywhere_of_a_broken_change_ends_as_before() {
    let broken = auditing("Request", "7");
    let (mut first, cluster) = (node(), FakeControlPlane::new());
    change(&auditing("Metadata", "0.001"), &mut first, &cluster).unwrap();
    let (before, configuration) = (state(&first, &cluster), cluster.map.borrow().clone());
    for silent_after_the_cut in [false, true] {
        for power in 0.. {
            let mut host = Memory { power: Some(power), ..first.clone() };
            let cluster = FakeControlPlane { fails: Some("x".to_owned()).into(), ..FakeControlPlane::new() };
            *cluster.map.borrow_mut() = configuration.clone();
            let cause = change(&broken, &mut host, &cluster).unwrap_err().cause;
            let is_cut = matches!(*cause, PlanError::Look(host::Error::PowerFailed));
            host.power = None;
            // With a broken manifest the API server of a machine that boots does not answer.
            cluster.is_silent.set(silent_after_the_cut && text_of(&host, MANIFEST) != before.manifest);
            let _ = change(&broken, &mut host, &cluster);
            assert_eq!(state(&host, &cluster), before, "after {power} changes");
            assert!(!host.files.contains_key(RECORD), "after {power} changes");
            if !is_cut {
                break;
            }
        }
    }
}

#[test]
fn edits_of_others_in_the_manifest_are_shown_and_stop_the_run_unless_it_is_forced() {
    let (mut host, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    let edited =
        text_of(&host, MANIFEST).replace("    - kube-apiserver\n", "    - kube-apiserver\n    - --profiling=false\n");
    host.files.insert(MANIFEST.to_owned(), file(&edited));
    let (machine, before) = (host.clone(), state(&host, &cluster));
    let failure = change(&wanted, &mut host, &cluster).unwrap_err();
    let text = failure.cause.to_string();
    assert!(
        failure.cause.needs_operator()
            && text.contains("\n+        - \"--profiling=false\"\n")
            && text.ends_with("--force"),
        "{text}"
    );
    assert_eq!((state(&host, &cluster), &host.files), (before, &machine.files));

    post(&wanted, Manifests::Overwritten, &mut host, &cluster).unwrap();
    let State { manifest, configuration, .. } = state(&host, &cluster);
    assert!(!manifest.contains("profiling") && !configuration.contains("profiling") && manifest.contains("goaway"));
}

#[test]
fn a_further_control_plane_node_follows_a_map_that_the_first_one_has_changed() {
    let (mut first, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    change(&wanted, &mut first, &cluster).unwrap();
    let mut further = node();
    assert_eq!(lines(&wanted, &further, &cluster), ["change kube-apiserver: 1 file, manifest, restart"]);
    change(&wanted, &mut further, &cluster).unwrap();
    assert_eq!(text_of(&further, MANIFEST), text_of(&first, MANIFEST));
    // Structured authorization takes kubeadm's own argument away.
    let edited =
        text_of(&further, MANIFEST).replace("    - --goaway", "    - --authorization-mode=Node,RBAC\n    - --goaway");
    further.files.insert(MANIFEST.to_owned(), file(&edited));
    assert!(change(&wanted, &mut further, &cluster).is_err(), "it is another edit otherwise");
}

#[test]
fn a_map_that_another_client_has_emptied_gets_the_change_again_without_a_restart() {
    // A KubeadmControlPlane overwrites the arguments in kubeadm-config.
    let (mut host, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    change(&wanted, &mut host, &cluster).unwrap();
    let before = state(&host, &cluster);
    *cluster.map.borrow_mut() = FakeControlPlane::new().map.into_inner();
    assert_eq!(lines(&wanted, &host, &cluster), ["change kube-apiserver: kubeadm-config"]);
    change(&wanted, &mut host, &cluster).unwrap();
    assert_eq!(state(&host, &cluster), before);
    assert_eq!(cluster.waits.borrow().len(), 1);
}

/// What a document wrote goes with it, also what an act wrote for it, and what a rolled back change has restored.
#[test]
fn files_that_a_change_has_written_belong_to_their_document() {
    let (mut host, cluster) = (node(), FakeControlPlane::new());
    change(&auditing("Metadata", "0.001"), &mut host, &cluster).unwrap();
    *cluster.fails.borrow_mut() = Some("x".to_owned());
    change(&auditing("Request", "0.001"), &mut host, &cluster).unwrap_err();
    assert!(text_of(&host, POLICY).contains("Metadata"));
    // The cluster no longer mounts the directory.
    host.files.insert(MANIFEST.to_owned(), node().files[MANIFEST].clone());
    let other = wanted(&[("FilesConfig", "f", "{files: [{path: /etc/a, content: a}]}")]);
    let stale = || plan(&other, &host, &cluster).unwrap();
    let remarks: Vec<String> = turn(&stale(), "prune").remarks.iter().map(ToString::to_string).collect();
    let policy = format!(
        "{POLICY} was written by ControlPlaneConfig api, and no document names it any more; --prune deletes it"
    );
    assert!(remarks.contains(&policy), "{remarks:?}");
}

#[test]
fn what_etcd_has_stored_encrypted_is_not_made_unreadable() {
    let (mut host, cluster) = (node(), FakeControlPlane::new());
    let keys = "{providers: [{identity: {}}], resources: [secrets]}";
    let configuration =
        format!("{{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [{keys}]}}");
    let spec = format!("{{encryption: {{configuration: '{configuration}'}}}}");
    change(&wanted(&[("ControlPlaneConfig", "api", &spec)]), &mut host, &cluster).unwrap();
    let before = state(&host, &cluster);
    let failure = change(&auditing("Metadata", "0.001"), &mut host, &cluster).unwrap_err();
    assert!(
        failure.cause.to_string().starts_with("spec.encryption is no longer in the ControlPlaneConfig"),
        "{failure:?}"
    );
    assert_eq!(state(&host, &cluster), before);
}

#[test]
fn the_image_is_left_to_upgrades() {
    let (mut host, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    // The first control plane node has been upgraded, this one has not.
    let newer = cluster.configuration().replace("v1.36.4", "v1.36.5");
    cluster.map.borrow_mut()["data"]["ClusterConfiguration"] = newer.into();
    change(&wanted, &mut host, &cluster).unwrap();
    assert!(text_of(&host, MANIFEST).contains("image: kube-apiserver:v1.36.4\n"));
}

#[test]
fn a_conflict_in_kubeadm_config_changes_nothing_and_the_next_run_goes_on() {
    let (mut host, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    let before = state(&host, &cluster);
    cluster.other_client.set(true);
    let failure = change(&wanted, &mut host, &cluster).unwrap_err();
    assert!(failure.cause.to_string().contains("another client has changed it"), "{}", failure.cause);
    assert_eq!(state(&host, &cluster), before);
    change(&wanted, &mut host, &cluster).unwrap();
    assert_eq!(cluster.map.borrow()["data"]["other"], "changed");
    assert!(cluster.configuration().contains("goaway-chance"));
}

#[test]
fn what_another_client_writes_during_a_change_is_not_rolled_back() {
    let (mut host, cluster) = (node(), FakeControlPlane::new());
    let manifest = text_of(&host, MANIFEST);
    *cluster.fails.borrow_mut() = Some("x".to_owned());
    cluster.writes_meanwhile.set(true);
    let text = change(&auditing("Request", "7"), &mut host, &cluster).unwrap_err().cause.to_string();
    assert!(text.ends_with("kubeadm-config was left alone, since another client has changed it"), "{text}");
    assert_eq!(text_of(&host, MANIFEST), manifest);
    assert_eq!(cluster.map.borrow()["data"]["other"], "changed");
}

#[test]
fn without_an_answer_nothing_is_changed_and_the_plan_says_so() {
    let (mut host, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    cluster.is_silent.set(true);
    let machine = host.clone();
    change(&wanted, &mut host, &cluster).unwrap();
    assert_eq!(host.files[MANIFEST], machine.files[MANIFEST]);
    let preview = plan(&wanted, &host, &cluster).unwrap();
    let remarks = &turn(&preview, "ControlPlaneConfig api").remarks;
    assert!(remarks.len() == 1 && remarks[0].to_string().contains("connection refused"), "{remarks:?}");
}

#[test]
fn a_record_of_a_manifest_that_others_have_replaced_is_not_what_to_go_back_to() {
    let (mut host, cluster) = (node(), FakeControlPlane::new());
    let wanted = auditing("Metadata", "0.001");
    for power in 0.. {
        let mut cut = Memory { power: Some(power), ..node() };
        assert!(
            change(&wanted, &mut cut, &FakeControlPlane::new()).is_err(),
            "no cut left a record and a new manifest"
        );
        if cut.files.contains_key(RECORD) {
            host.files.insert(RECORD.to_owned(), cut.files[RECORD].clone());
            break;
        }
    }
    // `kubeadm upgrade` came between.
    let upgraded = text_of(&host, MANIFEST).replace("v1.36.4", "v1.36.5");
    host.files.insert(MANIFEST.to_owned(), file(&upgraded));
    *cluster.fails.borrow_mut() = Some("x".to_owned());
    change(&wanted, &mut host, &cluster).unwrap_err();
    assert_eq!(text_of(&host, MANIFEST), upgraded);
}

#[test]
fn a_worker_and_a_control_plane_node_without_the_administrators_kubeconfig_get_no_files() {
    let (mut worker, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    worker.files.remove(MANIFEST);
    worker.files.remove("/etc/kubernetes/admin.conf");
    worker.files.insert("/etc/kubernetes/kubelet.conf".to_owned(), file(""));
    let mut without = node();
    without.files.remove("/etc/kubernetes/admin.conf");
    for (mut host, why) in
        [(worker, "this machine is a worker"), (without, "/etc/kubernetes/admin.conf does not exist")]
    {
        let failure = change(&wanted, &mut host, &cluster).unwrap_err();
        assert!(failure.cause.to_string().starts_with(why), "{failure:?}");
        assert!(!host.files.contains_key(POLICY), "{why}");
    }
}

#[test]
fn a_record_that_is_worth_nothing_any_more_is_deleted() {
    let (mut host, cluster, wanted) = (node(), FakeControlPlane::new(), auditing("Metadata", "0.001"));
    change(&wanted, &mut host, &cluster).unwrap();
    for power in 0.. {
        let mut cut = Memory { power: Some(power), ..node() };
        assert!(change(&wanted, &mut cut, &FakeControlPlane::new()).is_err(), "no cut left a record");
        if let Some(record) = cut.files.get(RECORD) {
            host.files.insert(RECORD.to_owned(), record.clone());
            break;
        }
    }
    let upgraded = text_of(&host, MANIFEST).replace("v1.36.4", "v1.36.5");
    host.files.insert(MANIFEST.to_owned(), file(&upgraded));
    change(&wanted, &mut host, &cluster).unwrap();
    assert!(!host.files.contains_key(RECORD));
    assert_eq!(text_of(&host, MANIFEST), upgraded);
}

#[test]
fn an_unfinished_change_that_the_configuration_no_longer_has_stops_the_run() {
    let (mut host, cluster) = (node(), FakeControlPlane::new());
    for power in 0.. {
        host = Memory { power: Some(power), ..node() };
        change(&auditing("Metadata", "0.001"), &mut host, &cluster).unwrap_err();
        if host.files.contains_key(RECORD) && host.progress_of(ID) == Progress::Started {
            break;
        }
    }
    host.power = None;
    let other = wanted(&[("FilesConfig", "f", "{files: [{path: /etc/a, content: a}]}")]);
    let failure = change(&other, &mut host, &cluster).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::Abandoned(_)), "{failure:?}");
}

/// The journal of a machine in memory.
trait Journalled {
    fn progress_of(&self, id: &str) -> Progress;
}

impl Journalled for Memory {
    fn progress_of(&self, id: &str) -> Progress {
        host::Inspect::progress(self, id).unwrap()
    }
}
