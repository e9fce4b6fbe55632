//! The readers, one per file.
mod archive;
mod ca_bundle;
mod certs_secret;
mod containerd_config;
mod decryption;
mod etcd_answers;
mod expansion;
mod expiration;
mod instance_value;
mod jws;
mod kms_decrypt;
mod kubeadm_configuration;
mod kubeconfig;
mod pem_set;
mod runtime_report;
mod stream;
mod token;
mod token_secret;
mod world;

use crate::Target;

/// Every target; the command and the test run these.
pub const TARGETS: &[Target] = &[
    stream::TARGET,
    expansion::TARGET,
    decryption::TARGET,
    token::TARGET,
    expiration::TARGET,
    kubeconfig::TARGET,
    jws::TARGET,
    token_secret::TARGET,
    kubeadm_configuration::TARGET,
    ca_bundle::TARGET,
    certs_secret::TARGET,
    pem_set::TARGET,
    runtime_report::TARGET,
    etcd_answers::TARGET,
    instance_value::TARGET,
    archive::TARGET,
    containerd_config::TARGET,
    kms_decrypt::TARGET,
];
