//! A ControlPlaneConfig and a static pod on whole machines: the API server audits, admits, encrypts, authenticates and
//! authorizes as the document says, on the first control plane node and on one that joins.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, ends_well, with_program};
use crate::support::control_plane::{etcd, first_of_several, members, serves, voters};
use crate::support::further_node::further;
use base64::{Engine, prelude::BASE64_STANDARD as BASE64};
use testbed::{Bed, Machine, Profile, Result, TOOLS_IMAGE, until};

/// A KMS plugin, every member of the kind but webhooks, and a static pod.
const FILES: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
metadata: {name: kms}
spec:
  files:
  - path: /etc/machineadm/kms/keys.yaml
    mode: '0600'
    content: 'keys: [{name: first, secret: ZXhhbXBsZSBvZiBhIGtleSB3aXRoIDMyIGJ5dGVzLi4=}]'
  - path: /etc/machineadm/kms.yaml
    content: |
      apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1
      kind: PluginConfiguration
      keys:
      - name: current
        socket: /run/kmsplugin/current.sock
        file: {path: /etc/machineadm/kms/keys.yaml}
  - path: /etc/systemd/system/kmsplugin.service
    content: |
      [Service]
      ExecStart=/usr/bin/machineadm-kms-plugin --config /etc/machineadm/kms.yaml
      RuntimeDirectory=kmsplugin
      RuntimeDirectoryMode=0700
      RuntimeDirectoryPreserve=yes
      [Install]
      WantedBy=multi-user.target
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ServicesConfig
metadata: {name: kms}
spec:
  services: [{name: kmsplugin, enabled: true, state: started}]
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ControlPlaneConfig
metadata: {name: api-server}
spec:
  audit:
    policy: |
      apiVersion: audit.k8s.io/v1
      kind: Policy
      rules:
      - level: Metadata
        resources: [{group: '', resources: [configmaps]}]
      - level: None
    log: {maxSizeMegabytes: 10, maxBackups: 1}
  admission:
    enable: [DenyServiceExternalIPs]
    configuration: |
      apiVersion: apiserver.config.k8s.io/v1
      kind: AdmissionConfiguration
      plugins:
      - {name: PodSecurity, path: pod-security.yaml}
  encryption:
    configuration: |
      apiVersion: apiserver.config.k8s.io/v1
      kind: EncryptionConfiguration
      resources:
      - resources: [secrets]
        providers:
        - kms: {apiVersion: v2, name: current, endpoint: 'unix:///run/kmsplugin/current.sock'}
        - identity: {}
      - resources: [configmaps]
        providers:
        - secretbox:
            keys: [{name: first, secret: ZXhhbXBsZSBvZiBhIGtleSB3aXRoIDMyIGJ5dGVzLi4=}]
        - identity: {}
  authentication:
    configuration: |
      apiVersion: apiserver.config.k8s.io/v1
      kind: AuthenticationConfiguration
      jwt:
      - issuer: {url: 'https://login.example.com', audiences: [kubernetes]}
        claimMappings: {username: {claim: sub, prefix: 'login:'}}
      anonymous:
        enabled: true
        conditions:
        - {path: /livez}
        - {path: /readyz}
        - {path: /healthz}
        - {path: /api/v1/namespaces/kube-public/configmaps/cluster-info}
  authorization:
    configuration: |
      apiVersion: apiserver.config.k8s.io/v1
      kind: AuthorizationConfiguration
      authorizers: [{type: Node, name: node}, {type: RBAC, name: rbac}]
  files:
  - name: pod-security.yaml
    content: |
      apiVersion: pod-security.admission.config.k8s.io/v1
      kind: PodSecurityConfiguration
      defaults: {enforce: baseline, enforce-version: latest}
      exemptions: {namespaces: [kube-system]}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: StaticPodsConfig
metadata: {name: companion}
spec:
  pods:
  - manifest: |
      apiVersion: v1
      kind: Pod
      metadata: {name: companion, namespace: kube-system}
      spec:
        hostNetwork: true
        containers:
        - {name: companion, image: IMAGE, imagePullPolicy: Never}
---
";

/// The documents of a machine, with the files.
fn with_files(documents: &str) -> String {
    FILES.replace("IMAGE", TOOLS_IMAGE) + documents
}

/// A machine that is on, with both programs.
fn booted(bed: &Bed, name: &str) -> Result<Machine> {
    let machine = with_program(bed.machine(name, &Profile::node())?)?;
    let plugin = machineadm_benches::machine_kms_plugin().expect("the static KMS plugin");
    machine.copy_in(&plugin, "/usr/bin/machineadm-kms-plugin")?;
    machine.boot()?;
    Ok(machine)
}

/// The kubelet of a machine runs the static pod.
fn runs_companion(machine: &Machine) -> Result<()> {
    let pod = format!("companion-{}", machine.name());
    until(&pod, LIMIT, || {
        let phase = ["-n", "kube-system", "get", "pod", &pod, "-o", "jsonpath={.status.phase}"];
        match machine.kubectl(&phase) {
            Ok(phase) if phase == "Running" => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
}

/// The API server of this machine writes what it was asked into its own audit log.
fn audits(machine: &Machine, name: &str) -> Result<()> {
    let url = format!("--server=https://{}:6443", machine.address());
    machine.kubectl(&[&url, "create", "configmap", name])?;
    let log = "/var/log/kubernetes/audit/audit.log";
    let event = format!("grep -F '\"verb\":\"create\"' {log} | grep -cF '\"name\":\"{name}\"'");
    let found = machine.shell(&event)?;
    assert_ne!(found.trim(), "0", "{found}");
    assert_eq!(machine.shell(&format!("grep -c '\"resource\":\"secrets\"' {log} || true"))?.trim(), "0");
    Ok(())
}

/// What the API server refuses or hides because of its files.
fn admits_and_authenticates(machine: &Machine) -> Result<()> {
    let refused = |words: &[&str], why: &str| {
        let error = machine.kubectl(words).map_or_else(|error| error.to_string(), |printed| format!("done: {printed}"));
        assert!(error.contains(why), "{words:?}: {error}");
    };
    let service = "{\"spec\": {\"externalIPs\": [\"192.0.2.1\"]}}";
    let create = ["create", "service", "clusterip", "outside", "--tcp=80:80"];
    machine.kubectl(&create)?;
    refused(&["patch", "service", "outside", "--type=merge", "-p", service], "externalIPs");
    let host = "{\"spec\": {\"hostNetwork\": true}}";
    let run = ["run", "outside", "--image=example.com/a", "--dry-run=server", "--overrides", host];
    refused(&run, "violates PodSecurity \"baseline:latest\"");
    let anonymous = |path: &str| {
        let url = format!("https://{}:6443{path}", machine.address());
        machine.shell(&format!("curl -sk -o /dev/null -w '%{{http_code}}' {url}"))
    };
    // By default /version is open to everybody.
    assert_eq!((anonymous("/readyz")?, anonymous("/version")?), ("200".to_owned(), "401".to_owned()));
    let command = machine.shell("tr '\\0' '\\n' < /proc/$(pgrep -o -x kube-apiserver)/cmdline")?;
    assert!(command.contains("--authorization-config=/etc/kubernetes/machineadm/authorization.yaml"), "{command}");
    assert!(!command.contains("--authorization-mode"), "{command}");
    Ok(())
}

/// What the document names is in etcd as ciphertexts of the keys that it names.
fn encrypts(machine: &Machine) -> Result<()> {
    let word = "--from-literal=word=hunter2hunter2";
    machine.kubectl(&["create", "secret", "generic", "hidden", word])?;
    machine.kubectl(&["create", "configmap", "hidden", word])?;
    for (resource, prefix) in [("secrets", "k8s:enc:kms:v2:current:"), ("configmaps", "k8s:enc:secretbox:v1:first:")] {
        let key = BASE64.encode(format!("/registry/{resource}/default/hidden"));
        let found = etcd(machine, "kv/range", &format!("{{\"key\":\"{key}\"}}"))?;
        let stored = BASE64.decode(found["kvs"][0]["value"].as_str().unwrap_or_default()).expect("base64");
        assert!(stored.starts_with(prefix.as_bytes()), "{resource}: {found}");
        assert!(!stored.windows(14).any(|window| window == b"hunter2hunter2"), "{resource}");
    }
    Ok(())
}

#[test]
fn control_plane_nodes_audit_admit_encrypt_and_authenticate_as_their_document_says() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let first = booted(&bed, "cp1")?;
    let endpoint = format!("{}:6443", first.address());
    first.write("/srv/node.yaml", with_files(&first_of_several(&ca, &endpoint)), 0o600)?;
    ends_well(&first, &["bootstrap", "-f", "/srv/node.yaml"])?;
    runs_companion(&first)?;
    audits(&first, "first")?;
    admits_and_authenticates(&first)?;
    encrypts(&first)?;
    let modes = first.shell("stat -c '%a %U' /etc/kubernetes/machineadm /etc/kubernetes/machineadm/* | sort -u")?;
    assert_eq!(modes, "600 root\n700 root\n");
    let again = first.run_within(&[PROGRAM, "bootstrap", "-f", "/srv/node.yaml"], LIMIT)?;
    assert!(again.code == 0 && again.stdout.contains("nothing to do"), "{again:?}");

    // Without the document, the join names what is missing, and nothing is started.
    let second = booted(&bed, "cp2")?;
    second.write("/srv/node.yaml", further(&endpoint, &ca), 0o600)?;
    let refused = second.run_within(&[PROGRAM, "bootstrap", "-f", "/srv/node.yaml"], LIMIT)?;
    let status = second.run(&[PROGRAM, "status"])?.stdout;
    assert!(refused.code == 1 && status.contains("/etc/kubernetes/machineadm is missing here"), "{status}");
    assert_eq!((members(&first)?.len(), second.run(&["test", "-e", "/etc/kubernetes"])?.code), (1, 1));

    second.write("/srv/node.yaml", with_files(&further(&endpoint, &ca)), 0o600)?;
    ends_well(&second, &["bootstrap", "-f", "/srv/node.yaml"])?;
    assert_eq!(voters(&first)?, ["cp1", "cp2"]);
    serves(&second)?;
    runs_companion(&second)?;
    audits(&second, "second")?;
    let url = format!("--server=https://{}:6443", second.address());
    let word = second.kubectl(&[&url, "get", "secret", "hidden", "-o", "jsonpath={.data.word}"])?;
    assert_eq!(BASE64.decode(word).expect("base64"), b"hunter2hunter2");

    // A reset deletes the files and the pod with the rest.
    ends_well(&second, &["reset", "--yes"])?;
    assert_eq!(second.run(&["test", "-e", "/etc/kubernetes"])?.code, 1);
    assert_eq!(second.shell("pgrep -c -x pause || true")?.trim(), "0");
    assert_eq!(voters(&first)?, ["cp1"]);
    bed.down()
}
