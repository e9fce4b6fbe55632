//! What the static pods of a cluster need of a machine that joins as a control plane node: the files that they mount, and
//! those of a ControlPlaneConfig, which must be the one of the cluster.
use crate::{
    Look, PlanError,
    control_plane_files::{ControlPlaneFiles, merge_into},
};
use host::contract::CONTROL_PLANE_DIR;
use kubeadm::hub::{Arg, ClusterConfiguration, HostPathMount};
use std::collections::BTreeSet;

/// The feature gate of kubeadm with which the control plane does not run as root.
const ROOTLESS: &str = "RootlessControlPlane";

/// Everything that is missing here, or differs from the cluster.
pub(super) fn problems(configuration: &ClusterConfiguration, look: &Look<'_>) -> Result<Vec<String>, PlanError> {
    let mut problems = missing_mounts(configuration, look)?;
    problems.extend(missing_files(configuration, look)?);
    if let Some(files) = ControlPlaneFiles::of(look.wanted) {
        problems.extend(differences(&files, configuration));
    }
    Ok(problems)
}

/// Files of this machine that the static pods of the cluster mount, and that do not exist here. What kubernetes creates
/// by itself is no problem.
fn missing_mounts(configuration: &ClusterConfiguration, look: &Look<'_>) -> Result<Vec<String>, PlanError> {
    let components: [(&str, &[HostPathMount]); 3] = [
        ("kube-apiserver", &configuration.api_server.extra_volumes),
        ("kube-controller-manager", &configuration.controller_manager.extra_volumes),
        ("kube-scheduler", &configuration.scheduler.extra_volumes),
    ];
    let mut problems = Vec::new();
    for (component, mounts) in components {
        for mount in mounts {
            let path = mount.host_path.as_deref().unwrap_or_default();
            let is_created = mount.path_type.as_deref().is_some_and(|sort| sort.ends_with("OrCreate"));
            if !path.starts_with('/') || is_created || look.host.exists(path)? {
                continue;
            }
            let remedy = match path == CONTROL_PLANE_DIR {
                true => {
                    "add the ControlPlaneConfig of the other control plane nodes to the configuration of this machine"
                }
                false => "copy it from a control plane node, for example with a FilesConfig",
            };
            let path = objects::one_line(path);
            problems.push(format!("{path} is missing here, and {component} of this cluster mounts it: {remedy}"));
        }
    }
    Ok(problems)
}

/// Files of the directory of a ControlPlaneConfig that the API server of the cluster reads, and that do not exist here.
fn missing_files(configuration: &ClusterConfiguration, look: &Look<'_>) -> Result<Vec<String>, PlanError> {
    let is_file = |value: &&str| value.strip_prefix(CONTROL_PLANE_DIR).is_some_and(|rest| rest.starts_with('/'));
    let paths: BTreeSet<&str> =
        configuration.api_server.extra_args.iter().map(|arg| arg.value.as_str()).filter(is_file).collect();
    let mut problems = Vec::new();
    for path in paths {
        if look.host.exists(CONTROL_PLANE_DIR)? && !look.host.exists(path)? {
            problems.push(format!(
                "{} is missing here, and kube-apiserver of this cluster reads it: the ControlPlaneConfig of this machine \
                 must be that of the other control plane nodes",
                objects::one_line(path)
            ));
        }
    }
    Ok(problems)
}

/// kubeadm renders the manifest from kubeadm-config alone: what only this machine's document says would have no effect.
fn differences(files: &ControlPlaneFiles, configuration: &ClusterConfiguration) -> Vec<String> {
    let mut problems = Vec::new();
    if configuration.feature_gates.get(ROOTLESS) == Some(&true) {
        let text = "the control plane of this cluster does not run as root (feature gate RootlessControlPlane), and cannot \
                    read the files of a ControlPlaneConfig: remove the document, or the feature gate";
        problems.push(text.to_owned());
    }
    let mut merged = configuration.clone();
    merge_into(files, &mut merged);
    let (wanted, found) = (&merged.api_server, &configuration.api_server);
    let names = |one: &[Arg], other: &[Arg]| {
        let only = one.iter().filter(|arg| !other.contains(arg)).map(|arg| format!("argument {}", arg.name));
        only.collect::<Vec<_>>()
    };
    let volumes = |one: &[HostPathMount], other: &[HostPathMount]| {
        let only = one.iter().filter(|mount| !other.contains(mount));
        only.map(|mount| format!("volume {}", mount.name.as_deref().unwrap_or_default())).collect::<Vec<_>>()
    };
    let differing: BTreeSet<String> = [
        names(&wanted.extra_args, &found.extra_args),
        names(&found.extra_args, &wanted.extra_args),
        volumes(&wanted.extra_volumes, &found.extra_volumes),
        volumes(&found.extra_volumes, &wanted.extra_volumes),
    ]
    .concat()
    .into_iter()
    .collect();
    if !differing.is_empty() {
        let differing: Vec<String> = differing.iter().map(|name| objects::one_line(name)).collect();
        problems.push(format!(
            "the ControlPlaneConfig of this machine is not that of the cluster (kubeadm-config): {}; apply it to a control \
             plane node first (machineadm bootstrap --mode post), or use that of the cluster",
            differing.join(", ")
        ));
    }
    problems
}
