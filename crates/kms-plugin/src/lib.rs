//! machineadm-kms-plugin: a KMS v2 plugin for kube-apiserver.
//!
//! ```text
//!  configuration ──▶ Plugin ──▶ one ServedKey per key: socket ─ gRPC ─ Key ─▶ KeyService (crates/kms)
//!                      │                                             ▲
//!                      └─▶ livez, readyz, metrics        probe every 10 s: current, encrypt, decrypt
//! ```
//!
//! - `key.rs` is one key: its health from the last probe, its retries and its limits. Keys share nothing, so that one that
//!   fails leaves the others alone.
//! - `probe.rs` asks the service whether the key encrypts and decrypts. Status answers from the last probe and never asks
//!   the service itself.
//! - `grpc.rs` is the contract of KMS v2. The id of a Decrypt must be the id of the version and epoch that its annotations
//!   name: no other key is tried.
//! - `driver.rs` is the one thread that serves all sockets; it makes quick calls itself, `workers.rs` makes all others.
//! - `connections.rs` speaks HTTP/2 with the clients of a socket.
//! - `socket.rs` creates sockets with mode 0600 and never takes one from a process that answers.
//! - `confinement.rs` gives up files and system calls that are not needed, before the first key is read.
//! - `plugin.rs` starts and stops keys as the configuration file says, and follows the file when it changes.
//!
//! Nothing is stored: instances on several machines report the same ids.
mod aws_fields;
mod check;
mod cli;
mod configuration;
mod confinement;
mod connections;
mod driver;
mod fields;
mod grpc;
mod health_server;
mod key;
mod log;
mod metrics;
mod paths;
mod pkcs11_fields;
mod plugin;
mod probe;
mod replaced_ids;
mod retries;
mod schema;
mod single_flight;
mod socket;
mod vault_fields;
mod workers;

pub use cli::{Cli, run};
pub use configuration::{API_VERSION, Backend, Configuration, HealthAddress, KIND, KeySettings, OnOutage};
pub use grpc::{EPOCH_ANNOTATION, VERSION_ANNOTATION, named_version};
pub use key::{Health, Key};
pub use schema::json_schema;

/// The messages and the service of KMS v2, generated from Kubernetes' definition.
#[expect(unreachable_pub, reason = "generated code is public everywhere")]
mod v2 {
    tonic::include_proto!("v2");
}
