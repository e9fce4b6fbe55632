//! Which reason a failure has: one table, from types alone. No sentence is compared here, and nowhere else.
//!
//! Of several problems that all must be solved, the one counts that keeps most machines from succeeding; of endpoints that
//! each would do, the one that needs the least. Of those the first.
use crate::{
    Act, Failure, Fault, PlanError, Problem, Step, TurnId,
    acts::kubeadm::{self, KubeadmFailure},
    phases,
};
use ::kubeadm::preflight_checks;
use discovery::method::{Cause, Refusal, Unreached};
use documents::v1alpha1::PreflightCheck;
use host::Change;
use outcome::{ActSort, AddedTurn, Reason, Stage};
use std::{cmp::Reverse, io};

/// kubeadm's own name of its check that pulls images. In the terms of our checks it is about images that are missing.
const IMAGE_PULL: &str = "ImagePull";
/// The starts of kubeadm's names for checks of one thing each, and ours for what they check.
const KINDS_OF_CHECKS: &[(&str, PreflightCheck)] = &[
    ("Port-", PreflightCheck::Ports),
    ("DirAvailable-", PreflightCheck::Files),
    ("FileAvailable-", PreflightCheck::Files),
];

impl Failure {
    /// Why, for programs.
    pub fn reason(&self) -> Reason {
        let doing = Doing { at: &self.at, step: self.step.as_deref() };
        match &*self.cause {
            PlanError::Look(error) => doing.of_host(error),
            PlanError::Known { fault, .. } => of_fault(fault),
            PlanError::Unfit(problems) => doing.of_problems(problems),
            PlanError::Wrong(_) => Reason::ConfigurationInvalid,
            PlanError::Unavailable(_) => Reason::ConfigurationUnavailable,
            PlanError::Exchanged | PlanError::Drifted(_) => Reason::PlanOutdated,
            PlanError::Foreign(_) | PlanError::Unknown { .. } => Reason::StartedOutside,
            PlanError::Abandoned(_) | PlanError::NotUndone(_) => Reason::UnfinishedWork,
            PlanError::ForeignManifest(_) => Reason::ManifestEdited,
            PlanError::OtherCluster => Reason::NodeOfAnotherCluster,
            PlanError::StillUnknown(_) => Reason::DocumentNotApplicable,
            PlanError::NoPlugin(_) => Reason::ProgramNotInstalled,
        }
    }
}

/// What a run was doing when it failed.
#[derive(Clone, Copy)]
struct Doing<'a> {
    at: &'a TurnId,
    /// `None` while it planned.
    step: Option<&'a Step>,
}

impl Doing<'_> {
    fn of_host(self, error: &host::Error) -> Reason {
        match error {
            host::Error::System { source, .. } => of_system(source.kind()),
            host::Error::PowerFailed => Reason::SystemError,
            // An archive with anything but what a document wants of it.
            host::Error::Refused { .. } if self.is_of_a_program() => Reason::DocumentNotApplicable,
            host::Error::Refused { .. } | host::Error::Untrusted { .. } => Reason::FileNotTrusted,
            host::Error::Record { .. } => Reason::StateDamaged,
            host::Error::Unfit { .. } => self.of_unfit(),
            host::Error::Program { program, output, .. } => match self.step {
                Some(Step::Run(act) | Step::Redo(act)) => of_program_of_act(&**act, program, output.expose()),
                Some(step) if is_of_a_unit(step) => Reason::ServiceFailed,
                None if self.is_of_kind(phases::COMMANDS) => Reason::CommandFailed,
                Some(_) | None => Reason::ProgramFailed,
            },
        }
    }

    /// The machine, or what an act needs, is not as it must be.
    fn of_unfit(self) -> Reason {
        match self.step {
            Some(Step::Run(act) | Step::Redo(act) | Step::Close(act)) => match act.sort() {
                ActSort::Command => Reason::CommandFailed,
                ActSort::Program | ActSort::Images => Reason::DocumentNotApplicable,
                ActSort::KubeadmInit | ActSort::KubeadmJoin => Reason::KubeadmFailed,
                ActSort::DeleteToken => Reason::ClusterUnreachable,
                ActSort::UploadCertificates => Reason::CertificatesNotUploaded,
                ActSort::DownloadCertificates => Reason::CertificatesUnavailable,
                ActSort::ControlPlaneChange => Reason::ControlPlaneChangeFailed,
            },
            Some(step) if is_of_a_unit(step) => Reason::ServiceFailed,
            Some(_) => Reason::DocumentNotApplicable,
            None if self.is_of_kind(phases::SERVICES) => Reason::ServiceFailed,
            None => match self.at {
                TurnId::Added(AddedTurn::Services) => Reason::ServiceFailed,
                TurnId::Added(AddedTurn::Preflight) => Reason::PreflightFailed,
                TurnId::Stage(Stage::Configuration) => Reason::ConfigurationInvalid,
                TurnId::Stage(Stage::Start | Stage::End) => Reason::SystemError,
                TurnId::Document { .. } | TurnId::Added(_) => Reason::DocumentNotApplicable,
            },
        }
    }

    fn of_problems(self, problems: &[Problem]) -> Reason {
        let of_problem = |problem: &Problem| problem.fault.as_ref().map_or_else(|| self.of_unfit(), of_fault);
        gravest(problems.iter().map(of_problem)).unwrap_or_else(|| self.of_unfit())
    }

    fn is_of_a_program(self) -> bool {
        let act = match self.step {
            Some(Step::Run(act) | Step::Redo(act)) => act,
            Some(_) | None => return false,
        };
        matches!(act.sort(), ActSort::Program | ActSort::Images)
    }

    fn is_of_kind(self, wanted: &str) -> bool {
        matches!(self.at, TurnId::Document { kind, .. } if kind == wanted)
    }
}

fn gravest(reasons: impl Iterator<Item = Reason>) -> Option<Reason> {
    reasons.min_by_key(|reason| Reverse(reason.class()))
}

/// Of endpoints that each would do, the one counts that needs the least to answer as it should: one that is stale, or that
/// somebody else has taken, must not condemn a cluster whose other endpoints are only down.
fn most_hopeful(reasons: impl Iterator<Item = Reason>) -> Option<Reason> {
    reasons.min_by_key(|reason| reason.class())
}

const fn of_system(kind: io::ErrorKind) -> Reason {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::ReadOnlyFilesystem => {
            Reason::DiskNotWritable
        }
        _ => Reason::SystemError,
    }
}

const fn is_of_a_unit(step: &Step) -> bool {
    matches!(step, Step::Ensure(Change::Unit { .. } | Change::Restart { .. }) | Step::Wait(..))
}

fn of_fault(fault: &Fault) -> Reason {
    match fault {
        Fault::Check(check) => of_check(*check),
        Fault::Versions => Reason::VersionSkew,
        Fault::Clock => Reason::ClockSkew,
        Fault::NotInstalled => Reason::ProgramNotInstalled,
        Fault::Download => Reason::DownloadFailed,
        Fault::Checksum => Reason::ChecksumMismatch,
        Fault::Discovery(refusals) => {
            most_hopeful(refusals.iter().map(of_refusal)).unwrap_or(Reason::ClusterNotVerified)
        }
        Fault::ApiServer => Reason::ClusterUnreachable,
        Fault::ClusterSettings => Reason::ClusterNotSupported,
        Fault::Etcd => Reason::EtcdNotSafe,
        Fault::NoNode => Reason::KubeletNotHealthy,
        Fault::NodeName => Reason::NodeNameInUse,
        Fault::NoCertificates => Reason::CertificatesUnavailable,
        Fault::CertificateKey => Reason::CertificateKeyInvalid,
        Fault::Certificates => Reason::CertificatesInvalid,
        Fault::Upload => Reason::CertificatesNotUploaded,
    }
}

const fn of_check(check: PreflightCheck) -> Reason {
    match check {
        PreflightCheck::Kubeadm | PreflightCheck::Kubelet | PreflightCheck::Programs => Reason::ProgramNotInstalled,
        PreflightCheck::Runtime => Reason::ContainerRuntimeNotReady,
        PreflightCheck::Ports => Reason::PortInUse,
        PreflightCheck::Disk => Reason::DiskNotWritable,
        PreflightCheck::Clock => Reason::ClockSkew,
        PreflightCheck::Files => Reason::NodeOfAnotherCluster,
        PreflightCheck::All
        | PreflightCheck::CgroupDriver
        | PreflightCheck::Cgroups
        | PreflightCheck::Swap
        | PreflightCheck::Memory
        | PreflightCheck::Cpu
        | PreflightCheck::IpForward
        | PreflightCheck::Modules
        | PreflightCheck::NameResolution
        | PreflightCheck::Images => Reason::PreflightFailed,
    }
}

fn of_refusal(refusal: &Refusal) -> Reason {
    match refusal {
        Refusal::Unreached(unreached) | Refusal::NotFetched(unreached) | Refusal::Unverified(unreached) => {
            of_unreached(unreached)
        }
        Refusal::NoKubeconfig => Reason::ClusterNotReady,
        Refusal::Unreadable(_) => Reason::ConfigurationInvalid,
        Refusal::NotSigned(_) | Refusal::Signature { .. } => Reason::TokenRejected,
        Refusal::NotPinned(_) => Reason::AnotherCluster,
        Refusal::Content(_)
        | Refusal::Roots(_)
        | Refusal::NothingPinned
        | Refusal::Changed
        | Refusal::Untrusted(_)
        | Refusal::Unconfirmed { .. } => Reason::ClusterNotVerified,
    }
}

const fn of_unreached(unreached: &Unreached) -> Reason {
    match unreached.cause {
        Cause::Unresolved | Cause::Refused | Cause::Other => Reason::ClusterUnreachable,
        Cause::Status(_) | Cause::EtcdUnavailable => Reason::ClusterNotReady,
        Cause::UntrustedCertificate => Reason::ClusterNotVerified,
    }
}

/// A program that an act has started did not do what it was run for.
fn of_program_of_act(act: &dyn Act, program: &str, output: &str) -> Reason {
    match act.sort() {
        ActSort::Command => Reason::CommandFailed,
        ActSort::KubeadmInit | ActSort::KubeadmJoin if program == kubeadm::NAME => of_kubeadm(output),
        ActSort::ControlPlaneChange => Reason::ControlPlaneChangeFailed,
        ActSort::Program
        | ActSort::Images
        | ActSort::KubeadmInit
        | ActSort::DeleteToken
        | ActSort::KubeadmJoin
        | ActSort::UploadCertificates
        | ActSort::DownloadCertificates => Reason::ProgramFailed,
    }
}

/// By the phase that failed, which kubeadm names; in its preflight by its checks.
fn of_kubeadm(output: &str) -> Reason {
    let Some(failure) = KubeadmFailure::read(output) else { return Reason::KubeadmFailed };
    let phase = failure.phase.as_deref().unwrap_or_default();
    match phase {
        "preflight" => {
            let checks = failure.checks.iter().map(|check| of_kubeadms_check(check));
            // Without a failed check it could not read what it needs of the cluster.
            gravest(checks).unwrap_or(Reason::KubeadmFailed)
        }
        _ if failure.kubelet.is_some() => Reason::KubeletNotHealthy,
        phase => of_phase(phase),
    }
}

/// By the phase's own name and that of its part: the names of parts alone mean something else in other phases.
fn of_phase(phase: &str) -> Reason {
    match phase.split_once('/').unwrap_or((phase, "")) {
        ("certs", _) => Reason::CertificatesInvalid,
        ("kubelet-start" | "kubelet-wait-bootstrap", _) => Reason::KubeletNotHealthy,
        ("wait-control-plane", _) => Reason::ControlPlaneNotHealthy,
        ("check-etcd" | "etcd-join", _) | ("control-plane-join", "etcd") => Reason::EtcdNotSafe,
        _ => Reason::KubeadmFailed,
    }
}

fn of_kubeadms_check(name: &str) -> Reason {
    if name == IMAGE_PULL {
        return Reason::ImagePullFailed;
    }
    // Some names end with what was checked, such as a port or a directory of this cluster's own choice.
    if let Some(check) = KINDS_OF_CHECKS.iter().find(|(start, _)| name.starts_with(start)) {
        return of_check(check.1);
    }
    match name {
        "KubeletVersion" | "KubernetesVersion" => Reason::VersionSkew,
        name => {
            let ours = preflight_checks::CHECKS.iter().find(|check| check.name == name).and_then(|check| check.ours);
            ours.and_then(PreflightCheck::named).map_or(Reason::PreflightFailed, of_check)
        }
    }
}

#[cfg(test)]
mod tests;
