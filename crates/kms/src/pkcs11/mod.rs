//! Keys of a token behind a PKCS#11 module: a hardware security module, or SoftHSM.
//!
//! ```text
//!  Module (one per library and process) ──▶ Sessions (logged in, pooled) ──▶ AES keys with the label, by CKA_ID
//!    restarted when the device is lost        opened again when lost            the largest CKA_ID encrypts
//! ```
//!
//! - The version of a key is computed from its material: the token decrypts one fixed block with it. A key that was created
//!   again under the same label and CKA_ID has another version, and a copy of the key on another token has the same one.
//!   Where the token refuses that, the settings can ask for a version from attributes. Which of the two is never guessed,
//!   so that the reported id depends on the settings and the key alone.
//! - A version that no key has, and that some key may have, is decrypted by the key whose GCM tag fits: the key id is
//!   authenticated data, so that only the key that encrypted under this id decrypts.
//! - Encryption is AES-GCM in the token: the only authenticated mechanism that SoftHSM and hardware share, and the only one
//!   that binds the key id to the ciphertext. The nonce is random and ours; a token that insists on its own, as those in
//!   FIPS mode do, writes it back, and that one is stored.
//! - A program that is linked statically cannot load a module: there [`Pkcs11Key`] answers every call with that reason.
use std::path::PathBuf;

#[cfg(all(feature = "pkcs11", not(target_env = "musl")))]
mod failures;
#[cfg(all(feature = "pkcs11", not(target_env = "musl")))]
mod identity;
#[cfg(all(feature = "pkcs11", not(target_env = "musl")))]
mod key;
#[cfg(all(feature = "pkcs11", not(target_env = "musl")))]
mod module;
#[cfg(all(feature = "pkcs11", not(target_env = "musl")))]
mod pin;
#[cfg(all(feature = "pkcs11", not(target_env = "musl")))]
mod sessions;
#[cfg(not(all(feature = "pkcs11", not(target_env = "musl"))))]
mod unsupported;

#[cfg(all(feature = "pkcs11", not(target_env = "musl")))]
pub use key::Pkcs11Key;
#[cfg(not(all(feature = "pkcs11", not(target_env = "musl"))))]
pub use unsupported::Pkcs11Key;

/// Whether this build can load PKCS#11 modules.
pub const PKCS11_SUPPORT: Pkcs11Support = if cfg!(all(feature = "pkcs11", not(target_env = "musl"))) {
    Pkcs11Support::BuiltIn
} else {
    Pkcs11Support::Absent
};

/// Whether a build can load PKCS#11 modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pkcs11Support {
    /// It can: linked with glibc, feature `pkcs11`.
    BuiltIn,
    /// It cannot: linked statically with musl, or built without the feature.
    Absent,
}

/// Where the keys are, and how to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pkcs11Settings {
    /// The module: a shared library.
    pub module: PathBuf,
    /// The token.
    pub token: Pkcs11Token,
    /// The file with the PIN of the token's user. It is read for each login.
    pub pin_file: PathBuf,
    /// The label (CKA_LABEL) of the keys.
    pub key_label: Option<String>,
    /// The id (CKA_ID) of the only key that counts.
    pub key_id: Option<Vec<u8>>,
    /// What versions are computed from.
    pub identity: Pkcs11Identity,
}

/// What the version of a key is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pkcs11Identity {
    /// Its material, by CKM_AES_ECB: the same for all copies.
    #[default]
    Material,
    /// Its attributes and the serial number of its token, where CKM_AES_ECB is refused.
    Attributes,
}

/// Which token of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pkcs11Token {
    /// The one with this label.
    Label(String),
    /// The one in this slot.
    Slot(u64),
}
