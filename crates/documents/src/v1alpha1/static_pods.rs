//! StaticPodsConfig: pods that the kubelet of this machine runs by itself.
use super::API_VERSION;
use crate::{
    Claim, Claimed, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    metadata::is_subdomain,
    path,
};
use objects::yaml;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where the kubelet of a node that kubeadm sets up looks for pods.
pub const STATIC_PODS_DIRECTORY: &str = objects::kubernetes_paths::MANIFESTS;
/// The pods that kubeadm writes there.
const OF_KUBEADM: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
/// Members of a pod's spec and containers that refer to objects of the API server.
const REFERENCES: [&str; 8] = [
    "configMapKeyRef",
    "configMapRef",
    "imagePullSecrets",
    "resourceClaims",
    "secretKeyRef",
    "secretRef",
    "serviceAccount",
    "serviceAccountName",
];
/// Volumes that do.
const VOLUMES: [&str; 7] =
    ["azureFile", "configMap", "csi", "ephemeral", "glusterfs", "persistentVolumeClaim", "secret"];
/// Sources of projected volumes that do.
const SOURCES: [&str; 5] = ["clusterTrustBundle", "configMap", "podCertificate", "secret", "serviceAccountToken"];

/// A pod that the kubelet runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticPod {
    /// Its file.
    pub path: String,
    /// Its manifest.
    pub manifest: Secret<Vec<u8>>,
    /// Whether it came encrypted, so that it is never shown.
    pub confidential: bool,
    /// The field that has it.
    field: String,
}

/// Pods that the kubelet of this machine runs without the API server, such as a webhook that the API server calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StaticPodsConfig {
    /// The pods. One that is removed here later keeps running until `--prune` deletes its file.
    #[schemars(length(min = 1))]
    pub pods: Vec<StaticPodSpec>,
}

/// One pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StaticPodSpec {
    /// Manifest of the pod: YAML, apiVersion v1, kind Pod. It is written to `/etc/kubernetes/manifests/NAME.yaml` with the
    /// name of the pod, readable by root alone. A static pod cannot refer to Secrets, ConfigMaps, service accounts or
    /// other objects of the API server: write its files with a FilesConfig, and mount them.
    pub manifest: String,
}

impl Document for StaticPodsConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "StaticPodsConfig";
    const SUMMARY: &str = "Pods that the kubelet of this machine runs without the API server.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: StaticPodsConfig
metadata:
  name: token-webhook
spec:
  pods:
  - manifest: |
      apiVersion: v1
      kind: Pod
      metadata:
        name: token-webhook
        namespace: kube-system
      spec:
        hostNetwork: true
        priorityClassName: system-node-critical
        containers:
        - name: token-webhook
          image: registry.example.com/token-webhook:v1
          volumeMounts:
          - name: configuration
            mountPath: /etc/token-webhook
            readOnly: true
        volumes:
        - name: configuration
          hostPath:
            path: /etc/token-webhook
            type: Directory
";
}

impl Check for StaticPodsConfig {
    type Checked = Vec<StaticPod>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Vec<StaticPod> {
        let Self { pods } = self;
        if pods.is_empty() {
            findings.error("spec.pods", "must contain at least one pod");
        }
        let pods = pods.into_iter().enumerate();
        let field = |index| path::member(&path::item("spec.pods", index), "manifest");
        pods.filter_map(|(index, pod)| static_pod(pod, field(index), findings)).collect()
    }
}

impl Body for Vec<StaticPod> {
    fn confidential(&self) -> Vec<&[u8]> {
        self.iter().map(|pod| pod.manifest.expose().as_slice()).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        self.iter().map(|pod| Claim::new(&*pod.field, Claimed::StaticPod(&pod.path))).collect()
    }

    fn conceal(&mut self) {
        self.iter_mut().for_each(|pod| pod.confidential = true);
    }
}

fn static_pod(pod: StaticPodSpec, field: String, findings: &mut Findings<'_>) -> Option<StaticPod> {
    let (StaticPodSpec { manifest }, here) = (pod, &*field);
    let tree = match yaml::parse(&manifest) {
        Ok(tree) => tree,
        Err(error) => {
            findings.error(here, error.to_string());
            return None;
        }
    };
    if tree.goes_on {
        findings.error(here, "has more than one document (`---` or `...`): make each a pod of its own");
    }
    if tree.value["apiVersion"] != "v1" || tree.value["kind"] != "Pod" {
        findings.error(here, "must be of kind Pod, apiVersion v1");
        return None;
    }
    let name = tree.value["metadata"]["name"].as_str().unwrap_or_default();
    if !is_subdomain(name) {
        findings.error(here, "metadata.name must be lower-case letters, digits, `-` and `.`, at most 253 characters");
    } else if OF_KUBEADM.contains(&name) {
        findings.error(here, "metadata.name is that of a pod that kubeadm writes").hint("use another name");
    }
    check_spec(&tree.value["spec"], here, findings);
    let path = format!("{STATIC_PODS_DIRECTORY}/{name}.yaml");
    Some(StaticPod { path, manifest: Secret::new(manifest.into_bytes()), confidential: false, field })
}

/// The kubelet refuses a static pod that refers to objects of the API server.
/// <https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/config/common.go>
fn check_spec(spec: &Value, here: &str, findings: &mut Findings<'_>) {
    let containers = spec["containers"].as_array().map_or(&[][..], Vec::as_slice);
    if containers.is_empty() {
        findings.error(here, "spec.containers must have at least one container");
    }
    for (index, container) in containers.iter().enumerate() {
        for member in ["name", "image"] {
            if container[member].as_str().is_none_or(str::is_empty) {
                findings.error(here, format!("spec.containers[{index}].{member} is required, but missing"));
            }
        }
    }
    let mut found = Vec::new();
    references(spec, "spec", &mut found);
    for (index, volume) in spec["volumes"].as_array().into_iter().flatten().enumerate() {
        let at = format!("spec.volumes[{index}]");
        found.extend(members(volume, &VOLUMES).map(|name| format!("{at}.{name}")));
        for (index, source) in volume["projected"]["sources"].as_array().into_iter().flatten().enumerate() {
            found.extend(members(source, &SOURCES).map(|name| format!("{at}.projected.sources[{index}].{name}")));
        }
    }
    for at in found {
        findings
            .error(here, format!("{at} refers to an object of the API server, which a static pod cannot"))
            .hint("write a file with FilesConfig, and mount it with hostPath");
    }
}

/// The members of these names that are set.
fn members<'n>(value: &Value, names: &'n [&str]) -> impl Iterator<Item = &'n str> {
    let value = value.clone();
    names.iter().copied().filter(move |name| !value[*name].is_null())
}

/// Every reference below a value.
fn references(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| references(item, &path::item(at, index), found));
        }
        Value::Object(values) => {
            for (name, member) in values {
                let at = path::member(at, name);
                match REFERENCES.contains(&name.as_str()) && !is_empty(member) {
                    true => found.push(at),
                    false => references(member, &at, found),
                }
            }
        }
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AnyDocument,
        testing::{found, spec, with_spec},
    };

    fn pod(name: &str, rest: &str) -> String {
        format!("{{manifest: '{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{{rest}}}}}'}}")
    }

    fn problems(pods: &[String]) -> Vec<String> {
        found(&with_spec("StaticPodsConfig", &format!("pods: [{}]", pods.join(", "))))
    }

    const CONTAINER: &str = "containers: [{name: a, image: b}]";

    #[test]
    fn a_pod_is_written_under_its_name() {
        let AnyDocument::StaticPods(pods) =
            spec("StaticPodsConfig", &format!("pods: [{}]", pod("web.hook", CONTAINER)))
        else {
            panic!()
        };
        assert_eq!(pods[0].path, "/etc/kubernetes/manifests/web.hook.yaml");
        assert!(pods[0].manifest.expose().starts_with(b"{apiVersion: v1"));
    }

    #[test]
    fn what_is_no_pod_or_a_pod_of_kubeadms_is_refused() {
        let other = "{manifest: '{apiVersion: apps/v1, kind: Deployment}'}".to_owned();
        let expected = [
            "spec.pods[0].manifest: must be of kind Pod, apiVersion v1",
            "spec.pods[1].manifest: metadata.name is that of a pod that kubeadm writes",
            "spec.pods[2].manifest: metadata.name must be lower-case letters, digits, `-` and `.`, at most 253 characters",
            "spec.pods[2].manifest: spec.containers must have at least one container",
            "spec.pods[3].manifest: spec.containers[0].image is required, but missing",
        ];
        let pods = [other, pod("etcd", CONTAINER), pod("A", ""), pod("b", "containers: [{name: a}]")];
        assert_eq!(problems(&pods), expected);
        assert!(problems(&["{manifest: 'a: ['}".to_owned()])[0].contains("not valid YAML"));
    }

    #[test]
    fn references_to_objects_of_the_api_server_are_refused_with_their_paths() {
        let environment = "env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: B, valueFrom: {fieldRef: \
                           {fieldPath: spec.nodeName}}}], envFrom: [{configMapRef: {name: c}}]";
        let volumes = "volumes: [{name: a, secret: {secretName: s}}, {name: b, hostPath: {path: /a}}, {name: c, projected: \
                       {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {}}]}}, {name: d, emptyDir: {}}]";
        let rest = format!("serviceAccountName: x, containers: [{{name: a, image: b, {environment}}}], {volumes}");
        let refused = |at: &str| {
            format!("spec.pods[0].manifest: {at} refers to an object of the API server, which a static pod cannot")
        };
        let expected = [
            "spec.serviceAccountName",
            "spec.containers[0].env[0].valueFrom.secretKeyRef",
            "spec.containers[0].envFrom[0].configMapRef",
            "spec.volumes[0].secret",
            "spec.volumes[2].projected.sources[0].serviceAccountToken",
        ];
        let mut found = problems(&[pod("a", &rest)]);
        let mut expected = expected.map(refused).to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn two_pods_of_a_name_and_a_file_in_its_place_are_conflicts() {
        let found = problems(&[pod("a", CONTAINER), pod("a", CONTAINER)]);
        assert_eq!(found, ["spec.pods[1].manifest: /etc/kubernetes/manifests/a.yaml is also set by this document"]);
    }
}
