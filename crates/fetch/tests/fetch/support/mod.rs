//! Servers and certificates for tests.
pub(crate) use testbed::fake::{Authority, FakeServer, answer, self_signed};

use fetch::{Answer, Client, Limits, Reach, Request, Result, Settings, Trust};
use std::time::Duration;

/// Long enough for loopback, short enough to wait for.
pub(crate) const LIMITS: Limits =
    Limits { connect: Duration::from_secs(20), total: Duration::from_secs(20), body: 64 * 1024, redirects: 3 };

/// Settings that reach loopback, also by redirects, and trust one authority.
pub(crate) fn settings(authority: &Authority) -> Settings {
    let trust = Trust::Only(vec![authority.certificate()]);
    let reach = Reach { loopback: true, link_local: false };
    Settings { reach, redirect_reach: reach, limits: LIMITS, ..Settings::new(trust) }
}

/// A client that reaches loopback and trusts one authority.
pub(crate) fn client(authority: &Authority) -> Client {
    Client::new(settings(authority)).unwrap()
}

/// One GET by such a client.
pub(crate) fn get(server: &FakeServer, path: &str) -> Result<Answer> {
    client(server.authority()).send(&Request::get(&server.url(path)).unwrap())
}
