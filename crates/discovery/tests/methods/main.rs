//! Discovery methods on a fake network: who is trusted, who isn't, and what is said about it.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod caching;
mod choosing;
mod fake;
mod from_file;
mod hostile;
mod patience;
