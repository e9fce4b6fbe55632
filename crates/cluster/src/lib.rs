//! The API server over [`fetch`]: kubeconfigs, small verbs on JSON, the fetch of cluster-info without credentials, and the
//! certificates copy.
mod anonymous;
mod api_server;
mod bootstrap_objects;
mod ensure;
mod error;
pub mod etcd;
mod exec;
mod issue;
pub mod kubeadm_certs;
mod kubeconfig;
mod list;
mod merge;
mod network;
mod reported_etcd;
mod status;
mod unverified_time;
mod verbs;

pub use anonymous::anonymous_cluster_info;
pub use api_server::{ApiServer, Timeouts};
pub use bootstrap_objects::Settled;
pub use ensure::Ensured;
pub use error::{Error, Result};
pub use exec::{ExecFault, ExecPlugin};
pub use fetch::retry::Waiting;
pub use issue::{NotIssued, issue_client_certificate};
pub use kubeconfig::{Kubeconfig, Problem};
pub use list::Listed;
pub use network::RealNetwork;
pub use serde_json::Value;
pub use unverified_time::unverified_time;
pub use verbs::{Created, Deleted, Effect, Precondition, Replaced};
