//! The client against servers of its own on loopback: honest, broken and hostile ones.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]
extern crate machineadm_fetch as fetch;

mod certificates;
mod exchanges;
mod hostile;
mod proxies;
mod reaching;
mod receiving;
mod secrets;
mod support;
