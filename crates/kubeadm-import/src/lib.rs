//! What kubeadm's configuration means as our documents.
//!
//! ```text
//!  hub::Documents, ComponentConfig ──import──▶ Imported::Init(InitConfig) or Imported::Join(JoinConfig)
//!  (kubeadm's, of any API version)             with an ImportReport: unsupported fields, notes
//!
//!  names of preflight checks ──tolerated_checks──▶ PreflightCheck        values on a command line of kubeadm
//!  names of phases ──init_phases, join_phases──▶ what is left out        ──values──▶ as a document has them
//! ```
//!
//! - What comes in has been read by the crate `kubeadm`: its hub types, in which every API version has the same form.
//! - An InitConfiguration and a ClusterConfiguration become an [`InitConfig`](documents::v1alpha1::InitConfig), a
//!   JoinConfiguration becomes a [`JoinConfig`](documents::v1alpha1::JoinConfig). [`import`] chooses between them;
//!   [`init_config`] and [`join_config`] are one conversion each, for callers that know what they have.
//! - Each hub type is taken apart by all of its fields: a new field does not build before it has a place here.
//! - An [`UnsupportedField`] is a field that our document has no place for, by path, value and reason. The caller decides
//!   whether it is refused ([`ImportReport::refuse_unsupported`]) or listed. A [`FieldNote`] says what became of a field
//!   that is expressed in another way or has no effect. Neither shows a secret.
//! - An [`ImportError`] says why there is no document at all.
//!
//! The documents that come out are not judged: `documents::read` does that, as with every other document.
mod cluster_configuration;
mod error;
mod import;
mod init_config;
pub mod init_phases;
mod join_config;
pub mod join_phases;
pub mod kubernetes_version;
mod node_registration;
mod report;
mod timeouts;
pub mod tolerated_checks;
pub mod values;

pub use error::ImportError;
pub use import::{DocumentKind, Imported, Wanted, import};
pub use init_config::{ImportedInit, init_config};
pub use join_config::{ImportedJoin, join_config};
pub use report::{FieldNote, ImportReport, RefusedPhase, UnsupportedField};
