//! The readers, one per file.
mod stream;

use crate::Target;

/// Every target; the command and the test run these.
pub const TARGETS: &[Target] = &[stream::TARGET];
