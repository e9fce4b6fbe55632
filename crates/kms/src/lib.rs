//! One interface to key services, and the key ids that kube-apiserver compares.
//!
//! ```text
//!  KeyService ──current──▶ KeyVersion ──id(epoch)──▶ KeyId     what Status reports
//!             ──encrypt──▶ Sealed { ciphertext, version }      what kube-apiserver stores
//!             ──decrypt(ciphertext, version)──▶ plaintext
//! ```
//!
//! - A [`KeyService`] is one key of one service. It blocks, knows no gRPC and keeps nothing that another instance would
//!   not find too, so that all instances report the same id.
//! - A [`KeyVersion`] names key material: the service and the key, and the version in it. Its [`KeyId`] is public: the
//!   provider and a SHA-256 over version and epoch. The epoch comes from the configuration; with another epoch the same
//!   material has another id, so that a change from A to B and back to A never reports an id twice.
//! - A [`Failure`] has a [`FailureKind`], which decides what Status answers and what an operator reads.
//! - `aws/` is AWS KMS, over `crates/fetch`, with signatures by `aws-sigv4`.
//! - `vault/` is the transit engine of Vault and OpenBao, over `crates/fetch`.
//! - `pkcs11/` is keys of tokens behind a PKCS#11 module, in builds that can load one.
//! - `file.rs` is the backend with keys in a file. It protects backups of etcd, not the machine that holds the file.
mod aws;
mod chain;
mod failure;
mod file;
mod key_file;
mod key_id;
mod pkcs11;
mod service;
mod small_file;
mod vault;

pub use aws::{AwsCredentials, AwsKms, AwsSettings, KeyArn};
pub use failure::{Failure, FailureKind};
pub use file::FileKeys;
pub use key_id::{KeyId, KeyVersion};
pub use pkcs11::{PKCS11_SUPPORT, Pkcs11Identity, Pkcs11Key, Pkcs11Settings, Pkcs11Support, Pkcs11Token};
pub use service::{KeyService, Sealed};
pub use vault::{VaultAuth, VaultSettings, VaultTransit};

/// What kube-apiserver accepts of a ciphertext, in bytes.
pub const CIPHERTEXT_LIMIT: usize = 1024;
