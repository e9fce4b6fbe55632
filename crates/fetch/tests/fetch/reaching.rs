//! Addresses: which are forbidden, and which answer nothing.
use crate::support::{Authority, FakeServer, answer, client, settings};
use fetch::{Client, Error, Place, Reach, Request, Settings};
use std::net::TcpListener;

#[test]
fn loopback_is_forbidden_by_address_by_name_and_in_disguise() {
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", ""));
    let settings = Settings { reach: Reach::default(), ..settings(server.authority()) };
    let client = Client::new(settings).unwrap();
    for host in
        ["127.0.0.1", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "0x7f.1", "2130706433"]
    {
        let error = client.send(&Request::get(&format!("https://{host}:{}/", server.port())).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Forbidden { what: Place::Loopback, .. }), "{host}: {error:?}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn link_local_and_metadata_addresses_are_forbidden() {
    let client = client(&Authority::new());
    for host in ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200"] {
        let error = client.send(&Request::get(&format!("https://{host}/")).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Forbidden { what: Place::LinkLocal | Place::Metadata, .. }), "{error:?}");
    }
}

#[test]
fn nobody_listening_is_a_refusal_that_may_pass() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = client(&Authority::new()).send(&Request::get(&format!("https://{address}/")).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Refused { address: at } if at == address), "{error:?}");
    assert!(error.is_transient() && !error.may_have_arrived());
}

#[test]
fn a_name_without_address_may_get_one_later() {
    // RFC 6761: no resolver knows names below `invalid`; musl and glibc both refuse a label of 64 letters themselves.
    let name = format!("{}.invalid", "x".repeat(64));
    let error = client(&Authority::new()).send(&Request::get(&format!("https://{name}/")).unwrap()).unwrap_err();
    assert!(matches!(&error, Error::Unresolved { host, .. } if *host == name) && error.is_transient(), "{error:?}");
}
