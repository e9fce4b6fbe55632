//! A further control plane node on a machine in memory: what is found there and in etcd decides how a join goes on.
mod bed;
mod checks;
mod states;

use crate::pem_set::PemSet;
use bed::*;
use certs::{Etcd, ExternalEtcd};
use etcd::{Member, Quorum, Role, Standing};
use host::{Memory, Played, Progress};
use kubeadm::hub::{Arg, LocalEtcd};
use machineadm_engine::{Line, MemberQuestion, PlanError, ResetError, ResetPlan, ResetRequest, outcome::Reason};
use serde_json::{Value, json};

#[test]
fn a_control_plane_node_gets_the_certificates_of_the_cluster_and_joins() {
    let (wanted, mut host, cluster) = (joining(), machine(), FakeCluster::of(vec![voter(1)]));
    run(&wanted, &mut host, &cluster).unwrap();
    assert_eq!((ran(&host, "kubeadm join"), ran(&host, "kubeadm reset")), (1, 0));
    for (path, file) in SET.on_a_node(PKI) {
        assert_eq!(host.files.get(&path), Some(&file), "{path}");
    }
    let holds = |file: &host::FileState| String::from_utf8_lossy(file.contents.expose()).contains(KEY);
    assert!(!host.files.values().any(holds), "the certificate key is in no file");
}

/// The files that kubeadm is given: those of a machine whose power fails while it runs.
#[test]
fn kubeadm_gets_no_certificate_key_and_the_address_of_the_machine() {
    for power in 0..200 {
        let mut host = Memory { power: Some(power), ..machine() };
        let ended = run(&joining(), &mut host, &FakeCluster::of(vec![voter(1)]));
        if let Some(file) = host.files.get("/run/machineadm/kubeadm.yaml") {
            let text = String::from_utf8(file.contents.expose().clone()).unwrap();
            assert!(text.contains("advertiseAddress: \"10.0.0.2\"") && !text.contains("certificateKey"), "{text}");
            return;
        }
        assert!(ended.is_err());
    }
    panic!("no file for kubeadm");
}

/// The etcd member, the files, whether the Node is marked; what a run does.
struct Row {
    member: Option<Member>,
    files: Vec<&'static str>,
    node: Option<Value>,
    /// kubeadm joins, resets and marks so often.
    kubeadm: (usize, usize, usize),
    removes: bool,
}

/// The table of `acts/kubeadm_join_control_plane.rs`, row by row.
#[test]
fn what_is_found_on_the_machine_and_in_etcd_decides_what_a_join_needs() {
    let pods = || STATIC_PODS.to_vec();
    let serving = || [pods(), vec![ADMIN, ETCD, DATA, KUBELET, CERTIFICATE]].concat();
    let promoted = || [pods(), vec![ADMIN, ETCD, DATA, BOOTSTRAP]].concat();
    let unmarked = || Some(json!({"metadata": {"labels": {}}}));
    let (own, started) = (|| Some(voter(2)), || Some(member(2, Role::Learner, Standing::Answers)));
    let rows = [
        // Nothing of it is there.
        Row { member: None, files: vec![], node: None, kubeadm: (1, 0, 0), removes: false },
        // It is a control plane node.
        Row { member: own(), files: serving(), node: Some(marked()), kubeadm: (0, 0, 0), removes: false },
        // Only the marks of its Node are missing, or the Node.
        Row { member: own(), files: serving(), node: unmarked(), kubeadm: (0, 0, 1), removes: false },
        Row { member: own(), files: serving(), node: None, kubeadm: (0, 0, 1), removes: false },
        // Its member votes, and its kubelet never gets a certificate.
        Row { member: own(), files: promoted(), node: None, kubeadm: (1, 1, 0), removes: true },
        // A learner, started or not, with what kubeadm of any version has written by then.
        Row { member: Some(learner(2)), files: vec![ADMIN, BOOTSTRAP], node: None, kubeadm: (1, 1, 0), removes: true },
        Row { member: started(), files: promoted(), node: None, kubeadm: (1, 1, 0), removes: true },
        Row { member: started(), files: serving(), node: unmarked(), kubeadm: (1, 1, 0), removes: true },
        Row { member: Some(learner(2)), files: vec![], node: None, kubeadm: (1, 1, 0), removes: true },
        // A voter whose data is gone.
        Row {
            member: Some(member(2, Role::Voter, Standing::Silent("refused".into()))),
            files: [pods(), vec![ADMIN, ETCD, KUBELET, CERTIFICATE]].concat(),
            node: Some(marked()),
            kubeadm: (1, 1, 0),
            removes: true,
        },
        // No member, and some files.
        Row { member: None, files: vec![ADMIN], node: None, kubeadm: (1, 1, 0), removes: false },
        Row { member: None, files: [pods(), vec![ADMIN]].concat(), node: None, kubeadm: (1, 1, 0), removes: false },
        Row {
            member: None,
            files: [pods(), vec![ADMIN, KUBELET, CERTIFICATE]].concat(),
            node: None,
            kubeadm: (1, 1, 0),
            removes: false,
        },
        Row { member: None, files: vec![DATA], node: None, kubeadm: (1, 1, 0), removes: false },
        Row { member: None, files: promoted(), node: None, kubeadm: (1, 1, 0), removes: false },
    ];
    for Row { member, files, node, kubeadm, removes } in rows {
        let shown = format!("{member:?}, {files:?}, {node:?}");
        let members = [voter(1), voter(3)].into_iter().chain(member).collect();
        let (cluster, mut host) = (FakeCluster::of(members), with(&files, Progress::Started));
        *cluster.node.borrow_mut() = node;
        run(&joining(), &mut host, &cluster).unwrap_or_else(|failure| panic!("{shown}: {failure:?}"));
        let marks = host.log.iter().filter(|line| line.contains("mark-control-plane")).count();
        let counted = (ran(&host, "kubeadm join"), ran(&host, "kubeadm reset"), marks);
        assert_eq!((counted, cluster.did("remove 2")), (kubeadm, removes), "{shown}");
        assert!(!host.files.contains_key(BOOTSTRAP), "{shown}");
        let holds = |file: &host::FileState| String::from_utf8_lossy(file.contents.expose()).contains(KEY);
        assert!(!host.files.values().any(holds), "{shown}");
    }
}

/// The last row of the table: what is not known is not deleted.
#[test]
fn nothing_is_deleted_while_etcd_does_not_answer_or_keeps_the_member() {
    let bootstraps = &[ADMIN, ETCD, DATA, BOOTSTRAP][..];
    // A machine whose kubelet has its certificate discovers no cluster: it asks etcd by its own files.
    let registered = &[ADMIN, ETCD, DATA, KUBELET, CERTIFICATE][..];
    for (silent, files) in [(true, bootstraps), (false, bootstraps), (true, registered), (false, registered)] {
        let members = vec![voter(1), voter(3), learner(2)];
        let (cluster, mut host) = (FakeCluster::of(members), with(files, Progress::Started));
        cluster.is_silent.set(silent);
        cluster.keeps_members.set(!silent);
        let failure = run(&joining(), &mut host, &cluster).unwrap_err();
        let why = machineadm_engine::outcome::chain(&*failure.cause);
        assert!(why.contains("etcd"), "{why}");
        assert_eq!(failure.reason(), Reason::EtcdNotSafe);
        assert!(host.files.contains_key(DATA) && host.files.contains_key(ETCD), "{why}");
        assert_eq!((ran(&host, "kubeadm reset"), ran(&host, "kubeadm join")), (0, 0), "{why}");
    }
}

/// The address of the machine, or the configured one, has changed since its member was promoted.
#[test]
fn a_member_at_the_former_address_of_the_machine_is_its_own() {
    let files = [&STATIC_PODS[..], &[ADMIN, ETCD, DATA, BOOTSTRAP]].concat();
    for wanted in [joining(), joining_with(&format!("{{certificateKey: {KEY}, advertiseAddress: 10.0.0.7}}"))] {
        let cluster = FakeCluster::of(vec![voter(1), voter(3), voter(2)]);
        let mut host = with(&files, Progress::Started);
        host.address = Some("10.0.0.7".parse().unwrap());
        run(&wanted, &mut host, &cluster).unwrap();
        assert_eq!(ran(&host, "kubeadm reset"), 1);
        assert!(cluster.did("remove 2"), "the data of a voter was deleted: {:?}", cluster.events);
    }
}

/// A power cut has emptied the manifest that names the member, and the machine has another address since.
#[test]
fn data_that_may_be_that_of_a_silent_member_is_not_deleted() {
    let silent = || member(2, Role::Voter, Standing::Silent("no route".into()));
    for (members, deletes) in [(vec![voter(1), voter(3), silent()], false), (vec![voter(1), voter(3)], true)] {
        let files = [&STATIC_PODS[..], &[ADMIN, DATA, KUBELET, CERTIFICATE]].concat();
        let (cluster, mut host) = (FakeCluster::of(members), with(&files, Progress::Started));
        host.files.insert(ETCD.into(), crate::support::file(""));
        host.address = Some("10.0.0.7".parse().unwrap());
        let ended = run(&joining(), &mut host, &cluster);
        assert_eq!((ended.is_ok(), ran(&host, "kubeadm reset")), (deletes, usize::from(deletes)), "{ended:?}");
        let why = ended.map_or_else(|failure| machineadm_engine::outcome::chain(&*failure.cause), |_| String::new());
        assert!(deletes || why.contains("may be that of the member cp2 (2)") && host.files.contains_key(DATA), "{why}");
    }
}

/// kubeadm's files are not on the disk yet when the power fails, and that of the kubelet's certificate is.
#[test]
fn a_member_that_votes_and_whose_static_pods_have_an_empty_manifest_has_not_joined() {
    for manifest in STATIC_PODS.iter().chain(&[ETCD]) {
        let files = [&STATIC_PODS[..], &[ADMIN, ETCD, DATA, KUBELET, CERTIFICATE]].concat();
        let (cluster, mut host) =
            (FakeCluster::of(vec![voter(1), voter(3), voter(2)]), with(&files, Progress::Started));
        *cluster.node.borrow_mut() = Some(marked());
        host.files.insert((*manifest).to_owned(), crate::support::file(""));
        run(&joining(), &mut host, &cluster).unwrap();
        let counted = (ran(&host, "kubeadm reset"), ran(&host, "kubeadm join"));
        assert_eq!((counted, cluster.did("remove 2")), ((1, 1), true), "{manifest}");
    }
}

/// An operator has named another cluster since, whose etcd knows nothing of the member in the first one.
#[test]
fn a_join_that_was_started_in_another_cluster_is_not_undone_by_the_members_of_this_one() {
    let files = [&STATIC_PODS[..], &[ETCD, DATA, BOOTSTRAP]].concat();
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), with(&files, Progress::Started));
    let first = PemSet::new();
    host.files.extend(first.on_a_node(PKI));
    host.files.insert(ADMIN.into(), crate::support::file(&kubeconfig_of(&first.ca())));
    let failure = run(&joining(), &mut host, &cluster).unwrap_err();
    assert!(failure.cause.needs_operator(), "{failure:?}");
    let why = failure.cause.to_string();
    assert!(why.contains("of another cluster was started") && why.contains("run \"machineadm reset\""), "{why}");
    assert!(host.files.contains_key(DATA) && ran(&host, "kubeadm") == 0, "the data of a voter was deleted");
    // A CA certificate that was issued anew for the same key is no other cluster.
    host.files.extend(SET.on_a_node(PKI));
    host.files.insert(ADMIN.into(), crate::support::file(&kubeconfig_of(&renewed_roots())));
    run(&joining(), &mut host, &cluster).unwrap();
    assert_eq!((ran(&host, "kubeadm reset"), ran(&host, "kubeadm join")), (1, 1));
}

/// The undo was interrupted, and an operator has joined the machine again with kubeadm alone.
fn joined_since_an_undo() -> Memory {
    let mut host = with(&[&STATIC_PODS[..], &[ADMIN, ETCD, DATA, KUBELET, CERTIFICATE]].concat(), Progress::Started);
    let record = "{\"version\": 1, \"isRecorded\": false, \"entries\": {}, \"reset\": {\"deleting\": {\"etcdData\": \
                  \"/var/lib/etcd\"}}}";
    host.files.insert(RECORD.into(), crate::support::file(record));
    host
}

const RECORD: &str = "/var/lib/machineadm/before-kubeadm.json";

#[test]
fn a_member_that_is_registered_since_an_undo_started_to_delete_is_not_taken_for_removed() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1), voter(3), voter(2)]), joined_since_an_undo());
    *cluster.node.borrow_mut() = Some(marked());
    run(&joining(), &mut host, &cluster).unwrap();
    assert!(host.files.contains_key(DATA), "the data of a voter was deleted");
    assert_eq!((ran(&host, "kubeadm reset"), ran(&host, "kubeadm join"), cluster.did("remove 2")), (0, 0, false));
    assert!(!host.files.contains_key(RECORD), "the undo is over");
}

/// As after a power cut of all machines: whether the machine has joined again is not known yet.
#[test]
fn an_undo_that_started_to_delete_is_not_finished_while_etcd_does_not_answer() {
    let lost = || Quorum::Lost("etcdserver: no leader".into());
    for (is_silent, quorum) in [(true, Quorum::Held), (false, lost())] {
        let (cluster, mut host) = (FakeCluster::of(vec![voter(1), voter(3)]), joined_since_an_undo());
        cluster.is_silent.set(is_silent);
        *cluster.quorum.borrow_mut() = quorum;
        let failure = run(&joining(), &mut host, &cluster).unwrap_err();
        let why = machineadm_engine::outcome::chain(&*failure.cause);
        assert!(why.contains("the interrupted join cannot be undone: "), "{why}");
        assert!(host.files.contains_key(DATA) && ran(&host, "kubeadm") == 0, "data of a member may be deleted: {why}");
        // A reset stops as well, unless the operator asserts that the member is gone.
        let refused = ResetPlan::new(&reset_request(), &host, &cluster).unwrap_err();
        assert!(matches!(refused, ResetError::MemberUnknown(_)), "{refused}");
        let asserted = ResetRequest { question: MemberQuestion::IsRemoved, ..reset_request() };
        assert!(ResetPlan::new(&asserted, &host, &cluster).unwrap().is_of_node());
        // Nobody lists it: the undo is finished.
        cluster.is_silent.set(false);
        *cluster.quorum.borrow_mut() = Quorum::Held;
        run(&joining(), &mut host, &cluster).unwrap();
        assert_eq!((ran(&host, "kubeadm reset"), ran(&host, "kubeadm join")), (1, 1));
    }
}

/// A power cut has emptied the manifest, and kubeadm refuses a directory that is not empty.
#[test]
fn data_in_the_directory_that_the_cluster_names_goes_with_its_member() {
    let data = "/srv/etcd/member/snap/db";
    let directory = || LocalEtcd { data_dir: Some("/srv/etcd".into()), ..Default::default() };
    let argument = Arg { name: "data-dir".into(), value: "/srv/etcd".into(), merge_method: None };
    for local in [directory(), LocalEtcd { data_dir: Some("/srv".into()), extra_args: vec![argument], ..directory() }] {
        let mut cluster = FakeCluster::of(vec![voter(1), voter(3)]);
        cluster.configuration.etcd.local = Some(local);
        let elsewhere = |one: Played| match one {
            Played::Write(path, text) if path == DATA => Played::Write(data.into(), text),
            other => other,
        };
        let mut host = machine();
        let failing = joined().into_iter().map(elsewhere).chain([Played::Fail]);
        host.programs.insert("kubeadm join".into(), failing.collect());
        run(&joining(), &mut host, &cluster).unwrap_err();
        host.files.insert(ETCD.into(), crate::support::file(""));
        cluster.members.borrow_mut().push(voter(2));
        host.programs.insert(
            "kubeadm join".into(),
            joined().into_iter().filter(|one| !matches!(one, Played::Write(path, _) if path == DATA)).collect(),
        );
        run(&joining(), &mut host, &cluster).unwrap();
        assert!(cluster.did("remove 2") && !host.files.contains_key(data), "{:?}", cluster.events);
    }
}

/// `etcdctl member update` changes the peer URL in the list, and not the flags of the server.
#[test]
fn a_member_whose_peer_url_was_changed_in_etcd_is_known_by_its_client_url() {
    let moved = Member { peer_urls: vec!["https://cp2.example:2380".into()], ..voter(2) };
    let cluster = FakeCluster::of(vec![voter(1), voter(3), moved]);
    let mut host = with(&[&STATIC_PODS[..], &[ADMIN, ETCD, DATA, BOOTSTRAP]].concat(), Progress::Started);
    run(&joining(), &mut host, &cluster).unwrap();
    assert!(cluster.did("remove 2"), "the data of a voter was deleted: {:?}", cluster.events);
}

#[test]
fn an_interrupted_control_plane_join_is_not_continued_as_that_of_a_worker() {
    let files = [&STATIC_PODS[..], &[ADMIN, ETCD, DATA, BOOTSTRAP]].concat();
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1), voter(2)]), with(&files, Progress::Started));
    host.services.insert("kubelet".into(), true);
    let failure = run(&joining_as_worker(), &mut host, &cluster).unwrap_err();
    assert!(failure.cause.needs_operator(), "{failure:?}");
    assert!(failure.cause.to_string().contains("run \"machineadm reset\""), "{failure:?}");
    assert!(host.services["kubelet"] && host.files.contains_key(BOOTSTRAP), "the kubelet of a voter was stopped");
}

/// kubeadm's own preflight has failed, and the operator makes the machine a worker instead.
#[test]
fn a_worker_is_not_joined_with_the_private_keys_of_the_cluster() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), machine());
    host.programs.insert("kubeadm join".into(), vec![Played::Fail]);
    run(&joining(), &mut host, &cluster).unwrap_err();
    host.log.clear();
    let failure = run(&joining_as_worker(), &mut host, &cluster).unwrap_err();
    assert!(failure.cause.needs_operator(), "{failure:?}");
    assert!(failure.cause.to_string().contains("has the private keys of the cluster"), "{failure:?}");
    assert_eq!(ran(&host, "kubeadm join"), 0);
    reset_by_operator(&mut host, &cluster);
    host.programs.insert("kubeadm join".into(), Vec::new());
    run(&joining_as_worker(), &mut host, &cluster).unwrap();
    assert!(ran(&host, "kubeadm join") == 1 && !host.files.contains_key(&format!("{PKI}/ca.key")));
}

/// kubeadm would create a cluster with the CA of the first one.
#[test]
fn a_cluster_is_not_created_with_the_downloaded_private_keys_of_another_one() {
    let creating = crate::support::wanted(&[crate::support::FORWARDING, crate::support::INIT]);
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), machine());
    host.programs.insert("kubeadm join".into(), vec![Played::Fail]);
    host.programs.insert("kubeadm init".into(), Vec::new());
    run(&joining(), &mut host, &cluster).unwrap_err();
    let failure = run(&creating, &mut host, &cluster).unwrap_err();
    assert!(failure.cause.needs_operator(), "{failure:?}");
    assert!(failure.cause.to_string().contains("has the private keys of another cluster"), "{failure:?}");
    assert_eq!(ran(&host, "kubeadm init"), 0);
    reset_by_operator(&mut host, &cluster);
    // A CA of the operator's own is what the new cluster shall have.
    host.files.extend(SET.on_a_node(PKI));
    run(&creating, &mut host, &cluster).unwrap();
    assert_eq!(ran(&host, "kubeadm init"), 1);
}

#[test]
fn an_interrupted_control_plane_join_that_is_no_longer_asked_for_is_not_forgotten() {
    let files = [&STATIC_PODS[..], &[ADMIN]].concat();
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), with(&files, Progress::Started));
    let failure = run(&crate::support::wanted(&[crate::support::FORWARDING]), &mut host, &cluster).unwrap_err();
    assert!(failure.cause.to_string().contains("run \"machineadm reset\""), "{failure:?}");
    assert_eq!(host::Inspect::progress(&host, "kubeadm join").unwrap(), Progress::Started);
}

#[test]
fn of_two_voters_the_one_that_joined_is_removed_only_while_the_other_answers() {
    let dead = member(1, Role::Voter, Standing::Silent("connection refused".into()));
    let (cluster, mut host) =
        (FakeCluster::of(vec![dead, voter(2)]), with(&[ADMIN, ETCD, DATA, KUBELET, CERTIFICATE], Progress::Started));
    let failure = run(&joining(), &mut host, &cluster).unwrap_err();
    let why = machineadm_engine::outcome::chain(&*failure.cause);
    assert!(why.contains("etcd would lose its quorum"), "{why}");
    assert!(host.files.contains_key(DATA) && cluster.events.borrow().is_empty(), "{why}");
}

/// kubeadm refuses to join beside a Node of the same name that is Ready, and has written most of its files by then.
#[test]
fn a_node_of_the_same_name_is_deleted_only_if_this_machine_has_registered_it() {
    let files = || [&STATIC_PODS[..], &[ADMIN, BOOTSTRAP]].concat();
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), with(&files(), Progress::Started));
    *cluster.node.borrow_mut() = Some(ready());
    let failure = run(&joining(), &mut host, &cluster).unwrap_err();
    let why = machineadm_engine::outcome::chain(&*failure.cause);
    assert!(why.contains("kubeadm refuses to join while this Node is Ready: it is still Ready"), "{why}");
    assert!(
        !cluster.did("delete node cp2") && cluster.node.borrow().is_some(),
        "the Node of another machine was deleted"
    );
    assert_eq!(ran(&host, "kubeadm"), 0);
    let registered = [files(), vec![ETCD, KUBELET, CERTIFICATE]].concat();
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1), learner(2)]), with(&registered, Progress::Started));
    *cluster.node.borrow_mut() = Some(ready());
    run(&joining(), &mut host, &cluster).unwrap();
    assert!(cluster.did("delete node cp2"), "{:?}", cluster.events);
}

/// The kubelet of a promoted member: it gets its certificate a while after it was started.
fn promoted() -> Memory {
    let mut host = with(&[&STATIC_PODS[..], &[ADMIN, ETCD, DATA, BOOTSTRAP]].concat(), Progress::Started);
    let written = [(KUBELET, kubeconfig()), (CERTIFICATE, client("cp2"))];
    host.awaited = written.map(|(path, text)| Played::Write(path.into(), text)).to_vec();
    host
}

/// The Node is there before the kubelet could register it.
#[test]
fn a_promoted_member_beside_the_node_of_an_earlier_reset_is_finished_and_not_removed() {
    for leftover in [None, Some(marked()), Some(json!({"metadata": {"labels": {}}}))] {
        let (cluster, mut host) = (FakeCluster::of(vec![voter(1), voter(2)]), promoted());
        cluster.node.borrow_mut().clone_from(&leftover);
        run(&joining(), &mut host, &cluster).unwrap();
        let marks = host.log.iter().filter(|line| line.contains("mark-control-plane")).count();
        assert_eq!((ran(&host, "kubeadm reset"), ran(&host, "kubeadm join"), marks), (0, 0, 1), "{leftover:?}");
        assert!(host.files.contains_key(DATA) && !host.files.contains_key(BOOTSTRAP), "{leftover:?}");
        assert_eq!(*cluster.events.borrow(), ["discover", "wait for node"], "{leftover:?}");
    }
}

#[test]
fn the_kubelet_of_a_promoted_member_does_not_take_over_the_node_of_another_machine() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1), voter(2)]), promoted());
    *cluster.node.borrow_mut() = Some(ready());
    let failure = run(&joining(), &mut host, &cluster).unwrap_err();
    let why = machineadm_engine::outcome::chain(&*failure.cause);
    assert!(why.contains("this Node is Ready: it is still Ready"), "{why}");
    assert_eq!(*cluster.events.borrow(), ["discover"]);
    assert!(host.files.contains_key(DATA) && host.files.contains_key(BOOTSTRAP));
    assert!(!host.services.get("kubelet").is_some_and(|runs| *runs) && ran(&host, "kubeadm") == 0);
}

/// An operator has corrected the name in the configuration, or has taken that of another machine.
#[test]
fn the_node_that_is_deleted_is_the_one_that_the_kubelets_certificate_names() {
    let files = [&STATIC_PODS[..], &[ADMIN, ETCD, KUBELET]].concat();
    let registered = || {
        let mut host = with(&files, Progress::Started);
        host.files.insert(CERTIFICATE.into(), crate::support::file(&client("cp9")));
        host
    };
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1), learner(2)]), registered());
    *cluster.node.borrow_mut() = Some(ready());
    let failure = run(&joining(), &mut host, &cluster).unwrap_err();
    let why = machineadm_engine::outcome::chain(&*failure.cause);
    assert!(why.contains("kubeadm refuses to join while this Node is Ready"), "{why}");
    assert!(cluster.did("delete node cp9") && !cluster.did("delete node cp2"), "{:?}", cluster.events);
    assert_eq!(ran(&host, "kubeadm"), 0);
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1), learner(2)]), registered());
    run(&joining(), &mut host, &cluster).unwrap();
    assert_eq!((ran(&host, "kubeadm reset"), ran(&host, "kubeadm join")), (1, 1));
}

#[test]
fn a_join_that_others_started_is_left_alone() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1), learner(2)]), with(&[ADMIN, BOOTSTRAP], Progress::New));
    let failure = run(&joining(), &mut host, &cluster).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::Foreign(_)), "{failure:?}");
    assert!(!cluster.did("remove 2") && ran(&host, "kubeadm") == 0);
}

#[test]
fn a_plan_asks_no_cluster_and_shows_download_and_join_without_their_secrets() {
    let (wanted, host, cluster) = (joining(), machine(), FakeCluster::of(vec![voter(1)]));
    let preview = plan(&wanted, &host, &cluster).unwrap();
    assert!(cluster.events.borrow().is_empty());
    let lines: Vec<_> = preview
        .0
        .iter()
        .flat_map(|(_, planned)| &planned.steps)
        .map(|step| {
            let Line { target, detail, .. } = Line::of(step);
            format!("{target} {detail}")
        })
        .collect();
    let at = |word: &str| lines.iter().position(|line| line.contains(word)).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(at("download of certificates") < at("kubeadm join"), "{lines:?}");
    let shown = format!("{preview:?}{lines:?}");
    assert!(!shown.contains(KEY) && !shown.contains("faddc87f"), "{shown}");
}

/// The private keys of the cluster are on the machine before kubeadm starts.
#[test]
fn a_reset_deletes_downloaded_certificates_also_if_kubeadm_was_not_started() {
    let mut seen = 0;
    for power in 0.. {
        let cluster = FakeCluster::of(vec![voter(1)]);
        let mut host = Memory { power: Some(power), ..machine() };
        if run(&joining(), &mut host, &cluster).is_ok() {
            break;
        }
        host.power = None;
        let is_started = host::Inspect::progress(&host, "kubeadm join").unwrap() != Progress::New;
        if is_started || !host.files.contains_key(&format!("{PKI}/ca.key")) {
            continue;
        }
        reset_by_operator(&mut host, &cluster);
        let left: Vec<_> = host.files.keys().filter(|path| path.starts_with("/etc/kubernetes/")).collect();
        assert!(left.is_empty(), "cut after {power}: {left:?}");
        seen += 1;
    }
    assert!(seen > 0);
}

/// Its path may be outside the directories that `kubeadm reset` empties.
#[test]
fn a_reset_deletes_the_downloaded_files_of_external_etcd_and_leaves_others_beside_them() {
    let (own, key) = ("/etc/etcd/own.key", "/etc/etcd/client.key");
    let [ca_file, cert_file, key_file] =
        ["/etc/etcd/ca.crt", "/etc/etcd/client.crt", key].map(|path| Some(path.into()));
    let etcd = Etcd::External(ExternalEtcd { ca_file, cert_file, key_file });
    let mut written = 0;
    for power in 0.. {
        let cluster = FakeCluster { etcd: etcd.clone(), ..FakeCluster::of(Vec::new()) };
        let mut host = Memory { power: Some(power), ..machine() };
        host.files.insert(own.into(), crate::support::file("the operator's key"));
        let is_of_etcd = |one: &Played| matches!(one, Played::Write(path, _) if [ETCD, DATA].contains(&path.as_str()));
        host.programs.insert("kubeadm join".into(), joined().into_iter().filter(|one| !is_of_etcd(one)).collect());
        let is_whole = run(&joining(), &mut host, &cluster).is_ok();
        host.power = None;
        written += usize::from(host.files.contains_key(key));
        let certified = host.files.contains_key(CERTIFICATE).then_some("cp2");
        assert_eq!(reset_by_operator(&mut host, &cluster).as_deref(), certified, "cut after {power}");
        let left: Vec<_> = host.files.keys().filter(|path| path.starts_with("/etc/etcd/")).collect();
        assert_eq!(left, [own], "cut after {power}");
        if is_whole {
            break;
        }
    }
    assert!(written > 3, "{written}");
}

/// The member goes first, and whatever is left is finished by the next run.
#[test]
fn an_undo_that_loses_power_anywhere_is_finished_and_never_deletes_the_data_of_a_member() {
    let interrupted = || {
        let mut host = machine();
        host.files.insert(format!("{PKI}/own.key"), crate::support::file("the operator's key"));
        host.programs.insert("kubeadm join".into(), joined().into_iter().chain([Played::Fail]).collect());
        run(&joining(), &mut host, &FakeCluster::of(vec![voter(1), voter(3)])).unwrap_err();
        host.programs.insert("kubeadm join".into(), joined());
        host
    };
    for power in 0.. {
        let own = member(2, Role::Learner, Standing::Answers);
        let cluster = FakeCluster::of(vec![voter(1), voter(3), own]);
        let mut host = Memory { power: Some(power), ..interrupted() };
        let is_whole = run(&joining(), &mut host, &cluster).is_ok();
        host.power = None;
        let has_member = cluster.members.borrow().len() == 3;
        assert!(!has_member || host.files.contains_key(DATA), "cut after {power}: the data of a member is gone");
        assert!(!has_member || ran(&host, "kubeadm reset") == 0, "cut after {power}");
        run(&joining(), &mut host, &cluster).unwrap_or_else(|failure| panic!("cut after {power}: {failure:?}"));
        assert!(cluster.did("remove 2") && cluster.did("delete node cp2"), "cut after {power}");
        for path in STATIC_PODS.iter().chain(&[ETCD, DATA, KUBELET, CERTIFICATE]) {
            assert!(host.files.contains_key(*path), "cut after {power}: {path}");
        }
        assert_eq!(
            crate::support::text_of(&host, &format!("{PKI}/own.key")),
            "the operator's key",
            "cut after {power}"
        );
        if is_whole {
            assert!(power > 20, "{power}");
            break;
        }
    }
}

#[test]
fn power_lost_anywhere_ends_in_the_same_control_plane_node() {
    let whole = || {
        let (mut host, cluster) = (machine(), FakeCluster::of(vec![voter(1), voter(3)]));
        run(&joining(), &mut host, &cluster).unwrap();
        host
    };
    let whole = whole();
    let mut cuts = 0;
    for power in 0.. {
        let cluster = FakeCluster::of(vec![voter(1), voter(3)]);
        let mut host = Memory { power: Some(power), ..machine() };
        if run(&joining(), &mut host, &cluster).is_ok() {
            break;
        }
        host.power = None;
        // As far as kubeadm came, etcd has a member for this machine.
        if host.files.contains_key(ETCD) {
            cluster.members.borrow_mut().push(if host.files.contains_key(KUBELET) { voter(2) } else { learner(2) });
        }
        run(&joining(), &mut host, &cluster).unwrap_or_else(|failure| panic!("cut after {power}: {failure:?}"));
        for path in STATIC_PODS.iter().chain(&[ETCD, DATA, KUBELET, CERTIFICATE, BOOTSTRAP]) {
            assert_eq!(host.files.contains_key(*path), whole.files.contains_key(*path), "cut after {power}: {path}");
        }
        cuts += 1;
    }
    assert!(cuts > 20, "{cuts}");
}
