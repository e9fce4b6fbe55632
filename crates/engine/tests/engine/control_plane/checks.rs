//! What keeps a machine from joining as a control plane node is named before anything is started.
use super::bed::*;
use crate::{
    pem_set::PemSet,
    support::{file, wanted},
};
use etcd::{Quorum, Role, Standing};
use host::Progress;
use kubeadm::hub::{Arg, HostPathMount};
use machineadm_engine::outcome::Reason;

#[test]
fn a_learner_of_others_a_dead_voter_and_a_lost_quorum_are_named_and_nothing_is_started() {
    let silent = member(3, Role::Voter, Standing::Silent("connection refused".into()));
    let cluster = FakeCluster::of(vec![voter(1), learner(9), silent]);
    let found = problems(&joining(), &mut machine(), &cluster);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("https://10.0.0.9:2380") && found[0].contains("learner"), "{found:?}");
    assert!(found[1].contains("cp3") && found[1].contains("machineadm control-plane remove cp3"), "{found:?}");
    let cluster = FakeCluster::of(vec![voter(1)]);
    *cluster.quorum.borrow_mut() = Quorum::Lost("etcdserver: request timed out".into());
    let found = problems(&joining(), &mut machine(), &cluster);
    assert!(found.len() == 1 && found[0].contains("no quorum"), "{found:?}");
    let cluster = FakeCluster::of(vec![voter(1)]);
    cluster.is_silent.set(true);
    let found = problems(&joining(), &mut machine(), &cluster);
    assert!(found.len() == 1 && found[0].starts_with("etcd does not answer"), "{found:?}");
}

#[test]
fn the_reason_says_whether_the_cluster_or_the_machine_is_in_the_way() {
    let of = |cluster: &FakeCluster| run(&joining(), &mut machine(), cluster).unwrap_err().reason();
    let strange = FakeCluster::of(vec![voter(1), learner(9)]);
    assert_eq!(of(&strange), Reason::EtcdNotSafe);
    let mut cluster = FakeCluster::of(vec![voter(1), learner(9)]);
    cluster.configuration.control_plane_endpoint = None;
    assert_eq!(of(&cluster), Reason::ClusterNotSupported, "no other machine would join either");
    let mut host = machine();
    host.outputs.remove("kubeadm version -o short");
    assert_eq!(run(&joining(), &mut host, &cluster).unwrap_err().reason(), Reason::ProgramNotInstalled);
}

#[test]
fn a_kubeadm_that_adds_voters_at_once_does_not_cost_a_cluster_its_only_voter() {
    let of = |kubeadm: &str, gate: Option<bool>| {
        let mut cluster = FakeCluster::of(vec![voter(1)]);
        cluster.configuration.feature_gates.extend(gate.map(|on| ("EtcdLearnerMode".to_owned(), on)));
        let mut host = machine();
        for (program, version) in [("kubeadm version -o short", ""), ("kubelet --version", "Kubernetes ")] {
            host.outputs.insert(program.into(), format!("{version}{kubeadm}\n"));
        }
        (cluster, host)
    };
    for (kubeadm, gate) in [("v1.28.15", None), ("v1.30.14", Some(false))] {
        let (cluster, mut host) = of(kubeadm, gate);
        let found = problems(&joining_with_any_programs(), &mut host, &cluster);
        assert_eq!(found.len(), 1, "{found:?}");
        let command = "machineadm config edit-map --kubeconfig /etc/kubernetes/admin.conf --kubernetes-version v1.36.4 \
                       --feature-gate EtcdLearnerMode=true";
        assert!(found[0].ends_with(command), "the version is that of the cluster: {found:?}");
        cluster.members.borrow_mut().push(voter(3));
        run(&joining_with_any_programs(), &mut host, &cluster).unwrap();
        assert_eq!(ran(&host, "kubeadm join"), 1, "two voters have their quorum without the third");
    }
    let noticed = |kubeadm: &str, gate| {
        let (cluster, mut host) = of(kubeadm, gate);
        let mut remarks = Vec::new();
        run_noting(&joining_with_any_programs(), &mut host, &cluster, &mut remarks).unwrap();
        remarks.into_iter().filter(|remark| remark.contains("as a voter at once")).collect::<Vec<_>>()
    };
    let found = noticed("v1.26.15", None);
    assert!(found.len() == 1 && found[0].contains("restored from a backup"), "{found:?}");
    for (kubeadm, gate) in [("v1.28.15", Some(true)), ("v1.30.14", None), ("v1.36.4", None)] {
        assert_eq!(noticed(kubeadm, gate), [""; 0], "{kubeadm}");
    }
}

#[test]
fn a_member_at_the_address_of_a_new_machine_is_named() {
    let cluster = FakeCluster::of(vec![voter(1), voter(3), voter(2)]);
    let found = problems(&joining(), &mut machine(), &cluster);
    assert!(found.len() == 1 && found[0].contains("machineadm control-plane remove cp2"), "{found:?}");
}

#[test]
fn missing_files_of_static_pods_and_a_missing_endpoint_are_named_at_once() {
    let mount = |path: &str, sort: Option<&str>| HostPathMount {
        host_path: Some(path.into()),
        path_type: sort.map(str::to_owned),
        ..HostPathMount::default()
    };
    let mut cluster = FakeCluster::of(vec![voter(1)]);
    cluster.configuration.control_plane_endpoint = None;
    cluster.configuration.api_server.extra_volumes = vec![
        mount("/etc/audit.yaml", Some("File")),
        mount("/etc/here", None),
        mount("/var/log/a", Some("DirectoryOrCreate")),
    ];
    cluster.configuration.scheduler.extra_volumes = vec![mount("/etc/scheduler", None)];
    let mut host = machine();
    host.files.insert("/etc/here".into(), file("x"));
    let found = problems(&joining(), &mut host, &cluster);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("controlPlaneEndpoint"), "{found:?}");
    assert!(found[1].starts_with("/etc/audit.yaml is missing here, and kube-apiserver"), "{found:?}");
    assert!(found[2].starts_with("/etc/scheduler is missing here, and kube-scheduler"), "{found:?}");
}

#[test]
fn the_control_plane_config_of_a_joining_machine_is_that_of_the_cluster() {
    let arg = |name: &str, value: &str| Arg { name: name.into(), value: value.into(), merge_method: None };
    let mut cluster = FakeCluster::of(vec![voter(1)]);
    cluster.configuration.api_server.extra_args =
        vec![arg("encryption-provider-config", "/etc/kubernetes/machineadm/encryption.yaml"), arg("v", "2")];
    cluster.configuration.api_server.extra_volumes = vec![HostPathMount {
        name: Some("machineadm-files".into()),
        host_path: Some("/etc/kubernetes/machineadm".into()),
        mount_path: Some("/etc/kubernetes/machineadm".into()),
        read_only: Some(true),
        path_type: Some("Directory".into()),
    }];
    let found = problems(&joining(), &mut machine(), &cluster);
    assert!(found.len() == 1 && found[0].starts_with("/etc/kubernetes/machineadm is missing here"), "{found:?}");
    assert!(found[0].contains("add the ControlPlaneConfig"), "{found:?}");
    let with = |config: &str| {
        let mut both = wanted(&[("ControlPlaneConfig", "api-server", config)]);
        both.documents.extend(joining().documents);
        both
    };
    let found = problems(&with("{files: [{name: a, content: x}], arguments: {w: '1'}}"), &mut machine(), &cluster);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("/etc/kubernetes/machineadm/encryption.yaml is missing here"), "{found:?}");
    let differs = "argument encryption-provider-config, argument w;";
    assert!(found[1].contains(differs) && !found[1].contains("volume"), "{found:?}");
    let same = "{encryption: {configuration: '{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, \
                resources: [{resources: [secrets], providers: [{identity: {}}]}]}'}}";
    let mut host = machine();
    run(&with(same), &mut host, &cluster).unwrap();
    assert_eq!(ran(&host, "kubeadm join"), 1);
    let file = &host.files["/etc/kubernetes/machineadm/encryption.yaml"];
    assert_eq!((file.mode, host.directories["/etc/kubernetes/machineadm"].mode), (0o600, 0o700));
    cluster.configuration.feature_gates.insert("RootlessControlPlane".into(), true);
    let found = problems(&with(same), &mut machine(), &cluster);
    assert!(found.len() == 1 && found[0].contains("does not run as root"), "{found:?}");
}

#[test]
fn without_a_certificate_key_the_machine_needs_all_certificates_of_the_cluster() {
    let cluster = FakeCluster::of(vec![voter(1)]);
    let mut host = machine();
    host.files.insert(format!("{PKI}/ca.crt"), SET.on_a_node(PKI)[&format!("{PKI}/ca.crt")].clone());
    let found = problems(&joining_with("{}"), &mut host, &cluster);
    assert!(found.len() == 7 && found.iter().all(|text| text.contains("controlPlane.certificateKey")), "{found:?}");
    host.files.extend(SET.on_a_node(PKI));
    run(&joining_with("{}"), &mut host, &cluster).unwrap();
    assert_eq!(ran(&host, "kubeadm join"), 1);
}

#[test]
fn certificates_of_another_cluster_are_in_the_way_before_anything_is_started() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), machine());
    host.files.extend(PemSet::new().on_a_node(PKI));
    let found = problems(&joining(), &mut host, &cluster);
    assert!(found.iter().any(|text| text.contains("exists with other content")), "{found:?}");
}

/// An operator gives all clusters the same CA certificates, and this machine has been in another one: the certificates of the
/// machine belong together.
#[test]
fn the_service_account_key_of_another_cluster_with_the_same_ca_is_in_the_way() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), machine());
    host.files.extend(SET.on_a_node(PKI));
    let is_of_accounts = |path: &String| path.starts_with(&format!("{PKI}/sa."));
    host.files.extend(PemSet::new().on_a_node(PKI).into_iter().filter(|(path, _)| is_of_accounts(path)));
    let found = problems(&joining(), &mut host, &cluster);
    let expected = ["sa.key", "sa.pub"].map(|name| format!("{PKI}/{name} exists with other content"));
    assert!(found.len() == 2 && expected.iter().all(|text| found.contains(text)), "{found:?}");
}

#[test]
fn a_certificate_key_in_a_file_is_taken_only_if_nobody_but_root_has_access_to_it() {
    let wanted = joining_with("{certificateKeyFile: /srv/key}");
    let cluster = FakeCluster::of(vec![voter(1)]);
    for (mode, text, problem) in [(0o640, KEY, "has mode 0640"), (0o600, "0123", "/srv/key")] {
        let mut host = machine();
        host.files.insert("/srv/key".into(), host::FileState { mode, ..file(text) });
        let found = problems(&wanted, &mut host, &cluster);
        assert!(found.len() == 1 && found[0].contains(problem) && !found[0].contains("e6a2eb"), "{found:?}");
    }
    let mut host = machine();
    host.files.insert("/srv/key".into(), host::FileState { mode: 0o600, ..file(&format!("{KEY}\n")) });
    run(&wanted, &mut host, &cluster).unwrap();
    assert_eq!(ran(&host, "kubeadm join"), 1);
}

/// Some operators remove the administrator's kubeconfig from their control plane nodes.
#[test]
fn a_control_plane_node_without_the_administrators_kubeconfig_is_not_taken_for_a_worker() {
    let files = [&STATIC_PODS[..], &[ETCD, DATA, KUBELET, CERTIFICATE]].concat();
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1), voter(2)]), with(&files, Progress::Ended));
    run(&joining(), &mut host, &cluster).unwrap();
    assert_eq!((ran(&host, "kubeadm"), cluster.did("remove 2")), (0, false));
}

#[test]
fn a_worker_does_not_become_a_control_plane_node() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), with(&[KUBELET, CERTIFICATE], Progress::Ended));
    let found = problems(&joining(), &mut host, &cluster);
    assert!(found.len() == 1 && found[0].contains("is a worker of the cluster"), "{found:?}");
}
