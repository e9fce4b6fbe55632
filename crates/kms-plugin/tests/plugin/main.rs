//! The plugin as its users have it: a process, judged by kube-apiserver's own client and by a real kube-apiserver.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
extern crate kms as machineadm_kms;

mod api_server;
mod contract;
mod pkcs11;
mod processes;
mod support;
mod vault;
#[expect(dead_code, reason = "the tests of crates/kms use the rest")]
#[path = "../../../kms/tests/vault/server.rs"]
mod vault_server;
