//! SysctlConfig: kernel parameters (R2).

/// A kernel parameter and the value it shall have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name as the user wrote it, dots or slashes.
    pub key: String,
    /// The file below `/proc/sys`, relative: `net/ipv4/ip_forward`.
    pub path: String,
    /// Value, white space folded to single spaces.
    pub value: String,
}
