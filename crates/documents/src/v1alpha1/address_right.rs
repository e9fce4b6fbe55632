//! Special addresses that a document may let machineadm connect to.
use crate::{Rights, path::item};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A special address that may be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AddressRight {
    /// Addresses of this machine itself.
    Loopback,
    /// Addresses of this link only, where clouds have their metadata.
    LinkLocal,
}

impl AddressRight {
    /// What these allow; everything else is not allowed.
    pub fn rights(allowed: &[Self]) -> Rights {
        Rights {
            loopback: allowed.contains(&Self::Loopback),
            link_local: allowed.contains(&Self::LinkLocal),
            ..Rights::NONE
        }
    }

    /// The first item of `spec.allow` that a document with these rights may not have: its path, what it names, and the
    /// right.
    pub(crate) fn not_allowed(allowed: &[Self], rights: Rights) -> Option<(String, &'static str, &'static str)> {
        allowed.iter().enumerate().find_map(|(index, right)| {
            let (is_allowed, what, right) = match right {
                Self::Loopback => (rights.loopback, "loopback addresses", "loopback"),
                Self::LinkLocal => (rights.link_local, "link-local addresses", "linkLocal"),
            };
            (!is_allowed).then(|| (item("spec.allow", index), what, right))
        })
    }
}
