//! The plugin as its users have it: a process, judged by kube-apiserver's own client.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
extern crate kms as machineadm_kms;

mod aws;
mod aws_failures;
#[expect(dead_code, reason = "the tests with a real kube-apiserver use the rest")]
mod backends;
mod contract;
#[expect(dead_code, reason = "the tests of crates/kms use the rest")]
#[path = "../../../kms/tests/aws/fake_aws_kms.rs"]
mod fake_aws_kms;
#[expect(dead_code, reason = "the tests of crates/kms use the rest")]
#[path = "../../../kms/tests/aws/fake_credentials.rs"]
mod fake_credentials;
mod operation;
mod pkcs11;
mod processes;
#[path = "../../../kms/tests/aws/sigv4.rs"]
mod sigv4;
mod support;
mod vault;
#[expect(dead_code, reason = "the tests of crates/kms use the rest")]
#[path = "../../../kms/tests/vault/server.rs"]
mod vault_server;
