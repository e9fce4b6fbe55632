//! Every reason, from the facts that lead to it.
use super::*;
use crate::{AfterFailure, Effect, Look, PlanError, Undone, World, fingerprint::Parts, plan::Condition};
use discovery::{TokenId, jws::JwsError};
use documents::{Secret, v1alpha1::Repeat};
use host::{UnitAction, UnitState};
use std::{collections::BTreeSet, rc::Rc, time::Duration};

/// An act of a sort.
#[derive(Debug)]
struct ActOf(ActSort);

impl Act for ActOf {
    fn name(&self) -> &str {
        "a"
    }

    fn sort(&self) -> ActSort {
        self.0
    }

    fn id(&self) -> String {
        self.0.id().to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    fn effect(&self, _: &Look<'_>) -> Result<Effect, PlanError> {
        Ok(Effect::Absent)
    }

    fn run(&self, _: &mut World<'_>) -> Result<(), PlanError> {
        Ok(())
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Ended
    }

    fn undo(&self, _: &mut World<'_>) -> Result<Undone, PlanError> {
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        String::new()
    }

    fn compares(&self, _: &mut Parts) {}

    fn needs_reboot(&self) -> bool {
        false
    }
}

fn run(sort: ActSort) -> Option<Step> {
    Some(Step::Run(Rc::new(ActOf(sort))))
}

fn start_a_unit() -> Option<Step> {
    let was = UnitState { enablement: host::Enablement::Disabled, activity: host::Service::Inactive };
    Some(Step::Ensure(Change::Unit { name: "a.service".to_owned(), action: UnitAction::Start, was }))
}

fn load_a_module() -> Option<Step> {
    Some(Step::Ensure(Change::LoadModule { name: "a".to_owned() }))
}

fn of_kind(kind: &str) -> TurnId {
    TurnId::Document { number: 1, kind: kind.to_owned(), name: None }
}

fn system(kind: io::ErrorKind) -> PlanError {
    host::Error::System { doing: "write a".to_owned(), source: kind.into() }.into()
}

fn unfit() -> host::Error {
    host::Error::Unfit { what: "a".to_owned(), why: "b".to_owned(), advice: "c".to_owned() }
}

fn refused_by_host() -> PlanError {
    host::Error::Refused { what: text(), why: text() }.into()
}

fn program(program: &str, output: &str) -> PlanError {
    let (program, how, output) = (program.to_owned(), "failed".to_owned(), Secret::new(output.to_owned()));
    host::Error::Program { program, how, output }.into()
}

fn known(fault: Fault) -> PlanError {
    PlanError::known(fault)(unfit())
}

fn not_trusted(refusals: &[Refusal]) -> PlanError {
    known(Fault::Discovery(refusals.to_vec()))
}

fn unreached(cause: Cause) -> Refusal {
    Refusal::Unreached(Unreached { text: "no answer".to_owned(), cause })
}

fn text() -> String {
    "a".to_owned()
}

/// The reason of a failure in the turn of a document of no particular kind.
fn of(step: Option<Step>, cause: PlanError) -> Reason {
    at(of_kind("FilesConfig"), step, cause)
}

fn at(at: TurnId, step: Option<Step>, cause: PlanError) -> Reason {
    Failure { step: step.map(Box::new), ..Failure::at(at, cause) }.reason()
}

fn of_kubeadm(output: &str) -> Reason {
    of(run(ActSort::KubeadmInit), program("kubeadm", output))
}

fn phase(name: &str) -> String {
    format!("error: error execution phase {name}: it failed\n")
}

fn token() -> TokenId {
    "abcdef".parse().unwrap()
}

/// Every fact with the reason that it has.
fn table() -> Vec<(Reason, Reason)> {
    let check = |check| of(None, PlanError::unfit(Problem::of(Fault::Check(check), "a")));
    let refused = |refusal: Refusal| of(None, not_trusted(&[refusal]));
    let act = |sort| of(run(sort), unfit().into());
    let preflight_of_kubeadm =
        |check: &str| of_kubeadm(&format!("\t[ERROR {check}]: it is so\n{}", phase("preflight")));
    vec![
        (of(None, PlanError::Wrong(text())), Reason::ConfigurationInvalid),
        (refused(Refusal::Unreadable(text())), Reason::ConfigurationInvalid),
        (at(Stage::Configuration.into(), None, unfit().into()), Reason::ConfigurationInvalid),
        (of(None, PlanError::Unavailable(text())), Reason::ConfigurationUnavailable),
        (of(None, PlanError::unfit("a")), Reason::DocumentNotApplicable),
        (of(None, unfit().into()), Reason::DocumentNotApplicable),
        (of(load_a_module(), unfit().into()), Reason::DocumentNotApplicable),
        (of(run(ActSort::Program), refused_by_host()), Reason::DocumentNotApplicable),
        (act(ActSort::Program), Reason::DocumentNotApplicable),
        (act(ActSort::Images), Reason::DocumentNotApplicable),
        (at(AddedTurn::ControlPlane.into(), None, PlanError::unfit("a")), Reason::DocumentNotApplicable),
        (of(None, PlanError::StillUnknown(text())), Reason::DocumentNotApplicable),
        (of(None, PlanError::Exchanged), Reason::PlanOutdated),
        (of(None, PlanError::Drifted(vec![text()])), Reason::PlanOutdated),
        (of(run(ActSort::Command), program("a", "")), Reason::CommandFailed),
        (act(ActSort::Command), Reason::CommandFailed),
        (at(of_kind("CommandsConfig"), None, program("unless", "")), Reason::CommandFailed),
        (of(start_a_unit(), program("systemctl", "")), Reason::ServiceFailed),
        (of(start_a_unit(), unfit().into()), Reason::ServiceFailed),
        (of(Some(Step::Wait(Condition::ServiceActive(text()), Duration::ZERO)), unfit().into()), Reason::ServiceFailed),
        (at(of_kind("ServicesConfig"), None, unfit().into()), Reason::ServiceFailed),
        (at(AddedTurn::Services.into(), None, unfit().into()), Reason::ServiceFailed),
        (of(None, PlanError::NoPlugin(text())), Reason::ProgramNotInstalled),
        (of(None, known(Fault::NotInstalled)), Reason::ProgramNotInstalled),
        (check(PreflightCheck::Kubeadm), Reason::ProgramNotInstalled),
        (check(PreflightCheck::Kubelet), Reason::ProgramNotInstalled),
        (check(PreflightCheck::Programs), Reason::ProgramNotInstalled),
        (of(load_a_module(), program("modprobe", "")), Reason::ProgramFailed),
        (of(None, program("containerd", "")), Reason::ProgramFailed),
        (of(run(ActSort::Images), program("ctr images import", "")), Reason::ProgramFailed),
        (of(run(ActSort::KubeadmInit), program("umount", &phase("kubelet-start"))), Reason::ProgramFailed),
        (of(None, known(Fault::Download)), Reason::DownloadFailed),
        (of(None, known(Fault::Checksum)), Reason::ChecksumMismatch),
        (of(None, system(io::ErrorKind::StorageFull)), Reason::DiskNotWritable),
        (of(None, system(io::ErrorKind::QuotaExceeded)), Reason::DiskNotWritable),
        (of(None, system(io::ErrorKind::ReadOnlyFilesystem)), Reason::DiskNotWritable),
        (at(Stage::Start.into(), None, system(io::ErrorKind::StorageFull)), Reason::DiskNotWritable),
        (check(PreflightCheck::Disk), Reason::DiskNotWritable),
        (of(None, system(io::ErrorKind::PermissionDenied)), Reason::SystemError),
        (of(None, host::Error::PowerFailed.into()), Reason::SystemError),
        (at(Stage::Start.into(), None, unfit().into()), Reason::SystemError),
        (at(Stage::End.into(), None, unfit().into()), Reason::SystemError),
        (of(None, refused_by_host()), Reason::FileNotTrusted),
        (of(run(ActSort::Command), refused_by_host()), Reason::FileNotTrusted),
        (of(None, host::Error::Untrusted { what: text(), why: text(), advice: text() }.into()), Reason::FileNotTrusted),
        (of(None, host::Error::Record { what: text(), why: text(), advice: text() }.into()), Reason::StateDamaged),
        (at(AddedTurn::Preflight.into(), None, PlanError::unfit("a")), Reason::PreflightFailed),
        (check(PreflightCheck::Swap), Reason::PreflightFailed),
        (check(PreflightCheck::Memory), Reason::PreflightFailed),
        (preflight_of_kubeadm("Swap"), Reason::PreflightFailed),
        (preflight_of_kubeadm("Firewalld"), Reason::PreflightFailed),
        (check(PreflightCheck::Clock), Reason::ClockSkew),
        (of(None, known(Fault::Clock)), Reason::ClockSkew),
        (of(None, known(Fault::Versions)), Reason::VersionSkew),
        (check(PreflightCheck::Runtime), Reason::ContainerRuntimeNotReady),
        (preflight_of_kubeadm("CRI"), Reason::ContainerRuntimeNotReady),
        (preflight_of_kubeadm("ImagePull"), Reason::ImagePullFailed),
        (check(PreflightCheck::Ports), Reason::PortInUse),
        (preflight_of_kubeadm("Port-10250"), Reason::PortInUse),
        (preflight_of_kubeadm("Port-8443"), Reason::PortInUse),
        (preflight_of_kubeadm("DirAvailable--data-etcd"), Reason::NodeOfAnotherCluster),
        (preflight_of_kubeadm("FileAvailable--etc-kubernetes-kubelet.conf"), Reason::NodeOfAnotherCluster),
        (preflight_of_kubeadm("KubeletVersion"), Reason::VersionSkew),
        (preflight_of_kubeadm("KubernetesVersion"), Reason::VersionSkew),
        (check(PreflightCheck::Files), Reason::NodeOfAnotherCluster),
        (of(None, PlanError::OtherCluster), Reason::NodeOfAnotherCluster),
        (of(None, known(Fault::NodeName)), Reason::NodeNameInUse),
        (of(None, PlanError::Foreign(text())), Reason::StartedOutside),
        (of(None, PlanError::Unknown { act: text(), why: text() }), Reason::StartedOutside),
        (of(None, PlanError::Abandoned(text())), Reason::UnfinishedWork),
        (of(None, PlanError::NotUndone(text())), Reason::UnfinishedWork),
        (of_kubeadm(""), Reason::KubeadmFailed),
        (of_kubeadm("error: unknown flag: --x\n"), Reason::KubeadmFailed),
        (of_kubeadm(&phase("upload-config/kubeadm")), Reason::KubeadmFailed),
        (of_kubeadm(&phase("upload-config/kubelet")), Reason::KubeadmFailed),
        (of_kubeadm(&phase("kubeconfig/kubelet")), Reason::KubeadmFailed),
        (of_kubeadm(&phase("kubelet-finalize/experimental-cert-rotation")), Reason::KubeadmFailed),
        (of_kubeadm(&phase("etcd/local")), Reason::KubeadmFailed),
        (of_kubeadm(&phase("certs/etcd-server")), Reason::CertificatesInvalid),
        (of_kubeadm(&phase("certs/apiserver-kubelet-client")), Reason::CertificatesInvalid),
        // It could not read something of the cluster, and no check has failed.
        (of_kubeadm(&phase("preflight")), Reason::KubeadmFailed),
        (act(ActSort::KubeadmInit), Reason::KubeadmFailed),
        (act(ActSort::KubeadmJoin), Reason::KubeadmFailed),
        (of_kubeadm(&phase("kubelet-start")), Reason::KubeletNotHealthy),
        (of_kubeadm(&phase("kubelet-wait-bootstrap")), Reason::KubeletNotHealthy),
        (
            of_kubeadm(&format!(
                "{}kubelet: E1 1 run.go:72] \"command failed\" err=\"x\"\n",
                phase("wait-control-plane")
            )),
            Reason::KubeletNotHealthy,
        ),
        (of(None, known(Fault::NoNode)), Reason::KubeletNotHealthy),
        (of_kubeadm(&phase("wait-control-plane")), Reason::ControlPlaneNotHealthy),
        (act(ActSort::ControlPlaneChange), Reason::ControlPlaneChangeFailed),
        (of(run(ActSort::ControlPlaneChange), program("kubeadm", "")), Reason::ControlPlaneChangeFailed),
        (of(None, PlanError::ForeignManifest(vec![text()])), Reason::ManifestEdited),
        (refused(unreached(Cause::Unresolved)), Reason::ClusterUnreachable),
        (refused(unreached(Cause::Refused)), Reason::ClusterUnreachable),
        (refused(unreached(Cause::Other)), Reason::ClusterUnreachable),
        (of(None, known(Fault::ApiServer)), Reason::ClusterUnreachable),
        (act(ActSort::DeleteToken), Reason::ClusterUnreachable),
        (refused(unreached(Cause::Status(403))), Reason::ClusterNotReady),
        (refused(unreached(Cause::EtcdUnavailable)), Reason::ClusterNotReady),
        (refused(Refusal::NoKubeconfig), Reason::ClusterNotReady),
        (of(None, known(Fault::ClusterSettings)), Reason::ClusterNotSupported),
        (refused(unreached(Cause::UntrustedCertificate)), Reason::ClusterNotVerified),
        (refused(Refusal::Changed), Reason::ClusterNotVerified),
        (refused(Refusal::NothingPinned), Reason::ClusterNotVerified),
        (refused(Refusal::Content(Vec::new())), Reason::ClusterNotVerified),
        (of(None, not_trusted(&[])), Reason::ClusterNotVerified),
        (refused(Refusal::NotPinned(Vec::new())), Reason::AnotherCluster),
        (refused(Refusal::NotSigned(token())), Reason::TokenRejected),
        (refused(Refusal::Signature { id: token(), error: JwsError::WrongMac }), Reason::TokenRejected),
        (of(None, known(Fault::Etcd)), Reason::EtcdNotSafe),
        (of_kubeadm(&phase("control-plane-join/etcd")), Reason::EtcdNotSafe),
        (of_kubeadm(&phase("check-etcd")), Reason::EtcdNotSafe),
        (of_kubeadm(&phase("etcd-join")), Reason::EtcdNotSafe),
        (of(None, known(Fault::NoCertificates)), Reason::CertificatesUnavailable),
        (act(ActSort::DownloadCertificates), Reason::CertificatesUnavailable),
        (of(None, known(Fault::CertificateKey)), Reason::CertificateKeyInvalid),
        (of(None, known(Fault::Certificates)), Reason::CertificatesInvalid),
        (of(None, known(Fault::Upload)), Reason::CertificatesNotUploaded),
        (act(ActSort::UploadCertificates), Reason::CertificatesNotUploaded),
    ]
}

#[test]
fn each_fact_has_its_reason() {
    for (at, (found, wanted)) in table().into_iter().enumerate() {
        assert_eq!(found, wanted, "row {at}");
    }
}

#[test]
fn every_reason_is_the_reason_of_something() {
    let found: BTreeSet<Reason> = table().into_iter().map(|(found, _)| found).collect();
    assert_eq!(found, Reason::ALL.iter().copied().collect());
}

#[test]
fn of_several_problems_the_first_that_another_machine_would_have_too_counts() {
    let clock = || Problem::of(Fault::Check(PreflightCheck::Clock), "a");
    let (etcd, settings) = (Problem::of(Fault::Etcd, "a"), Problem::of(Fault::ClusterSettings, "a"));
    let of_problems =
        |problems: &[&Problem]| of(None, PlanError::Unfit(problems.iter().map(|&problem| problem.clone()).collect()));
    assert_eq!(of_problems(&[&etcd, &clock()]), Reason::ClockSkew);
    assert_eq!(of_problems(&[&etcd, &clock(), &settings]), Reason::ClusterNotSupported);
    let versions = Problem::of(Fault::Versions, "a");
    assert_eq!(of_problems(&[&settings, &versions]), Reason::ClusterNotSupported);
    assert_eq!(of_problems(&[&versions, &settings]), Reason::VersionSkew);
}

#[test]
fn of_several_endpoints_one_that_is_another_clusters_condemns_none_that_is_only_down() {
    let refusals = [Refusal::NotPinned(Vec::new()), unreached(Cause::Refused)];
    assert_eq!(of(None, not_trusted(&refusals)), Reason::ClusterUnreachable);
    let refusals = [Refusal::NotPinned(Vec::new()), Refusal::Changed];
    assert_eq!(of(None, not_trusted(&refusals)), Reason::AnotherCluster);
}
