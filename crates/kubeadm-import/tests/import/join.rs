//! JoinConfiguration.
use crate::hub::{join, notes, unsupported};
use documents::v1alpha1::{JoinConfig, PreflightCheck};

const CONTROL_PLANE: &str = "
join:
  caCertPath: /etc/kubernetes/pki/ca.crt
  nodeRegistration:
    name: '{{ machine.Name }}'
    criSocket: /run/custom.sock
    taints: [{key: demo, effect: NoSchedule}]
    ignorePreflightErrors: [Mem]
    imagePullPolicy: Never
  discovery:
    bootstrapToken:
      token: abcdef.0123456789abcdef
      apiServerEndpoint: cp.example.com:6443
      caCertHashes: ['sha256:ab']
      unsafeSkipCAVerification: true
    tlsBootstrapToken: ghijkl.0123456789ghijkl
  controlPlane:
    certificateKey: e6a2
    localAPIEndpoint: {advertiseAddress: 192.168.0.10, bindPort: 7443}
  patches: {directory: /srv/patches}
  timeouts:
    controlPlaneComponentHealthCheck: 6m0s
    kubeletHealthCheck: 3m0s
    tlsBootstrap: 8m0s
    discovery: 7m0s
";

#[test]
fn everything_that_a_join_config_has_a_place_for_is_in_it() {
    let imported = join(CONTROL_PLANE);
    let expected = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: JoinConfig
spec:
  discovery:
    token:
      endpoints:
        - \"cp.example.com:6443\"
      token: \"abcdef.0123456789abcdef\"
      caPins:
        - \"sha256:ab\"
      unsafeWithoutCAPins: true
    timeout: \"7m0s\"
  tlsBootstrapToken: \"ghijkl.0123456789ghijkl\"
  controlPlane:
    certificateKey: \"e6a2\"
    advertiseAddress: \"192.168.0.10\"
    apiServerPort: 7443
    patches: \"/srv/patches\"
  nodeName: \"{{ machine.Name }}\"
  taints:
    - key: \"demo\"
      effect: \"NoSchedule\"
  runtimeSocket: \"/run/custom.sock\"
  toleratedChecks:
    - \"memory\"
  imagePull: \"Never\"
  timeouts:
    kubelet: \"3m0s\"
    certificate: \"8m0s\"
    controlPlane: \"6m0s\"
";
    assert_eq!(documents::write(None, &imported.document).expose(), expected);
    assert_eq!((unsupported(&imported.report), notes(&imported.report)), (vec![], vec![]));
    assert_eq!(imported.worker_patches, None);
}

#[test]
fn what_says_nothing_means_an_empty_join_config() {
    let defaults = "
join:
  dryRun: false
  discovery: {file: {kubeConfigPath: ''}, tlsBootstrapToken: ''}
  patches: {directory: ''}
  timeouts: {discovery: 5m0s, tlsBootstrap: 5m0s, upgradeManifests: 5m0s, kubernetesAPICall: 1m0s, etcdAPICall: 2m0s}
";
    let imported = join(defaults);
    assert_eq!((imported.document, imported.worker_patches), (JoinConfig::default(), None));
    assert_eq!((unsupported(&imported.report), notes(&imported.report)), (vec![], vec![]));
}

#[test]
fn a_kubeconfig_is_named_by_path_or_address() {
    let location = |path: &str| {
        let imported = join(&format!("join: {{discovery: {{file: {{kubeConfigPath: '{path}'}}}}}}"));
        imported.document.discovery.file.map(|file| file.location.expose().clone())
    };
    assert_eq!(location("file:///srv/a.conf").as_deref(), Some("/srv/a.conf"));
    assert_eq!(location("/srv/a.conf").as_deref(), Some("/srv/a.conf"));
    assert_eq!(location("https://a/b").as_deref(), Some("https://a/b"));
}

#[test]
fn empty_tokens_and_keys_are_none() {
    let imported = join(
        "join: {discovery: {bootstrapToken: {token: '', apiServerEndpoint: ''}}, controlPlane: {certificateKey: ''}}",
    );
    let token = imported.document.discovery.token.expect("discovery by a token");
    assert!(token.token.is_none() && token.endpoints.is_empty() && !token.unsafe_without_ca_pins, "{token:?}");
    assert!(imported.document.control_plane.is_some_and(|spec| spec.certificate_key.is_none()));
}

#[test]
fn every_other_field_is_listed_by_path_and_value() {
    let imported = join(
        "
join:
  dryRun: true
  caCertPath: /srv/ca.crt
  controlPlane: {localAPIEndpoint: {bindPort: -1}}
  nodeRegistration: {taints: []}
  skipPhases: [etcd-join, nonsense]
  timeouts: {kubernetesAPICall: 2m0s, etcdAPICall: 3m0s, upgradeManifests: 7m0s}
",
    );
    let expected = [
        "JoinConfiguration.dryRun = true",
        "JoinConfiguration.caCertPath = /srv/ca.crt",
        "JoinConfiguration.controlPlane.localAPIEndpoint.bindPort = -1 (must be a port from 1 to 65535)",
        "JoinConfiguration.nodeRegistration.taints = [] (a JoinConfig cannot make a control plane node without a taint; ",
        "JoinConfiguration.skipPhases[etcd-join] = etcd-join (without this phase ",
        "JoinConfiguration.skipPhases[nonsense] = nonsense (unknown phase; ",
        "JoinConfiguration.timeouts.kubernetesAPICall = 2m0s",
        "JoinConfiguration.timeouts.etcdAPICall = 3m0s",
        "JoinConfiguration.timeouts.upgradeManifests = 7m0s",
    ];
    let found = unsupported(&imported.report);
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    assert_eq!(imported.report.no_field(), "a JoinConfig has no field for it");
    assert_eq!(notes(&imported.report), [""; 0]);
}

#[test]
fn what_only_a_control_plane_has_is_noted_on_a_worker() {
    let imported = join(
        "
join:
  nodeRegistration: {taints: []}
  skipPhases: [preflight, etcd-join]
  patches: {directory: /srv/patches}
  timeouts: {controlPlaneComponentHealthCheck: 6m0s}
",
    );
    assert_eq!(imported.worker_patches.as_deref(), Some("/srv/patches"));
    assert_eq!(imported.document.tolerated_checks, [PreflightCheck::All]);
    assert_eq!(imported.document.timeouts, Default::default());
    assert_eq!(unsupported(&imported.report), [""; 0]);
    let expected = [
        "JoinConfiguration.skipPhases[preflight] is set by spec.toleratedChecks",
        "JoinConfiguration.skipPhases[etcd-join] has no effect: a worker has no such phase",
        "JoinConfiguration.timeouts.controlPlaneComponentHealthCheck has no effect: a worker has no control plane",
    ];
    assert_eq!(notes(&imported.report), expected);
}
