//! What can be made so on a machine: plain data, so that plans, reports and plugins can speak of it.
use base64::{Engine, prelude::BASE64_STANDARD};
use objects::pem;
use secret::Secret;
use std::collections::BTreeSet;

/// A part of the machine that shall be so. Doing it twice is the same as doing it once. The list is closed on purpose.
///
/// Each carries what the planner saw, so that a plan can be shown, and refused when the machine has changed since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Write a file whole, with its owner and mode; missing directories are made.
    WriteFile {
        /// Absolute path.
        path: String,
        /// The name of the managed block that changes; without it the whole file is ours.
        block: Option<String>,
        /// The file as it was seen.
        was: Option<FileState>,
        /// The file as it shall be.
        file: FileState,
        /// Whether it came encrypted, so that its contents are never shown, whoever may read the file.
        confidential: bool,
    },
    /// Create a directory, or change the mode and owner of one; missing parent directories are created.
    MakeDirectory {
        /// Absolute path; a link at its end is not followed.
        path: String,
        /// The directory as it was seen.
        was: Option<DirectoryState>,
        /// The directory as it shall be.
        directory: DirectoryState,
    },
    /// Create a symbolic link, or replace one; missing parent directories are created.
    MakeLink {
        /// Absolute path of the link itself.
        path: String,
        /// The target of the link as it was seen.
        was: Option<String>,
        /// The target as it shall be.
        target: String,
    },
    /// Delete a file, a link or an empty directory.
    Remove {
        /// Absolute path. A link at its end is followed only where a file was seen behind it.
        path: String,
        /// What was seen there.
        was: PathState,
    },
    /// Set a kernel parameter and see that it took.
    SetSysctl {
        /// Name for people.
        key: String,
        /// Path below `/proc/sys`.
        path: String,
        /// The value as it was seen.
        was: Option<String>,
        /// The value as it shall be.
        value: String,
    },
    /// Load a kernel module.
    LoadModule {
        /// Module name.
        name: String,
    },
    /// Let the system take up the certificates in its anchors directory.
    RefreshTrust {
        /// How this system does it.
        store: TrustStore,
        /// The base64 text of each certificate that the store lacks.
        missing: Vec<String>,
    },
    /// Enable, mask, start or stop a unit of the service manager, or the reverse. A start waits until the unit is active.
    Unit {
        /// Its name with its suffix.
        name: String,
        /// What to do.
        action: UnitAction,
        /// The unit as it was seen.
        was: UnitState,
    },
    /// See to it that a service reads its files as they are now: restart it if it is running.
    Restart {
        /// Unit name without `.service`.
        service: String,
        /// The files that it reads at its start.
        reads: Vec<String>,
        /// Whether it was seen running.
        running: bool,
    },
}

/// A regular file: contents, mode and owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// All of its bytes.
    pub contents: Secret<Vec<u8>>,
    /// Permission bits.
    pub mode: u32,
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

impl FileState {
    /// Whether its contents may be shown: what not everybody may read on the machine, nobody reads in a plan.
    pub const fn is_public(&self) -> bool {
        self.mode & 0o004 != 0
    }
}

/// A directory: mode and owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryState {
    /// Permission bits.
    pub mode: u32,
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathState {
    /// Nothing.
    Absent,
    /// A regular file.
    File(FileState),
    /// A regular file that is too large to be read.
    LargeFile {
        /// Its size in bytes.
        size: u64,
    },
    /// A directory.
    Directory {
        /// Its mode and owner.
        state: DirectoryState,
        /// How many entries it has.
        entries: usize,
    },
    /// A symbolic link.
    Link {
        /// Where it points.
        target: String,
    },
    /// A device, a FIFO or a socket.
    Special,
}

impl PathState {
    /// What it is, for a sentence.
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::File(_) | Self::LargeFile { .. } => "a regular file",
            Self::Directory { .. } => "a directory",
            Self::Link { .. } => "a symbolic link",
            Self::Special => "a device, FIFO or socket",
        }
    }
}

/// A service, as the service manager sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// No service manager runs here; the service reads its files when it is started one day.
    Unmanaged,
    /// The service manager does not know it.
    Unknown,
    /// It does not run.
    Inactive,
    /// It runs.
    Active,
}

/// What can be done to a unit; the words are systemctl's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitAction {
    /// Let it start at boot.
    Enable,
    /// Do not let it start at boot.
    Disable,
    /// Let nothing start it.
    Mask,
    /// Let it be started again.
    Unmask,
    /// Start it and wait until it is active.
    Start,
    /// Stop it.
    Stop,
}

impl UnitAction {
    /// The word of systemctl.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Mask => "mask",
            Self::Unmask => "unmask",
            Self::Start => "start",
            Self::Stop => "stop",
        }
    }
}

/// A unit of the service manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitState {
    /// Whether it starts at boot.
    pub enablement: Enablement,
    /// Whether it runs.
    pub activity: Service,
}

/// Whether a unit starts at boot, by its unit file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enablement {
    /// There is no such unit.
    Unknown,
    /// It starts at boot.
    Enabled,
    /// It does not.
    Disabled,
    /// Nothing can start it.
    Masked,
    /// Its unit file does not say when to start it, so that it can be neither enabled nor disabled.
    Static,
}

/// How a system keeps the certificates that it trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustStore {
    /// Where administrators put certificates, one file each.
    pub anchors: &'static str,
    /// The ending that such a file must have.
    pub ending: &'static str,
    /// The program that takes them up, with its arguments.
    pub refresh: &'static [&'static str],
    /// The file of all trusted certificates that it makes.
    pub bundle: &'static str,
}

impl TrustStore {
    /// Debian, Ubuntu, Alpine, Flatcar.
    pub const DEBIAN: Self = Self {
        anchors: "/usr/local/share/ca-certificates",
        ending: "crt",
        refresh: &["update-ca-certificates"],
        bundle: "/etc/ssl/certs/ca-certificates.crt",
    };
    /// Fedora, RHEL and their relatives, Photon, Amazon Linux.
    pub const FEDORA: Self = Self {
        anchors: "/etc/pki/ca-trust/source/anchors",
        ending: "pem",
        refresh: &["update-ca-trust", "extract"],
        bundle: "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    };
    /// SUSE.
    pub const SUSE: Self = Self {
        anchors: "/etc/pki/trust/anchors",
        ending: "pem",
        refresh: &["update-ca-certificates"],
        bundle: "/var/lib/ca-certificates/ca-bundle.pem",
    };
    /// The most particular first: SUSE's program has the same name as Debian's.
    pub const ALL: [Self; 3] = [Self::FEDORA, Self::SUSE, Self::DEBIAN];
}

/// The base64 text of every certificate in a bundle, without its line ends; what can't be read is none.
pub fn certificate_bodies(bundle: &[u8]) -> BTreeSet<String> {
    let certificates = pem::blocks(bundle).filter(|block| block.label == pem::CERTIFICATE);
    certificates.filter_map(|block| block.der().ok()).map(|der| BASE64_STANDARD.encode(&*der)).collect()
}
