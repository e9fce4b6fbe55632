//! The manifests of static pods that kubeadm renders: what is read from one, and the file that lets kubeadm render it again.
use objects::yaml;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Where kubeadm notes the address and port of the API server that a manifest is for.
pub const ADVERTISED: &str = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint";

/// The manifest of a static pod with one container.
#[derive(Clone, Debug)]
pub struct StaticPod {
    pod: Value,
    /// The text that it was read from.
    source: String,
}

/// Equal when the kubelet would run the same.
impl PartialEq for StaticPod {
    fn eq(&self, other: &Self) -> bool {
        self.pod == other.pod
    }
}

impl StaticPod {
    /// Reads one; `None` when it is no Pod with a container.
    pub fn read(text: &str) -> Option<Self> {
        let pod = yaml::value(text).ok()?;
        let is_pod = pod["kind"] == "Pod" && pod["spec"]["containers"][0].is_object();
        is_pod.then(|| Self { pod, source: text.to_owned() })
    }

    /// Address and port of the API server, as `10.0.0.1:6443`.
    pub fn advertised(&self) -> Option<&str> {
        self.annotation(ADVERTISED)
    }

    /// An annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.pod["metadata"]["annotations"].get(name)?.as_str()
    }

    /// The image of the container.
    pub fn image(&self) -> Option<&str> {
        self.pod["spec"]["containers"][0]["image"].as_str()
    }

    /// The value of an argument of the container; the last one counts.
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments().rev().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    /// Names and values of the arguments of the container.
    pub fn arguments(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        let words = self.pod["spec"]["containers"][0]["command"].as_array().map(Vec::as_slice).unwrap_or_default();
        words.iter().filter_map(|word| word.as_str()?.strip_prefix("--")?.split_once('='))
    }

    /// The proxy variables of the container, which kubeadm has copied from its own environment.
    pub fn proxy_variables(&self) -> BTreeMap<String, String> {
        let variables = self.pod["spec"]["containers"][0]["env"].as_array().map(Vec::as_slice).unwrap_or_default();
        let pair = |variable: &Value| {
            let name = variable["name"].as_str().filter(|name| name.to_lowercase().ends_with("_proxy"))?;
            Some((name.to_owned(), variable["value"].as_str().unwrap_or_default().to_owned()))
        };
        variables.iter().filter_map(pair).collect()
    }

    /// The same pod with another image: which version runs is decided by upgrades.
    #[must_use]
    pub fn with_image(mut self, image: &str) -> Self {
        self.pod["spec"]["containers"][0]["image"] = image.into();
        self
    }

    /// The same pod with an annotation, or without it.
    #[must_use]
    pub fn with_annotation(mut self, name: &str, value: Option<&str>) -> Self {
        if let Some(metadata) = self.pod["metadata"].as_object_mut() {
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

    /// The same pod without some arguments, given by name and value, and without volumes whose names begin so.
    #[must_use]
    pub fn without(mut self, is_left_out: &dyn Fn(&str, &str) -> bool, volume_prefix: &str) -> Self {
        let is_argument = |word: &Value| {
            let argument = word.as_str().and_then(|word| word.strip_prefix("--")).unwrap_or_default();
            let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
            !name.is_empty() && is_left_out(name, value)
        };
        let is_volume = |volume: &Value| volume["name"].as_str().is_some_and(|name| name.starts_with(volume_prefix));
        let spec = &mut self.pod["spec"];
        retain(&mut spec["volumes"], &|volume| !is_volume(volume));
        let container = &mut spec["containers"][0];
        retain(&mut container["volumeMounts"], &|mount| !is_volume(mount));
        retain(&mut container["command"], &|word| !is_argument(word));
        self.source = yaml::write_blocks(&self.pod);
        self
    }

    /// The manifest as YAML: the text that was read with the lines that were changed, as far as that can be.
    pub fn text(&self) -> String {
        let edited = self.edited();
        if yaml::value(&edited).is_ok_and(|pod| pod == self.pod) { edited } else { yaml::write_blocks(&self.pod) }
    }

    fn edited(&self) -> String {
        let added: String = self.pod["metadata"]["annotations"].as_object().map_or_else(String::new, |annotations| {
            let is_new = |name: &str| !self.source.lines().any(|line| annotation_in(line) == Some(name));
            let line = |(name, value): (&String, &Value)| Some(format!("    {name}: {}\n", value.as_str()?));
            annotations.iter().filter(|(name, _)| is_new(name)).filter_map(line).collect()
        });
        let line = |line: &str| match line.split_once("image: ") {
            Some((before, _)) if before.trim_start_matches("- ").trim().is_empty() => {
                format!("{before}image: {}\n", self.image().unwrap_or_default())
            }
            _ if annotation_in(line) == Some(ADVERTISED) => format!("{line}\n{added}"),
            _ => format!("{line}\n"),
        };
        self.source.lines().map(line).collect()
    }
}

fn retain(list: &mut Value, is_kept: &dyn Fn(&Value) -> bool) {
    if let Some(list) = list.as_array_mut() {
        list.retain(is_kept);
    }
}

/// The name of the annotation that a line of kubeadm's has.
fn annotation_in(line: &str) -> Option<&str> {
    line.strip_prefix("    ")?.split_once(": ").map(|(name, _)| name)
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
        assert_eq!((pod.argument("secure-port"), pod.argument("secure")), (Some("6443"), None));
        assert_eq!(pod.proxy_variables(), [("HTTPS_PROXY".to_owned(), "http://proxy:3128".to_owned())].into());
        for text in ["", "a: b", "kind: Pod", "{", "kind: Pod\nspec: {containers: []}"] {
            assert_eq!(StaticPod::read(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_set_comes_back_and_the_rest_stays() {
        let pod = StaticPod::read(MANIFEST).unwrap();
        let changed = pod.clone().with_image("other:v1").with_annotation("a/b", Some("c"));
        let expected = MANIFEST.replace("registry.k8s.io/kube-apiserver:v1.36.4", "other:v1");
        assert_eq!(changed.text(), expected.replace(":6443\n  name", ":6443\n    a/b: c\n  name"));
        // What cannot be edited as text is written anew.
        let number = pod.clone().with_annotation("a/b", Some("7"));
        assert_eq!(StaticPod::read(&number.text()), Some(number));
        assert_eq!((changed.image(), changed.annotation("a/b")), (Some("other:v1"), Some("c")));
        let back = changed.with_image("registry.k8s.io/kube-apiserver:v1.36.4").with_annotation("a/b", None);
        assert_eq!(back, pod);
        assert_eq!(pod.text(), MANIFEST);
    }

    #[test]
    fn arguments_and_volumes_can_be_left_out() {
        let more = "    - --a=1\n    - --b\n    volumeMounts:\n    - name: own-a\n    - name: pki\n  volumes:\n  - name: own-a\n  - name: pki\n";
        let text = MANIFEST.replace("    env:", &format!("{}    env:", more.split_once("    volumeMounts").unwrap().0));
        let text = format!("{text}    volumeMounts{}", more.split_once("    volumeMounts").unwrap().1);
        let pod =
            StaticPod::read(&text).unwrap().without(&|name, value| name == "a" && value == "1" || name == "b", "own-");
        let expected = format!("{MANIFEST}    volumeMounts:\n    - name: pki\n  volumes:\n  - name: pki\n");
        assert_eq!(pod, StaticPod::read(&expected).unwrap());
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
