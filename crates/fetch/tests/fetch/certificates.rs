//! Certificates that are not good, each with its own reason.
use crate::support::{Authority, FakeServer, answer, client, get, self_signed, settings};
use fetch::{CertificateFault, Client, Error, Request, Settings, Trust};
use rustls::ServerConfig;
use std::sync::Arc;

fn server(config: impl FnOnce(&Authority) -> Arc<ServerConfig>) -> FakeServer {
    let authority = Arc::new(Authority::new());
    let config = config(&authority);
    FakeServer::with(authority, config, |_, tls| answer(tls, "200 OK", "", ""))
}

/// Why a server is refused, by a client that trusts its authority.
fn fault(server: &FakeServer) -> CertificateFault {
    let error = get(server, "/").unwrap_err();
    assert!(!error.is_transient() && !error.may_have_arrived());
    assert!(server.seen().is_empty(), "something was sent");
    match error {
        Error::Certificate { fault, .. } => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_certificate_for_others_names_them() {
    let wanted =
        CertificateFault::WrongName { wanted: "127.0.0.1".to_owned(), names: vec!["other.example".to_owned()] };
    assert_eq!(fault(&server(|authority| authority.serves(&["other.example"]))), wanted);
}

#[test]
fn a_certificate_that_is_over_or_has_not_begun_is_refused() {
    let over = server(|authority| authority.serves_between(&["127.0.0.1"], 2001, 2002));
    assert_eq!(fault(&over), CertificateFault::Expired);
    let early = server(|authority| authority.serves_between(&["127.0.0.1"], 2901, 2902));
    assert_eq!(fault(&early), CertificateFault::NotYetValid);
}

#[test]
fn a_certificate_of_an_unknown_authority_is_refused_also_by_the_system_s_trust() {
    let server = server(|_| Authority::new().serves(&["127.0.0.1"]));
    assert_eq!(fault(&server), CertificateFault::UnknownIssuer);
    let trust = Trust::System { and: vec![Authority::new().certificate()] };
    let settings = Settings { trust, ..settings(server.authority()) };
    let error = Client::new(settings).unwrap().send(&Request::get(&server.url("/")).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Certificate { fault: CertificateFault::UnknownIssuer, .. }), "{error:?}");
}

#[test]
fn an_authority_beside_the_system_s_is_trusted() {
    let server = server(|authority| authority.serves(&["127.0.0.1"]));
    let trust = Trust::System { and: vec![server.authority().certificate()] };
    let settings = Settings { trust, ..settings(server.authority()) };
    assert_eq!(Client::new(settings).unwrap().send(&Request::get(&server.url("/")).unwrap()).unwrap().status, 200);
}

#[test]
fn without_verification_anybody_may_answer() {
    for config in [self_signed(&["other.example"]), Authority::new().serves_between(&["127.0.0.1"], 2001, 2002)] {
        let server = server(|_| config);
        let settings = Settings { trust: Trust::Unverified, ..settings(server.authority()) };
        assert_eq!(Client::new(settings).unwrap().send(&Request::get(&server.url("/")).unwrap()).unwrap().status, 200);
        assert!(get(&server, "/").is_err());
    }
}

#[test]
fn another_name_for_the_certificate_can_be_given() {
    let server = server(|authority| authority.serves(&["kubernetes.default.svc"]));
    let name = Some("kubernetes.default.svc".to_owned());
    let settings = Settings { tls_server_name: name, ..settings(server.authority()) };
    assert_eq!(Client::new(settings).unwrap().send(&Request::get(&server.url("/")).unwrap()).unwrap().status, 200);
    assert!(client(server.authority()).send(&Request::get(&server.url("/")).unwrap()).is_err());
}

#[test]
fn trusting_nobody_is_refused_when_the_client_is_made() {
    assert!(matches!(Client::new(Settings::new(Trust::Only(Vec::new()))), Err(Error::NoRoots { .. })));
    let garbage = Trust::Only(vec![fetch::CertificateDer::from(vec![1, 2, 3])]);
    assert!(matches!(Client::new(Settings::new(garbage)), Err(Error::BadCredentials { .. })));
}
