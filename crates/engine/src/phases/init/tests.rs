//! What kubeadm is told for an InitConfig.
use super::*;

fn wanted(version: &str) -> v1alpha1::Init {
    v1alpha1::Init {
        kubernetes_version: version.into(),
        control_plane_endpoint: None,
        advertise_address: None,
        node_name: Some("on".into()),
        node_addresses: Vec::new(),
        runtime_socket: "/run/containerd/containerd.sock".into(),
        pod_subnets: vec!["10.244.0.0/16".into()],
        service_subnets: Vec::new(),
        tolerated_checks: vec![v1alpha1::PreflightCheck::Cgroups],
        image_pull: v1alpha1::ImagePull::IfNotPresent,
        kubelet: [("registerWithTaints".to_owned(), Value::Array(Vec::new()))].into_iter().collect(),
        kube_proxy: Members::new(),
        certificate_key: None,
        bootstrap_token: None,
        without: Vec::new(),
        labels: std::collections::BTreeMap::new(),
        taints: None,
        settings: v1alpha1::ClusterSettings::default(),
        timeouts: v1alpha1::NodeTimeouts::default(),
    }
}

#[test]
fn kubeadm_gets_the_version_that_it_prefers() {
    let apis = ["v1.14.0", "v1.21.14", "v1.30.14", "v1.36.4", "v1.99.0"]
        .map(|version| act(&wanted(version), None, &Facts::default()).unwrap().api_version);
    let wanted = ["v1beta1", "v1beta2", "v1beta3", "v1beta4", "v1beta4"];
    assert_eq!(apis, wanted.map(|api| format!("kubeadm.k8s.io/{api}")));
    assert!(matches!(act(&self::wanted("v1.12.9"), None, &Facts::default()), Err(PlanError::Unfit(_))));
}

#[test]
fn the_plan_names_the_kubeadm_that_preflight_found_and_the_file_the_version_that_was_asked_for() {
    let facts = Facts { kubeadm: Some("v1.36.7".into()), ..Facts::default() };
    let made = act(&wanted("v1.36.4"), None, &facts).unwrap();
    assert_eq!(made.version, "v1.36.7");
    assert!(made.file.expose().contains("kubernetesVersion: \"v1.36.4\""), "{:?}", made.file.expose());
}

#[test]
fn kubeadm_may_take_longer_than_its_phases_are_granted() {
    let minutes = |minutes: u64| std::time::Duration::from_secs(minutes * 60);
    let timeouts = v1alpha1::NodeTimeouts {
        kubelet: Some(minutes(30)),
        control_plane: Some(minutes(60)),
        ..v1alpha1::NodeTimeouts::default()
    };
    let granted = act(&v1alpha1::Init { timeouts, ..wanted("v1.36.4") }, None, &Facts::default()).unwrap();
    assert!(granted.within > minutes(30 + 60), "{:?}", granted.within);
    assert_eq!(act(&wanted("v1.36.4"), None, &Facts::default()).unwrap().within, minutes(20));
}

#[test]
fn what_the_file_cannot_say_goes_by_flag() {
    assert_eq!(
        act(&wanted("v1.14.0"), None, &Facts::default()).unwrap().flags,
        ["--ignore-preflight-errors=SystemVerification"]
    );
    assert_eq!(act(&wanted("v1.36.4"), None, &Facts::default()).unwrap().flags, [""; 0]);
}

#[test]
fn words_stay_words_and_components_stay_as_they_are() {
    let file = act(&wanted("v1.36.4"), None, &Facts::default()).unwrap().file.expose().clone();
    assert!(file.contains("name: \"on\"") && file.contains("podSubnet: \"10.244.0.0/16\""), "{file}");
    assert!(file.contains("registerWithTaints: []"), "{file}");
    assert!(!file.contains("KubeProxyConfiguration") && !file.contains("serviceSubnet"), "{file}");
}

/// Everything that a document can say of the cluster.
fn rich(version: &str) -> v1alpha1::Init {
    let arguments = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into_iter().collect();
    let volume = v1alpha1::Volume {
        name: "audit".into(),
        host_path: "/var/log/audit".into(),
        mount_path: "/audit".into(),
        read_only: false,
        sort: Some(v1alpha1::VolumeType::DirectoryOrCreate),
    };
    v1alpha1::Init {
        tolerated_checks: vec![v1alpha1::PreflightCheck::Ports, v1alpha1::PreflightCheck::Files],
        labels: [("example.com/rack".to_owned(), "r7".to_owned())].into_iter().collect(),
        taints: Some(Vec::new()),
        bootstrap_token: Some(v1alpha1::InitToken {
            token: Some("ae23dc.faddc87f5a5ab458".parse().unwrap()),
            lifetime: Lifetime::Forever,
        }),
        settings: v1alpha1::ClusterSettings {
            dns_domain: Some("k8s.example".into()),
            api_server_port: Some(6444),
            certificates_directory: Some("/srv/pki".into()),
            image_repository: Some("registry.example.com/k8s".into()),
            cluster_name: Some("one".into()),
            feature_gates: [("RootlessControlPlane".to_owned(), false)].into_iter().collect(),
            api_server: v1alpha1::ApiServer {
                cert_sans: vec!["api.example.com".into()],
                arguments: arguments("audit-log-path", "/audit/log"),
                volumes: vec![volume],
            },
            controller_manager: v1alpha1::ControlPlaneProgram {
                arguments: arguments("v", "2"),
                ..v1alpha1::ControlPlaneProgram::default()
            },
            scheduler: v1alpha1::ControlPlaneProgram {
                arguments: arguments("v", "3"),
                ..v1alpha1::ControlPlaneProgram::default()
            },
            etcd: v1alpha1::EtcdMember {
                data_directory: Some("/srv/etcd".into()),
                arguments: arguments("quota-backend-bytes", "1"),
                server_cert_sans: vec!["etcd.example.com".into()],
                peer_cert_sans: vec!["10.0.0.7".into()],
            },
            patches: Some("/srv/patches".into()),
        },
        ..wanted(version)
    }
}

#[test]
fn every_setting_is_in_the_file_of_each_version_of_kubeadm() {
    for version in ["v1.30.14", "v1.36.4", "v1.37.1"] {
        let file = act(&rich(version), None, &Facts::default()).unwrap().file.expose().clone();
        for text in [
            "token: \"ae23dc.faddc87f5a5ab458\"",
            "ttl: \"0s\"",
            "- \"system:bootstrappers:kubeadm:default-node-token\"",
            "bindPort: 6444",
            "taints: []",
            "example.com/rack=r7",
            "directory: \"/srv/patches\"",
            "dnsDomain: \"k8s.example\"",
            "certificatesDir: \"/srv/pki\"",
            "imageRepository: \"registry.example.com/k8s\"",
            "clusterName: \"one\"",
            "RootlessControlPlane: false",
            "audit-log-path",
            "mountPath: \"/audit\"",
            "pathType: \"DirectoryOrCreate\"",
            "- \"api.example.com\"",
            "dataDir: \"/srv/etcd\"",
            "quota-backend-bytes",
            "- \"etcd.example.com\"",
            "- \"10.0.0.7\"",
            "- \"Port-6444\"",
            "- \"DirAvailable--srv-etcd\"",
        ] {
            assert!(file.contains(text), "{version}: {text}\n{file}");
        }
        assert!(!file.contains("readOnly: true"), "{file}");
    }
}

#[test]
fn a_token_for_a_day_has_both_usages_and_none_is_said_where_none_is_asked_for() {
    let lifetime = Lifetime::default();
    let token = Some(v1alpha1::InitToken { token: None, lifetime });
    let file = act(&v1alpha1::Init { bootstrap_token: token, ..wanted("v1.36.4") }, None, &Facts::default()).unwrap();
    let file = file.file.expose();
    for text in ["ttl: \"24h0m0s\"", "- \"signing\"", "- \"authentication\""] {
        assert!(file.contains(text), "{text}: {file}");
    }
    assert!(!act(&wanted("v1.36.4"), None, &Facts::default()).unwrap().file.expose().contains("bootstrapTokens"));
}

#[test]
fn the_upload_and_the_undo_follow_the_certificates_directory() {
    let key = Some(Secret::new("e6".repeat(32)));
    let directory = |wanted: &v1alpha1::Init| upload(wanted).unwrap().unwrap().directory;
    let plain = v1alpha1::Init { certificate_key: key.clone(), ..wanted("v1.36.4") };
    assert_eq!(directory(&plain), std::path::Path::new(plain.settings.certificates()));
    let rich = v1alpha1::Init { certificate_key: key, ..rich("v1.36.4") };
    assert_eq!(directory(&rich), std::path::Path::new("/srv/pki"));
    let act = act(&rich, None, &Facts::default()).unwrap();
    assert_eq!(act.certificates.as_deref(), Some("/srv/pki"));
}
