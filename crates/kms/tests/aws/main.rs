//! AWS KMS: a fake judges signatures, key material, states and credentials; moto and botocore judge the requests.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod aws_keys;
mod credentials;
mod fake_aws_kms;
mod fake_credentials;
mod judges;
#[path = "../support/one_line.rs"]
mod one_line;
mod sigv4;

const DOCS: &str = include_str!("../../../../docs/operating/kms.md");
