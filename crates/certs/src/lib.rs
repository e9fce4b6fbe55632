//! The certificates copy: how the keys of a cluster reach a further control plane node, encrypted and for a short time.
//!
//! ```text
//! Etcd ──▶ FileSet ──▶ what a node has ──check_upload──▶ CertificateSet ──SetEncryption──▶ Secret kubeadm-certs
//!             │                                                            CertificateKey      │ owned by
//! tokens ──▶ Ttl ──▶ TTL token, which the cluster deletes at its end ◀──────────────── Owner ──┘
//!             │
//!             └──▶ Secret ──KubeadmCerts::decrypt──▶ what it holds ──check_download──▶ CertificateSet ──▶ files
//! ```
//!
//! - [`FileSet`] is which files a control plane node needs, where they are and with which modes. It is always copied as
//!   a whole.
//! - [`CertificateSet`] is the contents of a whole set that belong together. Only a check makes one, and only one can be
//!   encrypted: what is wrong with a file is a [`Problem`], and all of them are reported at once.
//! - [`CertificateKey`] encrypts. The cluster never has it; the operator takes it from node to node.
//! - The Secret `kubeadm-certs` ([`secret_object`]) is the bridge. Its format, its names and its rights ([`access`]) are
//!   kubeadm's, in both directions.
//! - The [TTL token](ttl_token) owns the Secret: when the token cleaner deletes the token, the garbage collector deletes
//!   the Secret. The [`canary`] shows whether a cluster does either.
//!
//! Nothing here reads a clock, a file or the network: time, randomness and answers come in as arguments.
pub mod access;
pub mod canary;
pub mod check;
pub mod client_certificate;
pub mod entry;
pub mod files;
pub mod key;
pub mod owner;
pub mod public_key;
pub mod secret_object;
pub mod ttl_token;

pub use check::{CertificateSet, Fault, Found, Problem, check_download, check_upload};
pub use entry::SetEncryption;
pub use files::{Etcd, ExternalEtcd, FileName, FileSet};
pub use key::{CertificateKey, NoCertificateKey};
pub use owner::Owner;
pub use secret_object::KubeadmCerts;
pub use ttl_token::Ttl;
