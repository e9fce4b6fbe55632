//! `machineadm discover` against hostile servers and files: none is trusted, each has its own message, nothing is kept or
//! replaced, and nothing secret is on the wire.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod brought;
mod by_token;
mod impostor;
mod kept;
mod stage;
mod stale;
mod stored;
mod telling;
mod watched;
