//! Servers that do to their clients what a test says: for what no real server would do.
#![expect(clippy::unwrap_used, reason = "a fake for tests: what fails here fails the test")]
mod authority;
mod server;
mod wiretap;

pub use authority::{Authority, self_signed};
pub use server::{FakeServer, Seen, Tls, answer};
pub use wiretap::Wiretap;
