//! `machineadm certs` on a real control plane: exchanged with real kubeadms, deleted by the real controllers, read by
//! nobody else, and every mistake named.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod cleanup;
mod exchange;
mod keys;
mod life;
mod look;
mod mistakes;
mod rights;
mod secrecy;
mod tap;
