//! The manifests of static pods that kubeadm renders: what is read from one, and the file that lets kubeadm render it again.
use objects::yaml;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Where kubeadm notes the address and port of the API server that a manifest is for.
pub const ADVERTISED: &str = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint";

/// The manifest of a static pod with one container.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticPod(Value);

impl StaticPod {
    /// Reads one; `None` when it is no Pod with a container.
    pub fn read(text: &str) -> Option<Self> {
        let pod = yaml::value(text).ok()?;
        let is_pod = pod["kind"] == "Pod" && pod["spec"]["containers"][0].is_object();
        is_pod.then_some(Self(pod))
    }

    /// Address and port of the API server, as `10.0.0.1:6443`.
    pub fn advertised(&self) -> Option<&str> {
        self.annotation(ADVERTISED)
    }

    /// An annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.0["metadata"]["annotations"].get(name)?.as_str()
    }

    /// The image of the container.
    pub fn image(&self) -> Option<&str> {
        self.0["spec"]["containers"][0]["image"].as_str()
    }

    /// The proxy variables of the container, which kubeadm has copied from its own environment.
    pub fn proxy_variables(&self) -> BTreeMap<String, String> {
        let variables = self.0["spec"]["containers"][0]["env"].as_array().map(Vec::as_slice).unwrap_or_default();
        let pair = |variable: &Value| {
            let name = variable["name"].as_str().filter(|name| name.to_lowercase().ends_with("_proxy"))?;
            Some((name.to_owned(), variable["value"].as_str().unwrap_or_default().to_owned()))
        };
        variables.iter().filter_map(pair).collect()
    }

    /// The same pod with another image: which version runs is decided by upgrades.
    #[must_use]
    pub fn with_image(mut self, image: &str) -> Self {
        self.0["spec"]["containers"][0]["image"] = image.into();
        self
    }

    /// The same pod with an annotation, or without it.
    #[must_use]
    pub fn with_annotation(mut self, name: &str, value: Option<&str>) -> Self {
        if let Some(metadata) = self.0["metadata"].as_object_mut() {
            let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
            if let Some(annotations) = annotations.as_object_mut() {
                match value {
                    Some(value) => drop(annotations.insert(name.to_owned(), value.into())),
                    None => drop(annotations.remove(name)),
                }
            }
        }
        self
    }

    /// The manifest as YAML.
    pub fn text(&self) -> String {
        yaml::write_blocks(&self.0)
    }
}

/// A node whose static pods kubeadm renders.
#[derive(Clone, Copy, Debug)]
pub struct RenderedNode<'a> {
    /// Address and port of its API server, as a manifest has them.
    pub advertised: &'a str,
    /// The socket of its container runtime, so that kubeadm does not search for one.
    pub runtime_socket: &'a str,
}

/// The file for `kubeadm init phase control-plane`: a ClusterConfiguration as it stands in kubeadm-config, and the node's
/// own part in the same API version. `None` when either cannot be read.
pub fn rendering_file(cluster: &str, node: &RenderedNode<'_>) -> Option<String> {
    let api_version = yaml::value(cluster).ok()?["apiVersion"].as_str()?.to_owned();
    let (address, port) = node.advertised.rsplit_once(':')?;
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let node = json!({
        "apiVersion": api_version,
        "kind": "InitConfiguration",
        "localAPIEndpoint": {"advertiseAddress": address, "bindPort": port.parse::<u16>().ok()?},
        // The manifest of an API server does not have the name of its node.
        "nodeRegistration": {"name": "node", "criSocket": format!("unix://{}", node.runtime_socket)},
    });
    Some(format!("{}---\n{}\n", yaml::write_blocks(&node), cluster.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "\
apiVersion: v1
kind: Pod
metadata:
  annotations:
    kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: 10.0.0.1:6443
  name: kube-apiserver
spec:
  containers:
  - command:
    - kube-apiserver
    - --secure-port=6443
    env:
    - name: HTTPS_PROXY
      value: http://proxy:3128
    - name: OTHER
      value: x
    image: registry.k8s.io/kube-apiserver:v1.36.4
";

    #[test]
    fn a_manifest_says_where_its_api_server_is_and_what_it_was_rendered_with() {
        let pod = StaticPod::read(MANIFEST).unwrap();
        assert_eq!(
            (pod.advertised(), pod.image()),
            (Some("10.0.0.1:6443"), Some("registry.k8s.io/kube-apiserver:v1.36.4"))
        );
        assert_eq!(pod.proxy_variables(), [("HTTPS_PROXY".to_owned(), "http://proxy:3128".to_owned())].into());
        for text in ["", "a: b", "kind: Pod", "{", "kind: Pod\nspec: {containers: []}"] {
            assert_eq!(StaticPod::read(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_set_comes_back_and_the_rest_stays() {
        let pod = StaticPod::read(MANIFEST).unwrap();
        let changed = pod.clone().with_image("other:v1").with_annotation("a/b", Some("c"));
        assert_eq!((changed.image(), changed.annotation("a/b")), (Some("other:v1"), Some("c")));
        let back = changed.with_image("registry.k8s.io/kube-apiserver:v1.36.4").with_annotation("a/b", None);
        assert_eq!(back, pod);
        assert_eq!(StaticPod::read(&pod.text()), Some(pod));
    }

    #[test]
    fn the_nodes_part_has_the_api_version_of_the_cluster_and_addresses_of_both_families() {
        let cluster = "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n";
        let file = |advertised| rendering_file(cluster, &RenderedNode { advertised, runtime_socket: "/run/c.sock" });
        let text = file("[fd00::1]:6443").unwrap();
        let (node, rest) = text.split_once("---\n").unwrap();
        let node = yaml::value(node).unwrap();
        assert_eq!(node["apiVersion"], "kubeadm.k8s.io/v1beta3");
        assert_eq!(node["localAPIEndpoint"], json!({"advertiseAddress": "fd00::1", "bindPort": 6443}));
        assert_eq!(rest, cluster);
        assert_eq!((file("10.0.0.1"), file("10.0.0.1:x")), (None, None));
    }
}
