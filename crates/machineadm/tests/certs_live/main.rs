//! `machineadm certs` on a real control plane: exchanged with real kubeadms, deleted by the real controllers, read by
//! nobody else, and every mistake named.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
#[path = "../support/certs_bed.rs"]
mod certs_bed;
mod cleanup;
mod exchange;
mod keys;
mod life;
mod look;
mod mistakes;
#[path = "../support/ran.rs"]
mod ran;
mod rights;
#[path = "../support/scratch.rs"]
mod scratch;
mod secrecy;
mod tap;
