//! Where `config import` reads kubeadm's documents: files, or the ConfigMaps of a cluster.
use super::{arguments::Import, cluster_map::ClusterMap, input};
use crate::{command::api, command_error::CommandError};
use engine::outcome::chain;
use kubeadm::{Read, Rules, Source, Strictness};
use std::path::Path;
use zeroize::Zeroizing;

/// The names of kubeadm's ConfigMaps and of their keys.
const KUBEADM: (&str, &str) = ("kubeadm-config", "ClusterConfiguration");
const KUBELET: (&str, &str) = ("kubelet-config", "kubelet");
const KUBE_PROXY: (&str, &str) = ("kube-proxy", "config.conf");

/// What the cluster does not know of a node, in the terms of an InitConfig.
const OF_A_NODE: &str = "note: the cluster stores no settings of single nodes: add nodeName, nodeAddresses, \
    advertiseAddress, apiServerPort, runtimeSocket, labels, taints, toleratedChecks, timeouts, patches, bootstrapToken and \
    certificateKey where their defaults do not fit\n";

/// A text with kubeadm's documents.
struct Text {
    name: String,
    text: Zeroizing<String>,
}

/// Reads what is asked for, by kubeadm's rules.
pub(super) fn read(asked: &Import) -> Result<Read, CommandError> {
    let texts = if asked.from_cluster { of_cluster(asked)? } else { of_files(asked)? };
    let sources: Vec<_> = texts.iter().map(|Text { name, text }| Source { name, text }).collect();
    let strictness = if asked.tolerant { Strictness::Tolerant } else { Strictness::Strict };
    Ok(kubeadm::read(&sources, Rules { strictness, minor: None }))
}

fn of_files(asked: &Import) -> Result<Vec<Text>, CommandError> {
    if asked.connection.kubeconfig.is_some() || asked.connection.context.is_some() {
        return Err(CommandError::usage("--kubeconfig and --context require --from-cluster"));
    }
    if asked.files.iter().filter(|name| *name == "-").count() > 1 {
        return Err(CommandError::usage("standard input can be read once: -f - is given more than once"));
    }
    let text = |name: &String| {
        if Path::new(name).is_dir() {
            return Err(CommandError::invalid(format!("{name} is a directory: name the files of one machine")));
        }
        Ok(Text { name: name.clone(), text: input::text(name)? })
    };
    asked.files.iter().map(text).collect()
}

/// The ConfigMaps that kubeadm wrote. Those of the kubelet and of kube-proxy may be missing or not readable.
fn of_cluster(asked: &Import) -> Result<Vec<Text>, CommandError> {
    let map = ClusterMap::of(&asked.connection)?;
    let cluster = map.text_of(KUBEADM.0, KUBEADM.1).map_err(|error| api::failed(&error))?;
    let none = || {
        let text = "the cluster has no ConfigMap kube-system/kubeadm-config with a ClusterConfiguration: kubeadm did not \
                    create it";
        CommandError::failed(text)
    };
    let cluster = cluster.ok_or_else(none)?;
    let older = older_kubelet_map(&cluster);
    let kubelet = match of_component(&map, KUBELET) {
        None => older.and_then(|name| of_component(&map, (&name, KUBELET.1))),
        found => found,
    };
    let kube_proxy = of_component(&map, KUBE_PROXY);
    for (found, (name, _)) in [(&kubelet, KUBELET), (&kube_proxy, KUBE_PROXY)] {
        if found.is_none() {
            warn!("the ConfigMap kube-system/{name} was not read: the document has none of its settings");
        }
    }
    warn_report!("{OF_A_NODE}");
    let own = Text { name: KUBEADM.0.to_owned(), text: Zeroizing::new(cluster) };
    Ok([Some(own), kubelet, kube_proxy].into_iter().flatten().collect())
}

fn of_component(map: &ClusterMap, (name, key): (&str, &str)) -> Option<Text> {
    match map.text_of(name, key) {
        Ok(text) => text.map(|text| Text { name: name.to_owned(), text: Zeroizing::new(text) }),
        Err(error) => {
            warn!("cannot read the ConfigMap kube-system/{name}: {}", chain(&error));
            None
        }
    }
}

/// Up to Kubernetes 1.23, kubeadm wrote the minor version into the name of the kubelet's ConfigMap.
fn older_kubelet_map(cluster: &str) -> Option<String> {
    let value = kubeadm::parse_yaml(cluster).ok()?;
    let version = value["kubernetesVersion"].as_str()?.trim_start_matches('v');
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
    let (major, minor) = (numbers.next()??, numbers.next()??);
    (major == 1 && minor < 25).then(|| format!("{}-1.{minor}", KUBELET.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_clusters_have_their_minor_version_in_the_name_of_the_kubelets_map() {
        let named = |version: &str| older_kubelet_map(&format!("kubernetesVersion: {version}\n"));
        assert_eq!(named("v1.21.14").as_deref(), Some("kubelet-config-1.21"));
        assert_eq!((named("v1.36.4"), named("stable-1"), older_kubelet_map("{}")), (None, None, None));
    }
}
