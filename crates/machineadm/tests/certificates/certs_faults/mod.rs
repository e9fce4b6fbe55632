//! The certificates copy on a real control plane under faults: processes are killed at each request and each write, answers
//! are lost, and several upload at once. No Secret is left without a live owner, no set of files is half written, and the
//! next run completes.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod at_once;
mod bed;
mod copy;
mod download_killed;
mod gateway;
mod lost_answers;
mod upload_killed;
