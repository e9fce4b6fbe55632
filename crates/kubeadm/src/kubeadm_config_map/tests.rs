//! What becomes of the data of a ConfigMap.
use super::*;

const OF_1_30: &str = "\
apiServer:
  extraArgs:
    authorization-mode: Node,RBAC
  timeoutForControlPlane: 4m0s
  ours: {kept: true}
apiVersion: kubeadm.k8s.io/v1beta3
certificatesDir: /etc/kubernetes/pki
clusterName: kubernetes
controllerManager: {}
dns: {}
etcd:
  local:
    dataDir: /var/lib/etcd
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.30.14
networking:
  dnsDomain: cluster.local
  serviceSubnet: 10.96.0.0/12
scheduler: {}
vendorKey: [1, two]
";

const STATUS: &str = "\
apiEndpoints:
  cp-1: {advertiseAddress: 10.0.0.1, bindPort: 6443}
  cp-2: {advertiseAddress: 10.0.0.2, bindPort: 6443}
apiVersion: kubeadm.k8s.io/v1beta2
kind: ClusterStatus
";

fn data(cluster: &str) -> BTreeMap<String, String> {
    let entry = |key: &str, text: &str| (key.to_owned(), text.to_owned());
    [entry(CLUSTER_CONFIGURATION, cluster), entry(CLUSTER_STATUS, STATUS), entry("other", "bytes \t")].into()
}

fn target(version: &str) -> Target {
    Target::new(version).unwrap()
}

fn cluster_of(edited: &Edited) -> Value {
    yaml::value(&edited.data[CLUSTER_CONFIGURATION]).unwrap()
}

#[test]
fn an_edit_that_changes_nothing_leaves_every_byte_alone() {
    let edited = edit(&data(OF_1_30), &target("1.30.14"), |_| {}).unwrap();
    assert_eq!((edited.is_changed, edited.data), (false, data(OF_1_30)));
}

#[test]
fn an_upgrade_to_1_31_changes_the_version_and_keeps_what_nobody_knows() {
    let edited = edit(&data(OF_1_30), &target("1.31.2"), |_| {}).unwrap();
    let cluster = cluster_of(&edited);
    assert!(edited.is_changed && edited.losses.is_empty(), "{edited:?}");
    assert_eq!(cluster["apiVersion"], "kubeadm.k8s.io/v1beta4");
    assert_eq!(cluster["kubernetesVersion"], "v1.31.2");
    assert_eq!(cluster["vendorKey"], serde_json::json!([1, "two"]));
    assert_eq!(cluster["apiServer"]["ours"], serde_json::json!({"kept": true}));
    assert_eq!(cluster["apiServer"]["extraArgs"][0]["name"], "authorization-mode");
    assert_eq!((&edited.data[CLUSTER_STATUS], &edited.data["other"]), (&STATUS.to_owned(), &"bytes \t".to_owned()));
}

#[test]
fn a_patch_release_keeps_the_api_version() {
    let edited = edit(&data(OF_1_30), &target("1.30.15"), |cluster| {
        cluster.image_repository = Some("registry.example.com".to_owned());
        cluster.dns.image_tag = Some("v1.12.0".to_owned());
        cluster.feature_gates.insert("EtcdLearnerMode".to_owned(), true);
    });
    let cluster = cluster_of(&edited.unwrap());
    assert_eq!(cluster["apiVersion"], "kubeadm.k8s.io/v1beta3");
    assert_eq!(cluster["imageRepository"], "registry.example.com");
    assert_eq!(cluster["dns"]["imageTag"], "v1.12.0");
    assert_eq!(cluster["featureGates"]["EtcdLearnerMode"], true);
    assert_eq!(cluster["apiServer"]["timeoutForControlPlane"], "4m0s");
}

#[test]
fn a_waiting_time_that_v1beta4_keeps_elsewhere_is_a_named_loss() {
    let text = OF_1_30.replace("4m0s", "9m0s");
    let edited = edit(&data(&text), &target("1.31.0"), |_| {}).unwrap();
    let paths: Vec<_> = edited.losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(paths, ["ClusterConfiguration.apiServer.timeoutForControlPlane"]);
}

#[test]
fn a_node_is_removed_from_the_status_only_below_1_22() {
    let removed = remove_api_endpoint(&data(OF_1_30), &target("1.21.14"), "cp-2").unwrap();
    let status = yaml::value(&removed[CLUSTER_STATUS]).unwrap();
    assert_eq!(status["apiEndpoints"], serde_json::json!({"cp-1": {"advertiseAddress": "10.0.0.1", "bindPort": 6443}}));
    assert_eq!(remove_api_endpoint(&data(OF_1_30), &target("1.22.0"), "cp-2").unwrap(), data(OF_1_30));
    assert_eq!(remove_api_endpoint(&data(OF_1_30), &target("1.21.14"), "cp-9").unwrap(), data(OF_1_30));
}

#[test]
fn what_can_not_be_edited_says_why() {
    let of = |text: &str| edit(&data(text), &target("1.31.0"), |_| {}).unwrap_err().to_string();
    assert_eq!(of("a: ["), "ClusterConfiguration cannot be read");
    let unknown = "ClusterConfiguration has the unsupported apiVersion \"kubeadm.k8s.io/v1alpha3\"; \
        supported are kubeadm.k8s.io/v1beta1 to v1beta4 and v1";
    assert_eq!(of("apiVersion: kubeadm.k8s.io/v1alpha3"), unknown);
    let wrong = of("apiVersion: kubeadm.k8s.io/v1beta3\nclusterName: [x]");
    assert_eq!(wrong, "ClusterConfiguration.clusterName: must be text, not a list");
    let missing = edit(&BTreeMap::new(), &target("1.31.0"), |_| {}).unwrap_err().to_string();
    assert!(missing.starts_with("the ConfigMap has no key ClusterConfiguration"), "{missing}");
}
