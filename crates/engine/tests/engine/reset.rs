//! A reset undoes what machineadm and kubeadm did and nothing else; it never deletes data that other members of etcd need.
use crate::{
    etcd_machine::{self, DATA, FakeEtcd, documents, machine, member, run, world},
    support::{FORWARDING, PATIENCE, file, has, left, text_of, wanted},
};
use etcd::{Quorum, Role, Standing};
use host::{Host, Inspect, Memory, PathState, Played, Progress};
use machineadm_engine::{MemberQuestion, PlanError, ResetError, ResetPlan, ResetRequest, ResetScope, ResetView, reset};

pub(crate) fn request() -> ResetRequest {
    ResetRequest {
        runtime_socket: None,
        certificates: "/etc/kubernetes/pki".into(),
        kubeconfig: None,
        flags: Vec::new(),
        question: MemberQuestion::IsAsked,
        scope: ResetScope::Machine,
        patience: PATIENCE,
    }
}

/// A node, as machineadm makes it of the machine of these tests.
pub(crate) fn node() -> Memory {
    let mut host = machine();
    run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    host.files.insert("/var/lib/machineadm/bootstrap-success.complete".into(), file("success\n"));
    host.files.insert("/run/cluster-api/bootstrap-success.complete".into(), file("success\n"));
    host
}

pub(crate) fn reset_as(request: &ResetRequest, host: &mut Memory, cluster: &FakeEtcd) -> Result<(), ResetError> {
    let plan = ResetPlan::new(request, host, cluster)?;
    reset(request, &plan, &mut world(host, cluster), &mut |_| ())
}

pub(crate) fn lines(request: &ResetRequest, host: &Memory, cluster: &FakeEtcd) -> Vec<String> {
    let plan = ResetPlan::new(request, host, cluster).unwrap();
    let view = ResetView::new("m".into(), &plan, request.scope, host).unwrap();
    let steps = |part: &machineadm_engine::TurnView| {
        let steps = part.steps.iter().map(ToString::to_string).collect::<Vec<_>>();
        steps.into_iter().chain(part.remarks.iter().map(|remark| format!("· {remark}"))).collect::<Vec<_>>()
    };
    view.parts.iter().flat_map(steps).collect()
}

#[test]
fn a_reset_leaves_the_machine_as_it_was_before_machineadm() {
    let mut host = node();
    reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    assert_eq!(left(&host), left(&machine()));
    let calls: Vec<_> = host.log.iter().filter(|entry| entry.starts_with("run kubeadm reset")).collect();
    assert_eq!(calls, ["run kubeadm reset --force --skip-phases=remove-etcd-member"]);
    // A second one has nothing to do.
    let plan = ResetPlan::new(&request(), &host, &FakeEtcd::silent()).unwrap();
    assert!(plan.is_empty() && !plan.is_of_node());
    let before = host.clone();
    reset_as(&request(), &mut host, &FakeEtcd::silent()).unwrap();
    assert_eq!(left(&host), left(&before));
}

#[test]
fn files_of_the_api_server_and_static_pods_go_with_their_documents() {
    let pod = "{pods: [{manifest: '{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a, image: \
               b}]}}'}]}";
    let mut wanted = wanted(&[
        ("ControlPlaneConfig", "", "{files: [{name: ca.crt, content: s3cret}]}"),
        ("StaticPodsConfig", "", pod),
    ]);
    wanted.documents.extend(documents().documents);
    let (mut host, cluster) = (machine(), FakeEtcd::with(&[1]));
    run(&wanted, &mut host, &cluster).unwrap();
    let written = ["/etc/kubernetes/machineadm/ca.crt", "/etc/kubernetes/manifests/web.yaml"];
    assert_eq!(written.map(|path| host.files[path].mode), [0o600, 0o600]);
    reset_as(&request(), &mut host, &cluster).unwrap();
    assert_eq!(left(&host), left(&machine()));
}

#[test]
fn a_plan_changes_nothing_and_shows_what_is_undone_and_no_content() {
    let host = node();
    let lines = lines(&request(), &host, &FakeEtcd::with(&[1]));
    let expected = [
        "· this machine has the only etcd member: the cluster and all its data are deleted",
        "run kubeadm reset",
        "delete /var/lib/etcd/member/",
        "restore /etc/kubernetes/manifests/own.yaml",
        "restore /etc/kubernetes/pki/link",
        "restore /etc/kubernetes/pki/own.key",
        "restore /var/lib/kubelet/config.json",
        "change /etc/hosts",
        "delete /etc/kubernetes/pki/ca.crt",
        "delete /etc/motd",
        "delete /etc/sysctl.d/90-machineadm-forwarding.conf",
        "change net.ipv4.ip_forward",
    ];
    assert_eq!(lines[..expected.len()], expected, "{lines:#?}");
    let view = ResetPlan::new(&request(), &host, &FakeEtcd::with(&[1])).unwrap();
    let view = serde_json::to_string(&ResetView::new("m".into(), &view, ResetScope::Machine, &host).unwrap()).unwrap();
    for secret in ["the operator's key", "a registry's password", "dGhlIG9wZXJhdG9y"] {
        assert!(!view.contains(secret), "{view}");
    }
    assert!(view.contains("kubectl delete node cp1"), "{view}");
}

#[test]
fn a_reset_that_is_interrupted_anywhere_is_continued_by_the_next_one() {
    for members in [&[1][..], &[1, 2, 3]] {
        for power in 0.. {
            let mut host = Memory { power: Some(power), ..node() };
            let cluster = FakeEtcd::with(members);
            let is_cut = reset_as(&request(), &mut host, &cluster).is_err();
            host.power = None;
            let is_gone = !cluster.numbers().contains(&1);
            assert!(
                members.len() == 1 || is_gone || has(&host, DATA),
                "after {power} changes the data of a member is gone"
            );
            reset_as(&request(), &mut host, &cluster).unwrap();
            assert_eq!(left(&host), left(&machine()), "{members:?}: power failed after {power} changes");
            if !is_cut {
                assert!(power > 30, "only {power} cuts");
                break;
            }
        }
    }
}

#[test]
fn a_member_of_a_cluster_with_others_is_removed_before_its_data() {
    let (mut host, cluster) = (node(), FakeEtcd::with(&[1, 2, 3]));
    assert_eq!(lines(&request(), &host, &cluster)[0], "delete etcd member cp1");
    reset_as(&request(), &mut host, &cluster).unwrap();
    assert_eq!(cluster.numbers(), [2, 3]);
    assert!(!has(&host, DATA));
}

#[test]
fn a_removal_whose_answer_was_lost_is_looked_up_at_the_other_members() {
    let mut host = node();
    let cluster = FakeEtcd { loses_removal: true, ..FakeEtcd::with(&[1, 2, 3]) };
    assert!(matches!(reset_as(&request(), &mut host, &cluster), Err(ResetError::MemberNotRemoved(_))));
    assert!(has(&host, DATA) && has(&host, "/etc/kubernetes/admin.conf"));
    cluster.asked.borrow_mut().clear();
    reset_as(&request(), &mut host, &cluster).unwrap();
    assert!(cluster.asked.borrow().contains(&"https://10.50.0.2:2379".to_owned()), "{:?}", cluster.asked);
    assert_eq!(left(&host), left(&machine()));
}

#[test]
fn data_of_an_etcd_that_does_not_answer_is_deleted_only_if_the_operator_says_so() {
    let mut host = node();
    let before = host.clone();
    let error = reset_as(&request(), &mut host, &FakeEtcd::silent()).unwrap_err();
    assert!(matches!(error, ResetError::MemberUnknown(_)), "{error}");
    host.files.remove("/etc/kubernetes/pki/etcd/healthcheck-client.key");
    let error = reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).unwrap_err();
    assert!(error.to_string().ends_with("/etc/kubernetes/pki/etcd has no client certificate"), "{error}");
    host = before;
    let removed = ResetRequest { question: MemberQuestion::IsRemoved, ..request() };
    reset_as(&removed, &mut host, &FakeEtcd::silent()).unwrap();
    assert_eq!(left(&host), left(&machine()));
}

#[test]
fn a_member_that_etcd_lists_is_not_taken_for_removed_because_the_operator_says_so() {
    let removed = ResetRequest { question: MemberQuestion::IsRemoved, ..request() };
    let (mut host, cluster) = (node(), FakeEtcd::with(&[1, 2]));
    let before = host.clone();
    let error = reset_as(&removed, &mut host, &cluster).unwrap_err();
    assert!(matches!(error, ResetError::MemberListed(_)) && error.to_string().contains("cp1 (1)"), "{error}");
    assert_eq!((&host, cluster.numbers().len()), (&before, 2));
    // A power cut has emptied the manifest that names it.
    let mut unreadable = Memory { address: Some("10.50.0.1".parse().unwrap()), ..before.clone() };
    unreadable.files.insert("/etc/kubernetes/manifests/etcd.yaml".into(), file(""));
    let error = reset_as(&removed, &mut unreadable, &cluster).unwrap_err();
    assert!(matches!(error, ResetError::MemberListed(_)) && has(&unreadable, DATA), "{error}");
    reset_as(&removed, &mut host, &FakeEtcd::with(&[2, 3])).unwrap();
    assert!(!has(&host, DATA));
    let shown = lines(&removed, &before, &FakeEtcd::with(&[1]));
    assert!(shown[0].contains("the cluster and all its data are deleted"), "{shown:?}");
}

/// It may have been removed while it was cut off from the others, or it may have all that is left of the cluster.
#[test]
fn an_operator_who_says_that_the_member_is_removed_is_warned_if_only_the_quorum_is_missing() {
    let removed = ResetRequest { question: MemberQuestion::IsRemoved, ..request() };
    let (mut host, cluster) = (node(), FakeEtcd::with(&[1, 2]));
    cluster.members.borrow_mut().as_mut().unwrap().quorum = Quorum::Lost("no leader".into());
    let plan = ResetPlan::new(&removed, &host, &cluster).unwrap();
    let shown = lines(&removed, &host, &cluster);
    assert!(shown[0].contains("etcd has no quorum and lists the member of this machine, cp1 (1)"), "{shown:?}");
    // Whether such an etcd answers may change from one second to the next.
    reset(&removed, &plan, &mut world(&mut host, &FakeEtcd::silent()), &mut |_| ()).unwrap();
    assert!(!has(&host, DATA));
}

#[test]
fn the_operators_kubeconfig_is_used_instead_of_that_of_the_machine() {
    let asked = |kubeconfig: Option<&str>| {
        let (mut host, cluster) = (node(), FakeEtcd::with(&[1, 2, 3]));
        let kubeconfig = kubeconfig.map(|text| documents::Secret::new(text.as_bytes().to_vec()));
        reset_as(&ResetRequest { kubeconfig, ..request() }, &mut host, &cluster).unwrap();
        assert_eq!(cluster.numbers(), [2, 3]);
        let mut asked = cluster.kubeconfigs.into_inner();
        asked.dedup();
        asked
    };
    assert_eq!(asked(None), ["the administrator's kubeconfig"]);
    assert_eq!(asked(Some("the operator's")), ["the operator's"]);
}

/// A server that was cut off before this machine joined does not list it.
#[test]
fn a_list_without_a_quorum_does_not_show_that_this_machine_has_no_member() {
    let (mut host, cluster) = (node(), FakeEtcd::with(&[2, 3]));
    let before = host.clone();
    cluster.members.borrow_mut().as_mut().unwrap().quorum = Quorum::Lost("no leader".into());
    let error = reset_as(&request(), &mut host, &cluster).unwrap_err();
    assert!(matches!(error, ResetError::MemberUnknown(_)), "{error}");
    assert_eq!(host, before);
}

#[test]
fn without_data_a_silent_etcd_does_not_keep_a_machine_from_being_reset() {
    let mut host = node();
    host.files.remove(DATA);
    let shown = lines(&request(), &host, &FakeEtcd::silent());
    assert!(shown[0].contains("machineadm control-plane remove NODE"), "{shown:?}");
    reset_as(&request(), &mut host, &FakeEtcd::silent()).unwrap();
    assert_eq!(left(&host), left(&machine()));
}

/// Operators move the manifest away to stop etcd, and a power cut can leave it empty.
#[test]
fn without_a_manifest_that_can_be_read_data_of_etcd_is_not_taken_for_none() {
    let manifest = "/etc/kubernetes/manifests/etcd.yaml";
    for is_empty in [true, false] {
        let stopped = || {
            let mut host = node();
            host.files.remove(manifest);
            host.files.extend(is_empty.then(|| (manifest.to_owned(), file(""))));
            host.address = Some("10.50.0.1".parse().unwrap());
            host
        };
        let elsewhere = Memory { address: Some("10.60.0.1".parse().unwrap()), ..stopped() };
        for (mut host, cluster) in [(stopped(), FakeEtcd::silent()), (elsewhere, FakeEtcd::with(&[1, 2]))] {
            let before = host.clone();
            let error = reset_as(&request(), &mut host, &cluster).unwrap_err();
            assert!(matches!(error, ResetError::MemberUnknown(_)), "{error}");
            assert_eq!(host, before);
        }
        let (mut host, cluster) = (stopped(), FakeEtcd::with(&[1, 2, 3]));
        reset_as(&request(), &mut host, &cluster).unwrap();
        assert_eq!(cluster.numbers(), [2, 3]);
        // Without a manifest, nothing shows that the data is kubeadm's.
        assert_eq!(has(&host, DATA), !is_empty);
    }
}

/// A join that was killed between the two has a member, and no manifest that names it.
#[test]
fn a_member_at_an_address_that_is_not_that_of_the_default_route_is_removed() {
    let mut host = node();
    host.files.retain(|path, _| path != "/etc/kubernetes/manifests/etcd.yaml" && path != DATA);
    let api_server = "spec: {containers: [{command: [kube-apiserver, --advertise-address=10.50.0.1]}]}";
    host.files.insert("/etc/kubernetes/manifests/kube-apiserver.yaml".into(), file(api_server));
    host.address = Some("10.60.0.1".parse().unwrap());
    let cluster = FakeEtcd::with(&[1, 2, 3]);
    reset_as(&request(), &mut host, &cluster).unwrap();
    assert_eq!(cluster.numbers(), [2, 3]);
}

#[test]
fn a_member_whose_peer_url_was_changed_in_etcd_is_removed_before_its_data() {
    let (mut host, cluster) = (node(), FakeEtcd::with(&[1, 2, 3]));
    let moved = |membership: &mut etcd::Membership| {
        membership.members[0].peer_urls = vec!["https://cp1.example:2380".into()];
    };
    cluster.members.borrow_mut().as_mut().map(moved).unwrap();
    reset_as(&request(), &mut host, &cluster).unwrap();
    assert_eq!(cluster.numbers(), [2, 3]);
    assert!(!has(&host, DATA));
}

/// The reset was interrupted, and an operator has joined the machine again with kubeadm alone.
#[test]
fn a_member_that_is_registered_since_a_reset_started_to_delete_is_removed_before_its_data() {
    let again = || {
        let mut host = node();
        let mut record: serde_json::Value =
            serde_json::from_str(&text_of(&host, "/var/lib/machineadm/before-kubeadm.json")).unwrap();
        record["reset"] = serde_json::json!({"deleting": {"etcdData": "/var/lib/etcd", "by": "reset"}});
        host.files.insert("/var/lib/machineadm/before-kubeadm.json".into(), file(&record.to_string()));
        host
    };
    let (mut host, cluster) = (again(), FakeEtcd::with(&[1, 2, 3]));
    assert_eq!(lines(&request(), &host, &cluster)[0], "delete etcd member cp1");
    reset_as(&request(), &mut host, &cluster).unwrap();
    assert_eq!(cluster.numbers(), [2, 3]);
    assert_eq!(left(&host), left(&machine()));
    let (mut host, cluster) = (again(), FakeEtcd::with(&[1]));
    let silent = etcd::Member { standing: Standing::Silent("refused".into()), ..member(2) };
    cluster.members.borrow_mut().as_mut().unwrap().members.push(silent);
    let error = reset_as(&request(), &mut host, &cluster).unwrap_err();
    assert!(matches!(error, ResetError::MemberNeeded(_)) && has(&host, DATA), "{error}");
}

/// Its data is gone, and nobody can tell whether etcd has a member of this machine.
#[test]
fn without_a_client_certificate_a_member_that_may_be_listed_is_named() {
    let mut host = node();
    host.files.retain(|path, _| path != DATA && !path.contains("healthcheck-client"));
    let shown = lines(&request(), &host, &FakeEtcd::silent());
    assert!(shown[0].contains("machineadm control-plane remove NODE"), "{shown:?}");
    reset_as(&request(), &mut host, &FakeEtcd::silent()).unwrap();
}

#[test]
fn a_member_whose_removal_costs_the_quorum_stays_with_its_data() {
    let silent = |number| etcd::Member { standing: Standing::Silent("refused".into()), ..member(number) };
    let learner = |number| etcd::Member { role: Role::Learner, ..member(number) };
    for (members, quorum, reason) in [
        (vec![member(1), member(2), silent(3)], Quorum::Held, "only 1 of 2 voters answer"),
        (vec![member(1), learner(2)], Quorum::Held, "is the only voter"),
        (vec![member(1), silent(2)], Quorum::Lost("no leader".into()), "etcd has no quorum"),
    ] {
        let (mut host, cluster) = (node(), FakeEtcd::with(&[]));
        *cluster.members.borrow_mut() = Ok(etcd::Membership { members, quorum });
        let error = reset_as(&request(), &mut host, &cluster).unwrap_err();
        assert!(matches!(error, ResetError::MemberNeeded(_)) && error.to_string().contains(reason), "{error}");
        assert_eq!(host, node());
    }
}

#[test]
fn members_that_join_while_the_operator_reads_the_plan_stop_the_reset() {
    let (mut host, cluster) = (node(), FakeEtcd::with(&[1]));
    let plan = ResetPlan::new(&request(), &host, &cluster).unwrap();
    *cluster.members.borrow_mut() = FakeEtcd::with(&[1, 2]).members.into_inner();
    let error = reset(&request(), &plan, &mut world(&mut host, &cluster), &mut |_| ()).unwrap_err();
    assert!(matches!(error, ResetError::MembersChanged), "{error}");
    assert_eq!(host, node());
}

#[test]
fn a_reset_of_the_node_alone_leaves_what_documents_wrote() {
    let mut host = node();
    host.note("upload-certs", Progress::Ended).unwrap();
    let before = host.clone();
    let node_only = ResetRequest { scope: ResetScope::NodeOnly, ..request() };
    reset_as(&node_only, &mut host, &FakeEtcd::with(&[1])).unwrap();
    for path in ["/etc/motd", "/etc/kubernetes/pki/ca.crt", "/etc/hosts", "/var/lib/machineadm/ownership.json"] {
        assert_eq!(host.files[path], before.files[path], "{path}");
    }
    for gone in ["/etc/kubernetes/admin.conf", "/var/lib/machineadm/bootstrap-success.complete", DATA] {
        assert!(!has(&host, gone), "{gone}");
    }
    for act in ["kubeadm init", "upload-certs"] {
        assert_eq!(host.progress(act).unwrap(), Progress::New, "{act}");
    }
    // The rest is undone by a whole one, and the machine can become a node again.
    run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    assert_eq!(left(&host), left(&machine()));
}

#[test]
fn a_document_that_was_written_anew_since_is_undone_all_the_same() {
    let mut host = node();
    let files = "{files: [{path: /etc/kubernetes/pki/ca.crt, content: newer}]}";
    let newer = wanted(&[("FilesConfig", "", files)]);
    crate::support::run(machineadm_engine::Mode::Post, &newer, &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/kubernetes/pki/ca.crt").trim_end(), "newer");
    reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    assert_eq!(left(&host), left(&machine()));
}

#[test]
fn a_node_of_kubeadm_alone_is_reset_without_a_record_and_the_plan_says_so() {
    let mut host = node();
    host.files.retain(|path, _| !path.starts_with("/var/lib/machineadm/") && !path.starts_with("/run/cluster-api/"));
    let shown = lines(&request(), &host, &FakeEtcd::with(&[1]));
    assert!(shown.iter().any(|line| line.contains("kubeadm was started here without machineadm")), "{shown:?}");
    reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    assert!(
        !has(&host, DATA)
            && !has(&host, "/etc/kubernetes/admin.conf")
            && !has(&host, "/etc/kubernetes/super-admin.conf")
    );
    assert_eq!(text_of(&host, "/etc/kubernetes/audit.yaml"), "the operator's policy");
    assert_eq!(host.state_at("/var/lib/machineadm").unwrap(), PathState::Absent);
}

#[test]
fn keys_in_another_certificates_directory_are_named_as_left() {
    let mut host = node();
    let pod = "spec: {containers: [{command: [kube-apiserver, --client-ca-file=/srv/pki/ca.crt]}]}";
    host.files.insert("/etc/kubernetes/manifests/kube-apiserver.yaml".into(), file(pod));
    let left = |request: &ResetRequest| {
        let plan = ResetPlan::new(request, &host, &FakeEtcd::with(&[1])).unwrap();
        serde_json::to_value(ResetView::new("m".into(), &plan, request.scope, &host).unwrap()).unwrap()["left"]
            .to_string()
    };
    assert!(left(&request()).contains("private keys of the cluster in /srv/pki"), "{}", left(&request()));
    let removed = MemberQuestion::IsRemoved;
    let named = ResetRequest { certificates: "/srv/pki".into(), question: removed, ..request() };
    assert!(!left(&named).contains("/srv/pki"), "{}", left(&named));
}

#[test]
fn copies_that_an_upgrade_has_made_are_named_as_left() {
    let mut host = node();
    host.files.insert("/etc/kubernetes/tmp/kubeadm-backup-etcd/member/snap/db".into(), file("all of the cluster"));
    for (flags, is_left) in [(vec![], true), (vec!["--cleanup-tmp-dir".to_owned()], false)] {
        let request = ResetRequest { flags, ..request() };
        let plan = ResetPlan::new(&request, &host, &FakeEtcd::with(&[1])).unwrap();
        let ResetView { left, .. } = ResetView::new("m".into(), &plan, request.scope, &host).unwrap();
        assert_eq!(left.iter().any(|line| line.contains("in /etc/kubernetes/tmp")), is_left, "{left:?}");
    }
}

/// `--cert-dir` would make kubeadm delete everything in it: etcd is asked without that.
#[test]
fn etcd_is_asked_with_the_certificates_that_the_api_server_of_kubeadm_alone_has_elsewhere() {
    let mut host = node();
    let pod = "spec: {containers: [{command: [kube-apiserver, --client-ca-file=/srv/pki/ca.crt]}]}";
    host.files.insert("/etc/kubernetes/manifests/kube-apiserver.yaml".into(), file(pod));
    let moved = |path: String| path.replace("/etc/kubernetes/pki/", "/srv/pki/");
    host.files = host.files.into_iter().map(|(path, file)| (moved(path), file)).collect();
    host.files.retain(|path, _| !path.starts_with("/var/lib/machineadm/") && !path.starts_with("/run/cluster-api/"));
    let cluster = FakeEtcd::with(&[1, 2, 3]);
    let plan = ResetPlan::new(&request(), &host, &cluster).unwrap();
    let view = ResetView::new("m".into(), &plan, ResetScope::Machine, &host).unwrap();
    assert!(view.left.iter().any(|line| line.contains("private keys of the cluster in /srv/pki")), "{:?}", view.left);
    reset_as(&request(), &mut host, &cluster).unwrap();
    assert_eq!(cluster.numbers(), [2, 3]);
    assert!(has(&host, "/srv/pki/own.key"));
}

#[test]
fn another_certificates_directory_is_known_and_only_what_kubeadm_wrote_there_goes() {
    let (own, written) =
        ("/srv/pki/ca.key", ["etcd/ca.crt", "etcd/healthcheck-client.crt", "etcd/healthcheck-client.key"]);
    let with_own = || {
        let mut host = machine();
        host.files.insert(own.into(), file("the operator's CA"));
        let played = etcd_machine::init().into_iter();
        let elsewhere = written.map(|name| Played::Write(format!("/srv/pki/{name}"), name.into()));
        let others =
            played.filter(|one| !matches!(one, Played::Write(path, _) if path.starts_with("/etc/kubernetes/pki/")));
        host.programs.insert("kubeadm init".into(), others.chain(elsewhere).collect());
        host
    };
    let elsewhere =
        wanted(&[FORWARDING, ("InitConfig", "", "{kubernetesVersion: v1.36.4, certificatesDirectory: /srv/pki}")]);
    let (mut host, cluster) = (with_own(), FakeEtcd::with(&[1, 2, 3]));
    run(&elsewhere, &mut host, &cluster).unwrap();
    let renewed = file("the operator's renewed CA");
    host.files.insert(own.into(), renewed.clone());
    let shown = lines(&request(), &host, &cluster);
    assert!(shown.iter().any(|line| line.starts_with("delete /srv/pki/")), "{shown:?}");
    reset_as(&request(), &mut host, &cluster).unwrap();
    assert_eq!(cluster.numbers(), [2, 3], "etcd was asked with the certificate of that directory");
    assert_eq!(host.files.insert(own.into(), file("the operator's CA")), Some(renewed));
    assert_eq!(left(&host), left(&with_own()));
}

/// And a document that writes there later on owns its file.
#[test]
fn a_certificates_directory_that_was_changed_after_a_failed_init_is_known_too() {
    let init_in = |directory: &str, files: &str| {
        let init = format!("{{kubernetesVersion: v1.36.4, certificatesDirectory: {directory}}}");
        wanted(&[FORWARDING, ("FilesConfig", "", files), ("InitConfig", "", &init)])
    };
    let motd = "{path: /etc/motd, content: hello}";
    let with_notes = || {
        let mut host = machine();
        host.files.insert("/srv/two/notes".into(), file("the operator's notes"));
        host
    };
    let (mut host, cluster) = (with_notes(), FakeEtcd::with(&[1, 2, 3]));
    let write =
        |path: String| Played::Write(path.clone(), path.rsplit_once("/two/").map_or("k", |(_, name)| name).into());
    host.programs.insert("kubeadm init".into(), vec![write("/srv/one/ca.key".into()), Played::Fail]);
    run(&init_in("/srv/one", &format!("{{files: [{motd}]}}")), &mut host, &cluster).unwrap_err();
    let below = |directory: &str| {
        let is_kept = |one: &Played| !matches!(one, Played::Write(path, _) if path.starts_with("/etc/kubernetes/pki/"));
        let names = ["etcd/ca.crt", "etcd/healthcheck-client.crt", "etcd/healthcheck-client.key", "sa.key"];
        let written = names.map(|name| write(format!("{directory}/{name}")));
        etcd_machine::init().into_iter().filter(is_kept).chain(written).collect::<Vec<_>>()
    };
    host.programs.insert("kubeadm init".into(), below("/srv/two"));
    run(&init_in("/srv/two", &format!("{{files: [{motd}]}}")), &mut host, &cluster).unwrap();
    let files = format!("{{files: [{motd}, {{path: /srv/two/ca.crt, content: of the document}}]}}");
    run(&init_in("/srv/two", &files), &mut host, &cluster).unwrap();
    let mut node_only = host.clone();
    reset_as(&request(), &mut host, &cluster).unwrap();
    assert_eq!(cluster.numbers(), [2, 3], "etcd was asked with the certificate of that directory");
    assert_eq!(left(&host), left(&Memory { programs: host.programs.clone(), ..with_notes() }));
    let request = ResetRequest { scope: ResetScope::NodeOnly, ..request() };
    reset_as(&request, &mut node_only, &FakeEtcd::with(&[1])).unwrap();
    let rest: Vec<_> = node_only.files.keys().filter(|path| path.starts_with("/srv/")).collect();
    assert_eq!(rest, ["/srv/two/ca.crt", "/srv/two/notes"]);
}

#[test]
fn a_kubelet_without_a_cluster_is_not_taken_for_a_node_of_kubeadm() {
    let mut host = machine();
    host.files.insert("/var/lib/kubelet/config.yaml".into(), file("staticPodPath: /etc/kubernetes/manifests"));
    let before = host.clone();
    assert!(ResetPlan::new(&request(), &host, &FakeEtcd::silent()).unwrap().is_empty());
    reset_as(&request(), &mut host, &FakeEtcd::silent()).unwrap();
    assert_eq!(left(&host), left(&before));
    assert_eq!(host.log.iter().filter(|line| line.starts_with("run ")).count(), 0);
}

/// kubeadm leaves it alone: such as the keys of an encryption configuration that were rotated since.
#[test]
fn a_file_beside_those_of_kubeadm_that_the_operator_has_changed_since_stays_so() {
    let mut host = node();
    host.files.insert("/etc/kubernetes/audit.yaml".into(), file("changed since"));
    let shown = lines(&request(), &host, &FakeEtcd::with(&[1]));
    assert!(!shown.iter().any(|line| line == "restore /etc/kubernetes/audit.yaml"), "{shown:?}");
    reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).unwrap();
    assert_eq!(text_of(&host, "/etc/kubernetes/audit.yaml"), "changed since");
    assert_eq!(text_of(&host, "/etc/kubernetes/pki/own.key"), "the operator's key");
}

#[test]
fn data_of_an_etcd_that_kubeadm_did_not_set_up_stays() {
    let mut host = machine();
    host.files.insert(DATA.into(), file("of another etcd"));
    host.files.insert("/etc/kubernetes/kubelet.conf".into(), file(""));
    reset_as(&request(), &mut host, &FakeEtcd::silent()).unwrap();
    assert_eq!(text_of(&host, DATA), "of another etcd");
}

#[test]
fn a_reset_that_did_not_finish_stops_a_run_until_it_is_continued() {
    let mut host = Memory { power: Some(6), ..node() };
    reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).unwrap_err();
    host.power = None;
    let before = host.clone();
    let failure = run(&documents(), &mut host, &FakeEtcd::with(&[1])).unwrap_err();
    assert!(failure.cause.needs_operator(), "{failure:?}");
    assert!(matches!(&*failure.cause, PlanError::Abandoned(text) if text.contains("machineadm reset")), "{failure:?}");
    assert_eq!(host, before);
}

/// A unit runs the saved configuration at boot: the operator wants no node.
#[test]
fn a_reset_that_is_interrupted_anywhere_lets_no_run_make_the_machine_a_node_again() {
    let ended = node();
    let mut unfinished = node();
    unfinished.note("kubeadm init", Progress::Started).unwrap();
    for before in [ended, unfinished] {
        for power in 0.. {
            let mut host = Memory { power: Some(power), ..before.clone() };
            let is_cut = reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).is_err();
            host.power = None;
            if !is_cut {
                break;
            }
            let is_changed = left(&host) != left(&before);
            let is_saved = has(&host, "/var/lib/machineadm/bootstrap-success.complete");
            host.log.clear();
            let ran = run(&documents(), &mut host, &FakeEtcd::with(&[1]));
            let is_node_again = host.log.iter().any(|line| line.starts_with("run kubeadm init"));
            assert!(!is_changed || !is_saved || ran.is_err() && !is_node_again, "power failed after {power} changes");
        }
    }
}

#[test]
fn commands_users_and_services_are_named_as_not_undone_and_do_not_stop_a_reset() {
    let commands = ("CommandsConfig", "c", "{commands: [{name: a, argv: ['true']}, {name: b, argv: [late]}]}");
    let mut host = machine();
    host.programs.insert("late".into(), Vec::new());
    run(&wanted(&[commands]), &mut host, &FakeEtcd::silent()).unwrap();
    let ids: Vec<String> =
        serde_json::to_value(host.journal().unwrap()).unwrap()["acts"].as_object().unwrap().keys().cloned().collect();
    host.note(&ids[1], Progress::Started).unwrap();
    let plan = ResetPlan::new(&request(), &host, &FakeEtcd::silent()).unwrap();
    let view = ResetView::new("m".into(), &plan, ResetScope::Machine, &host).unwrap();
    assert_eq!(view.not_undone, ["run c/a", "run c/b"]);
    reset_as(&request(), &mut host, &FakeEtcd::silent()).unwrap();
    assert_eq!(left(&host), left(&Memory { programs: host.programs.clone(), ..machine() }));
}

#[test]
fn what_kubeadm_could_not_delete_stops_a_reset_with_the_reason() {
    let mut host = node();
    host.programs.insert("kubeadm reset".into(), Vec::new());
    let error = reset_as(&request(), &mut host, &FakeEtcd::with(&[1])).unwrap_err();
    assert!(error.to_string().contains("/var/lib/kubelet: kubeadm reset has not deleted everything"), "{error}");
    assert!(has(&host, DATA));
}
