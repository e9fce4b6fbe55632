//! A real kube-apiserver with the plugin. `cargo xtask test` runs this binary beside the others, since it waits for
//! kube-apiserver's clocks for most of its time.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
extern crate kms as machineadm_kms;

mod api_server;
#[path = "../plugin/backends.rs"]
mod backends;
mod crashes;
mod disabled_key;
#[expect(dead_code, reason = "the tests of crates/kms use the rest")]
#[path = "../../../kms/tests/aws/fake_aws_kms.rs"]
mod fake_aws_kms;
mod outage;
mod planes;
#[path = "../../../kms/tests/aws/sigv4.rs"]
mod sigv4;
#[expect(dead_code, reason = "the tests of the plugin use the rest")]
#[path = "../plugin/support.rs"]
mod support;
#[expect(dead_code, reason = "the tests of crates/kms use the rest")]
#[path = "../../../kms/tests/vault/server.rs"]
mod vault_server;
