//! The reasons of failures: names for programs, and what each says about another try.
use serde::{Deserialize, Serialize};

/// What a reason says about another try, of this machine or of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Something elsewhere is missing or unavailable: this machine may succeed later, without a change.
    Wait,
    /// This machine cannot succeed as it is: another one may.
    ThisMachine,
    /// The configuration, the image or the cluster must be corrected: another machine would fail likewise.
    Configuration,
}

impl Class {
    /// The name in docs and conditions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wait => "Wait",
            Self::ThisMachine => "ThisMachine",
            Self::Configuration => "Configuration",
        }
    }
}

/// One row for each reason: its name, its class and its meaning. Everything that is to be said of a reason is made of its
/// row, so that none can be forgotten; the engine's `failure_reason.rs` decides which failure has which.
macro_rules! reasons {
    ($($name:ident $class:ident $meaning:literal)+) => {
        /// Why a run failed. The names are those of condition reasons in Kubernetes; none is ever renamed or removed.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(from = "String", into = "&'static str")]
        pub enum Reason {
            $(#[doc = $meaning] $name,)+
            /// None is recorded, or one that this version does not know: an older or a newer machineadm wrote it.
            #[default]
            Unknown,
        }

        impl Reason {
            /// Every reason that a run can have.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                    Self::Unknown => "Unknown",
                }
            }

            /// What it says about another try.
            pub const fn class(self) -> Class {
                match self {
                    $(Self::$name => Class::$class,)+
                    // What is not known decides nothing.
                    Self::Unknown => Class::Wait,
                }
            }

            /// What it means, for the docs.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => $meaning,)+
                    Self::Unknown => "no reason is recorded, or one that this version does not know",
                }
            }
        }
    };
}

reasons! {
    ConfigurationInvalid Configuration "the configuration is invalid"
    ConfigurationUnavailable Wait "a part of the configuration could not be fetched"
    DocumentNotApplicable Configuration "a document asks for what this machine or its kubeadm does not support, or something else is at the path that it writes"
    PlanOutdated ThisMachine "`apply`: the machine, or a document that is fetched, has changed since the plan was made"

    CommandFailed ThisMachine "a command of a CommandsConfig failed or timed out"
    ServiceFailed ThisMachine "a systemd unit could not be enabled, started, stopped or restarted, or does not keep running"
    ProgramNotInstalled Configuration "a program, its unit or a plugin is not installed, or cannot be used"
    ProgramFailed ThisMachine "a program of the operating system or of the container runtime failed"
    DownloadFailed Wait "a file of a ProgramsConfig could not be downloaded"
    ChecksumMismatch Configuration "a file of a ProgramsConfig does not have the SHA-256 that the document requires"
    DiskNotWritable ThisMachine "a file system is full, over its quota or read-only, or has less free space than a node requires"
    SystemError ThisMachine "the operating system refused an operation, such as reading or writing a file"
    FileNotTrusted ThisMachine "a file or directory is not what it must be: a link, or another user could have changed it"
    StateDamaged ThisMachine "a record below `/var/lib/machineadm` is damaged or of another version"

    PreflightFailed Configuration "a preflight check of machineadm or of kubeadm failed for which no other reason stands here"
    ClockSkew ThisMachine "the clock of this machine is so far off that certificates are not valid"
    VersionSkew Configuration "the versions of kubeadm, the kubelet and the cluster do not fit together"
    ContainerRuntimeNotReady ThisMachine "the container runtime does not answer, is not ready, or is too old for the kubelet"
    ImagePullFailed Wait "kubeadm could not pull an image"
    PortInUse ThisMachine "another program listens on a port of the node"
    NodeOfAnotherCluster ThisMachine "this machine is a node of another cluster, or has files of one"
    NodeNameInUse ThisMachine "the cluster has a Node of this name that is Ready"
    StartedOutside ThisMachine "`kubeadm init` or `kubeadm join` was run outside machineadm and did not finish"
    UnfinishedWork ThisMachine "something that was started here did not finish, and this configuration does not have it or could not undo it"

    KubeadmFailed ThisMachine "kubeadm failed in a phase for which no other reason stands here; `kubeadmPhase` names it"
    KubeletNotHealthy ThisMachine "the kubelet does not start, gets no certificate, or registers no Node"
    ControlPlaneNotHealthy ThisMachine "the static pods of this control plane node did not become healthy"
    ControlPlaneChangeFailed Configuration "the API server did not become ready with a ControlPlaneConfig; the change was rolled back"
    ManifestEdited ThisMachine "the manifest of the API server has edits that machineadm and kubeadm would not make"

    ClusterUnreachable Wait "the API server does not answer"
    ClusterNotReady Wait "the API server answers, and does not return what joining needs: cluster-info is missing or may not be read, or etcd does not answer"
    ClusterNotSupported Configuration "the cluster is not set up for further control plane nodes: kubeadm-config is missing or lacks a setting"
    ClusterNotVerified Configuration "what the server returned cannot be trusted: its certificate, cluster-info or the kubeconfig is not valid"
    AnotherCluster Configuration "the server belongs to another cluster: none of its CA certificates has the CA pin"
    TokenRejected ThisMachine "the bootstrap token has expired, or the cluster does not know it; a machine that is created now gets another token"
    EtcdNotSafe Wait "etcd does not answer, or its members do not allow to add or remove one now"
    CertificatesUnavailable Wait "the cluster has no certificates copy, or this machine may not read it"
    CertificateKeyInvalid Configuration "the certificate key is malformed, or does not decrypt the certificates copy"
    CertificatesInvalid Configuration "certificates of the control plane are missing, expired, or do not belong together or to the cluster"
    CertificatesNotUploaded Wait "the certificates copy could not be uploaded"
}

impl Reason {
    /// Whether no reason is known.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

/// A name that this version does not know is no error: a controller may be older than the machine.
impl From<String> for Reason {
    fn from(name: String) -> Self {
        Self::ALL.iter().copied().find(|reason| reason.name() == name).unwrap_or_default()
    }
}

impl From<Reason> for &'static str {
    fn from(reason: Reason) -> Self {
        reason.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_reason_has_a_name_of_its_own_in_the_form_of_condition_reasons() {
        let names: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), Reason::ALL.len());
        for name in names {
            assert!(name.starts_with(|letter: char| letter.is_ascii_uppercase()), "{name}");
            assert!(name.chars().all(|letter| letter.is_ascii_alphanumeric()), "{name}");
        }
    }

    #[test]
    fn every_reason_is_read_back_from_its_name() {
        for reason in Reason::ALL.iter().copied().chain([Reason::Unknown]) {
            let json = serde_json::to_string(&reason).unwrap();
            assert_eq!(json, format!("\"{}\"", reason.name()));
            assert_eq!(serde_json::from_str::<Reason>(&json).unwrap(), reason);
        }
    }

    #[test]
    fn a_name_of_another_version_reads_as_unknown_and_decides_nothing() {
        let reason: Reason = serde_json::from_str("\"DiskOnFire\"").unwrap();
        assert_eq!((reason, reason.class()), (Reason::Unknown, Class::Wait));
        assert!(reason.is_unknown() && !Reason::ClockSkew.is_unknown());
    }

    #[test]
    fn classes_decide_what_becomes_of_a_machine() {
        for (reason, class) in [
            (Reason::ClusterUnreachable, "Wait"),
            (Reason::EtcdNotSafe, "Wait"),
            (Reason::ClockSkew, "ThisMachine"),
            (Reason::DiskNotWritable, "ThisMachine"),
            (Reason::AnotherCluster, "Configuration"),
            (Reason::ConfigurationInvalid, "Configuration"),
        ] {
            assert_eq!(reason.class().name(), class, "{reason:?}");
        }
        assert!(
            Class::Wait < Class::ThisMachine && Class::ThisMachine < Class::Configuration,
            "the gravest is the last"
        );
    }

    #[test]
    fn meanings_are_cells_of_a_table() {
        for reason in Reason::ALL.iter().copied().chain([Reason::Unknown]) {
            assert!(!reason.meaning().is_empty() && !reason.meaning().contains(['|', '\n']), "{reason:?}");
        }
    }
}
