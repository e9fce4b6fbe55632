//! What documents may name: those that lie on the machine anything, those that were fetched only what is allowed.

/// What a document may name while it is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Files of this machine.
    pub local_files: bool,
    /// Descriptors that machineadm inherited.
    pub descriptors: bool,
    /// Addresses of this machine itself.
    pub loopback: bool,
    /// Addresses of this link only, where clouds have their metadata.
    pub link_local: bool,
}

impl Rights {
    /// Those of what lies on the machine.
    pub const ALL: Self = Self { local_files: true, descriptors: true, loopback: true, link_local: true };
    /// Those of what was fetched, unless more is allowed.
    pub const NONE: Self = Self { local_files: false, descriptors: false, loopback: false, link_local: false };

    /// Only what both allow.
    pub const fn and(self, other: Self) -> Self {
        Self {
            local_files: self.local_files && other.local_files,
            descriptors: self.descriptors && other.descriptors,
            loopback: self.loopback && other.loopback,
            link_local: self.link_local && other.link_local,
        }
    }
}
