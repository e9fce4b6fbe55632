//! What documents claim of a machine, as data: rules over all documents compare claims and know no kind.
use crate::v1alpha1::UnitSettings;

/// Something that a document claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    /// What it is.
    pub what: Claimed<'a>,
    /// The field that says so, as in `spec.services[0]`; of a path or an account, the mapping that has
    /// its members.
    pub path: String,
}

/// What can be claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed<'a> {
    /// A file, or one managed block of it.
    File {
        /// Where the file is.
        path: &'a str,
        /// The block; without it the whole file.
        block: Option<&'a str>,
    },
    /// What else than a file is at a path.
    Entry {
        /// The path.
        path: &'a str,
        /// What is there.
        sort: EntrySort,
    },
    /// The value of a kernel parameter; several documents may claim the same one.
    Parameter {
        /// The file below `/proc/sys`.
        path: &'a str,
        /// Its value.
        value: &'a str,
    },
    /// A file that comes with a program.
    Program {
        /// Where it is installed.
        path: String,
    },
    /// The manifest of a static pod, by its path.
    StaticPod(&'a str),
    /// A command's name.
    Command(&'a str),
    /// The proxy of a service.
    ServiceProxy {
        /// The service.
        service: &'a str,
        /// The drop-in that gives it the proxy.
        path: String,
    },
    /// What a unit of the service manager shall be; several documents may claim what does not contradict.
    Unit {
        /// Its name with its suffix.
        name: &'a str,
        /// What is wanted of it.
        wanted: UnitSettings,
    },
    /// A user or a group; names and numbers are unique.
    Account {
        /// `user` or `group`.
        sort: &'static str,
        /// Its name.
        name: &'a str,
        /// Its number, if the document sets it.
        number: Option<u32>,
    },
    /// The managed block with a user's SSH keys.
    AuthorizedKeys {
        /// The file.
        path: String,
    },
    /// That the kernel loads a module; several documents may claim the same one.
    KernelModule(&'a str),
    /// Files that are named after the document.
    Output {
        /// What they are, such as `trust bundle`.
        what: &'static str,
        /// The document's name, or what stands for it.
        name: Option<&'a str>,
        /// The file, if it is one and the same on every machine.
        path: Option<String>,
    },
    /// Files below a directory, whose names depend on the machine.
    FilesBelow(&'static str),
    /// Something that a machine needs before it becomes a node, such as `a proxy`.
    Preparation(&'static str),
    /// That this machine becomes a node; at most one document may.
    Node,
    /// A directory that the control plane of this machine uses beside those of every control plane.
    ControlPlanePath(&'a str),
    /// How containerd is configured; at most one document may say so.
    ContainerRuntime,
    /// That this machine becomes a worker.
    Worker,
    /// The minor version of Kubernetes of the node.
    Kubernetes(u32),
    /// The oldest minor version of Kubernetes that reads what the field says.
    RequiredKubernetes(u32),
    /// The files that the API server of this machine reads; at most one document may, and no worker has them.
    ControlPlaneFiles,
    /// That the control plane runs as other users than root, who cannot read its files.
    RootlessControlPlane,
    /// An argument of the API server, by its name.
    ApiServerArgument(&'a str),
    /// That the API server has no argument whose name begins so.
    NoApiServerArgument(&'static str),
    /// A volume of the API server.
    ApiServerVolume {
        /// Its name.
        name: &'a str,
        /// Where the API server sees it.
        path: &'a str,
    },
    /// That reports of its runs are sent; at most one document may.
    Reports,
}

/// What is at a path that is not a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntrySort {
    /// A directory; other documents may have paths below it.
    Directory,
    /// A symbolic link.
    Link,
    /// Nothing.
    Absent,
}

impl<'a> Claim<'a> {
    /// A claim that a field makes.
    pub(crate) fn new(path: impl Into<String>, what: Claimed<'a>) -> Self {
        Self { what, path: path.into() }
    }
}
