//! What is written for Kubernetes 1.36: a file that says what the hub says, no more and no less.
use machineadm_kubeadm::{
    Converted, Target, convert,
    hub::{
        Arg, BootstrapToken, BootstrapTokenDiscovery, ClusterConfiguration, Discovery, Documents, InitConfiguration,
        JoinConfiguration, JoinControlPlane, NodeRegistration,
    },
};
use secret::Secret;

fn written(documents: &Documents, version: &str) -> Converted {
    convert(documents, &Target::new(version).expect("a version"))
}

fn node(name: &str) -> NodeRegistration {
    let kubelet_extra_args = vec![Arg { name: "node-labels".to_owned(), value: "on".to_owned(), ..Arg::default() }];
    NodeRegistration {
        name: Some(name.to_owned()),
        taints: Some(Vec::new()),
        kubelet_extra_args,
        ..NodeRegistration::default()
    }
}

#[test]
fn an_init_is_written_with_its_version_and_every_string_quoted() {
    let token = BootstrapToken { token: Some(Secret::new("abcdef.0123456789abcdef".to_owned())), ..Default::default() };
    let init = InitConfiguration {
        bootstrap_tokens: vec![token],
        node_registration: node("cp-1"),
        ..InitConfiguration::default()
    };
    let cluster = ClusterConfiguration { cluster_name: Some("demo".to_owned()), ..ClusterConfiguration::default() };
    let documents = Documents { init: Some(init), cluster: Some(cluster), ..Documents::default() };
    let expected = r#"apiVersion: "kubeadm.k8s.io/v1beta4"
kind: "InitConfiguration"
bootstrapTokens:
  - token: "abcdef.0123456789abcdef"
nodeRegistration:
  kubeletExtraArgs:
    - name: "node-labels"
      value: "on"
  name: "cp-1"
  taints: []
---
apiVersion: "kubeadm.k8s.io/v1beta4"
kind: "ClusterConfiguration"
clusterName: "demo"
kubernetesVersion: "v1.36.4"
"#;
    let converted = written(&documents, "1.36.4");
    assert_eq!(converted.yaml(), expected);
    assert!(converted.flags.is_empty() && converted.losses.is_empty());
}

#[test]
fn a_join_of_the_control_plane_says_so_even_if_it_says_nothing_else() {
    let bootstrap_token = BootstrapTokenDiscovery {
        token: Some(Secret::new("abcdef.0123456789abcdef".to_owned())),
        api_server_endpoint: Some("10.0.0.1:6443".to_owned()),
        ..BootstrapTokenDiscovery::default()
    };
    let join = JoinConfiguration {
        discovery: Discovery { bootstrap_token: Some(bootstrap_token), ..Discovery::default() },
        control_plane: Some(JoinControlPlane::default()),
        ..JoinConfiguration::default()
    };
    let expected = r#"apiVersion: "kubeadm.k8s.io/v1beta4"
kind: "JoinConfiguration"
controlPlane: {}
discovery:
  bootstrapToken:
    apiServerEndpoint: "10.0.0.1:6443"
    token: "abcdef.0123456789abcdef"
"#;
    let converted = written(&Documents { join: Some(join), ..Documents::default() }, "1.36.4");
    assert_eq!(converted.yaml(), expected);
}

#[test]
fn no_debug_text_holds_a_token() {
    let token = BootstrapToken { token: Some(Secret::new("abcdef.0123456789abcdef".to_owned())), ..Default::default() };
    let init = InitConfiguration { bootstrap_tokens: vec![token], ..InitConfiguration::default() };
    let documents = Documents { init: Some(init), ..Documents::default() };
    let text = format!("{documents:?} {:?}", written(&documents, "1.13.0"));
    assert!(!text.contains("0123456789"), "{text}");
}
