//! What a machine consists of.
use crate::Result;
use crate::images::Images;
use std::path::Path;

/// What a machine is made of; [`Profile::node`] is what most tests want.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// What lies above Debian.
    pub software: Software,
    /// Debian packages besides the usual ones; a list that was not used yet costs the making of a base.
    pub packages: Vec<String>,
    /// What cloud-init finds at the first boot; without it, it does not run.
    pub cloud_init: Option<CloudInit>,
}

impl Profile {
    /// A machine that kubeadm can make a node of: programs, containerd 2 and all images are there.
    pub fn node() -> Self {
        Self { software: Software::Node(Runtime::Containerd2), ..Self::default() }
    }

    /// The same, with a NoCloud seed.
    pub fn with_user_data(mut self, user_data: &str) -> Self {
        self.cloud_init = Some(CloudInit { user_data: user_data.to_owned() });
        self
    }
}

/// A NoCloud seed.
#[derive(Debug, Clone)]
pub struct CloudInit {
    /// The `user-data` document, with its `#cloud-config` line.
    pub user_data: String,
}

/// What lies above Debian.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Software {
    /// Nothing: systemd, cloud-init, chrony and containerd as Debian ships them.
    #[default]
    Debian,
    /// Everything that a Kubernetes node has before kubeadm runs.
    Node(Runtime),
}

/// Which containerd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// Our pinned 2.x; the images are in its store from the start.
    Containerd2,
    /// Debian's 1.x; see [`Machine::import_images`](crate::Machine::import_images).
    Debian,
}

impl Runtime {
    /// Puts the images into a new machine's store, where they can be put beforehand.
    pub(crate) fn preload(self, images: &Images, store: &Path) -> Result<()> {
        match self {
            Self::Containerd2 => images.preload(store),
            Self::Debian => Ok(()),
        }
    }
}
