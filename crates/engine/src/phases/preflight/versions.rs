//! Versions of kubeadm and the kubelet that fit each other and the cluster.
use super::{
    findings::Findings,
    node::{Candidate, InstalledVersion, minor},
};
use crate::{Fault, PlanError};
use host::{Enablement, Service};
use kubeadm::preflight_checks::oldest_kubelet;

pub(super) fn kubeadm(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let found = match &candidate.kubeadm {
        InstalledVersion::Found(version) => version,
        InstalledVersion::Missing => {
            let version = candidate.node.version().map(|version| format!(" {version}")).unwrap_or_default();
            findings.problem(format!(
                "kubeadm is not installed: install kubeadm{version}, for example in /usr/bin or /opt/bin"
            ));
            return Ok(());
        }
        InstalledVersion::Broken(why) => {
            findings.problem(format!("kubeadm does not print its version: {why}: install it for this machine"));
            return Ok(());
        }
    };
    if let Some(wanted) = candidate.node.version().filter(|wanted| minor(found) != minor(wanted)) {
        findings.problem_of(Fault::Versions, format!(
            "kubeadm is {found}, but kubernetesVersion is {wanted}: install kubeadm of that minor version, or change \
             kubernetesVersion"
        ));
    }
    Ok(())
}

pub(super) fn kubelet(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let unit = candidate.look.unit("kubelet.service")?;
    if (unit.enablement, unit.activity) == (Enablement::Unknown, Service::Unknown) {
        findings.problem(
            "the unit kubelet.service does not exist: install the kubelet with its unit and kubeadm's drop-in \
             (10-kubeadm.conf)",
        );
    }
    if unit.enablement == Enablement::Masked {
        findings.problem(
            "the unit kubelet.service is masked: unmask it with a ServicesConfig, or systemctl unmask kubelet",
        );
    }
    let found = match &candidate.kubelet {
        InstalledVersion::Found(version) => version,
        InstalledVersion::Missing => {
            findings.problem("the kubelet is not installed: install it beside kubeadm, in the same version");
            return Ok(());
        }
        InstalledVersion::Broken(why) => {
            findings.problem(format!("the kubelet does not print its version: {why}: install it for this machine"));
            return Ok(());
        }
    };
    let (Some(kubelet), Some(kubeadm)) = (minor(found), candidate.kubeadm.found().and_then(minor)) else {
        return Ok(());
    };
    let of_kubeadm = candidate.kubeadm.found().unwrap_or_default();
    if kubelet > kubeadm {
        findings.problem_of(
            Fault::Versions,
            format!(
                "the kubelet is {found}, newer than kubeadm {of_kubeadm}: install the kubelet in the version of kubeadm"
            ),
        );
    }
    if kubelet < oldest_kubelet(kubeadm) {
        findings.problem_of(Fault::Versions, format!(
            "the kubelet is {found}, and kubeadm {of_kubeadm} supports 1.{} and newer: install the kubelet in the version \
             of kubeadm",
            oldest_kubelet(kubeadm)
        ));
    }
    Ok(())
}
