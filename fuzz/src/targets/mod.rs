//! The readers, one per file.
mod decryption;
mod expansion;
mod stream;
mod world;

use crate::Target;

/// Every target; the command and the test run these.
pub const TARGETS: &[Target] = &[stream::TARGET, expansion::TARGET, decryption::TARGET];
