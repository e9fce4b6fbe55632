//! Token commands and discovery on a real control plane under faults: API servers die in the middle, others write at the same time,
//! there are thousands of tokens, and results are lost. No object is left half made, nothing of others is lost, and a second run completes.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod bed;
mod discovering;
mod holding;
mod killed;
mod lost;
mod many;
mod writers;
