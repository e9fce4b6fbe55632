//! The container runtime: whether it answers, how it manages control groups, which images it has.
use super::{
    findings::Findings,
    node::{Candidate, Node, Runtime},
};
use crate::{PlanError, outcome::chain};
use cri::{CgroupDriver, RuntimeReport};
use documents::v1alpha1::ImagePull;
use kubeadm::preflight_checks::{needs_cri_v1, needs_runtime_config, warns_of_runtime_config};
use std::{io, time::Duration};

/// How long kubeadm may take to list its images.
const IMAGES: Duration = Duration::from_secs(60);

pub(super) fn runtime(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let minor = candidate.kubelet_minor();
    let report = match &candidate.runtime {
        Runtime::Answered(report) => report,
        Runtime::Silent(error) if error.is_without_cri_v1() && minor.is_some_and(|minor| !needs_cri_v1(minor)) => {
            findings.remark(format!("the container runtime has no CRI v1: {}", chain(error)));
            return Ok(());
        }
        Runtime::Silent(error) => {
            findings.problem(silent(error));
            return Ok(());
        }
        Runtime::KnownAfter(_) | Runtime::NotAsked => return Ok(()),
    };
    if let Some(why) = &report.not_ready {
        findings.problem(format!(
            "the container runtime {} is not ready: {}: check its log with journalctl",
            named(report),
            objects::one_line(why)
        ));
    }
    if report.cgroup_driver.is_none() && minor.is_some_and(needs_runtime_config) {
        findings.problem(format!(
            "the container runtime {} does not implement the CRI method RuntimeConfig, which the kubelet requires since \
             1.38: update it, containerd to 2.0 or newer",
            named(report)
        ));
    } else if report.cgroup_driver.is_none() && minor.is_some_and(warns_of_runtime_config) {
        findings.remark(format!(
            "the container runtime {} does not implement the CRI method RuntimeConfig, which the kubelet requires from \
             1.38 on: update it before, containerd to 2.0 or newer",
            named(report)
        ));
    }
    Ok(())
}

/// Why a runtime has not answered, and what to do.
fn silent(error: &cri::Error) -> String {
    let advice = match error {
        cri::Error::NoSocket { .. } | cri::Error::Refused { .. } => "start it, or correct runtimeSocket",
        cri::Error::Unimplemented { .. } => {
            "CRI v1 requires containerd 1.6 or newer with its CRI plugin; remove \"cri\" from disabled_plugins in \
             /etc/containerd/config.toml, and check journalctl -u containerd"
        }
        cri::Error::NotGrpc { .. } => "correct runtimeSocket",
        cri::Error::Connect { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => "run as root",
        _ => "check the log of the container runtime with journalctl",
    };
    objects::one_line(&format!("the container runtime does not answer: {}: {advice}", chain(error)))
}

fn named(report: &RuntimeReport) -> String {
    objects::one_line(&format!("{} {}", report.name, report.version))
}

pub(super) fn cgroup_driver(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let asked = candidate.node.kubelet().get("cgroupDriver").and_then(serde_json::Value::as_str);
    let (Some(asked), Some(report)) = (asked, candidate.report()) else { return Ok(()) };
    let used = match report.cgroup_driver {
        Some(CgroupDriver::Systemd) => "systemd",
        Some(CgroupDriver::Cgroupfs) => "cgroupfs",
        None => return Ok(()),
    };
    if asked != used {
        findings.problem(format!(
            "kubelet.cgroupDriver is {}, but the container runtime {} uses {used}: remove kubelet.cgroupDriver, or \
             configure the container runtime (containerd: SystemdCgroup)",
            objects::one_line(asked),
            named(report)
        ));
    }
    Ok(())
}

pub(super) fn images(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let (ImagePull::Never, Some(report)) = (candidate.node.image_pull(), candidate.report()) else { return Ok(()) };
    match candidate.node {
        Node::Init(wanted) => {
            let repository = wanted.settings.image_repository.as_deref();
            for missing in missing_images(&wanted.kubernetes_version, repository, report, candidate)? {
                findings.problem(absent(&missing));
            }
        }
        // Those of the cluster's version; as far as that is known before discovery, kubeadm's own.
        Node::Join(wanted) if wanted.control_plane.is_some() => {
            let version = wanted.kubernetes_version.as_deref().or_else(|| candidate.kubeadm.found());
            for missing in missing_images(version.unwrap_or_default(), None, report, candidate)? {
                findings.problem(absent(&missing));
            }
        }
        Node::Join(_) => worker_images(report, findings),
    }
    Ok(())
}

/// The images that kubeadm names for a version, and that the runtime does not have.
fn missing_images(
    version: &str,
    repository: Option<&str>,
    report: &RuntimeReport,
    candidate: &Candidate<'_>,
) -> Result<Vec<String>, PlanError> {
    let mut argv = vec!["kubeadm", "config", "images", "list", "--kubernetes-version", version];
    if let Some(repository) = repository {
        argv.extend(["--image-repository", repository]);
    }
    let listed = candidate.look.host.output(&argv, IMAGES)?.unwrap_or_default();
    let images = listed.lines().map(str::trim).filter(|image| image.contains('/'));
    Ok(images.filter(|image| !report.images.contains(*image)).map(objects::one_line).collect())
}

/// A worker needs the image that holds a pod open, and kube-proxy's, which only the cluster can name.
fn worker_images(report: &RuntimeReport, findings: &mut Findings) {
    match &report.sandbox_image {
        Some(image) if !report.images.contains(image) => findings.problem(absent(image)),
        None if !report.has_pinned_image => findings.problem(
            "imagePull is Never, and the container runtime has no sandbox image, without which no pod starts: import the \
             image that its configuration names (containerd: pinned_images.sandbox)",
        ),
        _ => {}
    }
    if !report.images.iter().any(|image| image.contains("/kube-proxy:") || image.contains("/kube-proxy@")) {
        findings.remark("imagePull is Never, and the container runtime has no image of kube-proxy");
    }
}

fn absent(image: &str) -> String {
    format!(
        "the image {} is missing, and imagePull is Never: import it (ctr -n k8s.io images import FILE), or set imagePull \
         to IfNotPresent",
        objects::one_line(image)
    )
}
