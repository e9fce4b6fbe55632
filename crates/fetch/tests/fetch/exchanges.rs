//! Honest servers.
use crate::support::{FakeServer, answer, client, get, settings};
use fetch::{Client, Error, Identity, Method, Request};
use secret::Secret;
use std::io::{Error as IoError, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn an_answer_comes_with_status_type_and_body_whatever_the_status() {
    let server = FakeServer::start(|_, tls| {
        answer(tls, "503 Busy", "Content-Type: application/json\r\nRetry-After: 7\r\n", "{\"a\":1}")
    });
    let found = get(&server, "/a/b?x=1").unwrap();
    assert_eq!((found.status, found.is_success()), (503, false));
    assert_eq!(found.content_type.as_deref(), Some("application/json"));
    assert_eq!(found.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(&**found.body, b"{\"a\":1}");
    assert_eq!(found.url.as_str(), server.url("/a/b?x=1"));
}

#[test]
fn a_request_says_who_asks_and_wants_no_compression() {
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", ""));
    let url = server.url("/x?a=b%20c").replace("127.0.0.1", "localhost");
    client(server.authority()).send(&Request::get(&url).unwrap()).unwrap();
    let seen = &server.seen()[0];
    assert_eq!(seen.path(), "/x?a=b%20c");
    assert_eq!(seen.header("host"), Some(format!("localhost:{}", server.port()).as_str()));
    assert!(seen.header("user-agent").unwrap().starts_with("machineadm/"));
    assert_eq!(seen.header("accept-encoding"), Some("identity"));
    assert_eq!(seen.header("authorization"), None);
}

#[test]
fn bodies_headers_and_methods_arrive() {
    let server = FakeServer::start(|_, tls| answer(tls, "201 Created", "", "done"));
    let client = client(server.authority());
    for (method, name) in [(Method::Post, "POST"), (Method::Put, "PUT"), (Method::Patch, "PATCH")] {
        let request = Request::new(method, &server.url("/x")).unwrap();
        let request = request.with_header("Authorization", Secret::new("Bearer t".to_owned()));
        assert_eq!(client.send(&request.with_body("text/plain", b"hello".to_vec())).unwrap().status, 201);
        let seen = server.seen().pop().unwrap();
        assert!(seen.head.starts_with(name) && seen.body == b"hello", "{seen:?}");
        assert_eq!((seen.header("content-type"), seen.header("authorization")), (Some("text/plain"), Some("Bearer t")));
    }
    client.send(&Request::new(Method::Delete, &server.url("/x")).unwrap()).unwrap();
    assert!(server.seen().pop().unwrap().head.starts_with("DELETE /x "));
}

#[test]
fn user_and_password_of_a_url_become_basic_authorization() {
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", ""));
    let url = server.url("/").replace("https://", "https://jo:p%40ss@");
    client(server.authority()).send(&Request::get(&url).unwrap()).unwrap();
    assert_eq!(server.seen()[0].header("authorization"), Some("Basic am86cEBzcw=="));
    assert!(!server.seen()[0].header("host").unwrap().contains("jo"));
}

#[test]
fn a_chunked_body_is_put_together() {
    let server = FakeServer::start(|_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: v\r\n\r\n")
    });
    assert_eq!(&**get(&server, "/").unwrap().body, b"abcde");
}

#[test]
fn a_body_that_ends_with_the_connection_is_read_if_tls_ends_too() {
    let server = FakeServer::start(|_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\n\r\nuntil the end")?;
        tls.conn.send_close_notify();
        tls.flush()?;
        Err(IoError::other("end"))
    });
    assert_eq!(&**get(&server, "/").unwrap().body, b"until the end");
}

#[test]
fn a_connection_is_used_again_and_made_again_when_it_was_closed() {
    let closes = Arc::new(AtomicBool::new(false));
    let server = FakeServer::start({
        let closes = Arc::clone(&closes);
        move |_, tls| {
            answer(tls, "200 OK", "", "x")?;
            tls.flush()?;
            if closes.load(Ordering::SeqCst) { Err(IoError::other("end")) } else { Ok(()) }
        }
    });
    let client = client(server.authority());
    let get = Request::get(&server.url("/")).unwrap();
    let put = Request::new(Method::Put, &server.url("/")).unwrap().with_body("text/plain", vec![b'x'; 10]);
    for request in [&get, &put, &get] {
        assert_eq!(client.send(request).unwrap().status, 200);
    }
    assert_eq!(server.connections(), 1);
    closes.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        assert_eq!(client.send(&get).unwrap().status, 200);
    }
    assert_eq!((server.seen().len(), server.connections() > 1), (8, true));
}

#[test]
fn a_client_shows_its_certificate_to_whom_it_asked() {
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", ""));
    let (certificate, key) = server.authority().client();
    let identity = Identity::from_pem(certificate.as_bytes(), Secret::new(key.into_bytes())).unwrap();
    let settings = fetch::Settings { identity: Some(identity), ..settings(server.authority()) };
    Client::new(settings).unwrap().send(&Request::get(&server.url("/")).unwrap()).unwrap();
    get(&server, "/").unwrap();
    assert_eq!(server.seen().iter().map(|seen| seen.identified).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_certificate_without_its_key_is_refused_before_anything_is_sent() {
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", ""));
    let ((certificate, _), (_, other)) = (server.authority().client(), server.authority().client());
    let identity = Identity::from_pem(certificate.as_bytes(), Secret::new(other.into_bytes())).unwrap();
    let settings = fetch::Settings { identity: Some(identity), ..settings(server.authority()) };
    assert!(matches!(Client::new(settings), Err(Error::BadCredentials { .. })));
    assert!(Identity::from_pem(certificate.as_bytes(), Secret::new(b"no key".to_vec())).is_err());
    assert!(Identity::from_pem(b"none", Secret::new(b"no key".to_vec())).is_err());
}
