//! Broken and hostile servers: each ends in its own error, within the limits.
use crate::support::{FakeServer, LIMITS, answer, client, get, settings};
use fetch::{Client, Error, Limits, Method, Request, Settings, Stage};
use secret::Secret;
use std::io::{Error as IoError, Write};
use std::sync::Arc;
use std::time::Duration;

/// GETs by clients with ever more patience, until one loses it at the stage that is meant: a busy machine may not come
/// that far at first.
fn timed_out(url: &str, settings: &Settings, stage: Stage, patient: fn(Duration) -> Limits) -> Error {
    for seconds in [1, 4, 16, 64] {
        let settings = Settings { limits: patient(Duration::from_secs(seconds)), ..settings.clone() };
        match Client::new(settings).unwrap().send(&Request::get(url).unwrap()).unwrap_err() {
            error @ Error::Timeout { .. } if matches!(&error, Error::Timeout { stage: at, .. } if *at == stage) => {
                return error;
            }
            Error::Timeout { .. } => {}
            other => panic!("{other}"),
        }
    }
    panic!("no client came as far as {stage:?}")
}

#[test]
fn a_redirect_is_followed_with_all_headers_at_the_same_authority() {
    let server = FakeServer::start(|seen, tls| match seen.path() {
        "/a" => answer(tls, "302 Found", "Location: /b?c\r\n", "gone"),
        _ => answer(tls, "200 OK", "", "here"),
    });
    let request = Request::get(&server.url("/a")).unwrap();
    let request = request.with_header("Authorization", Secret::new("Bearer t".to_owned()));
    let found = client(server.authority()).send(&request).unwrap();
    assert_eq!((found.url.as_str(), &**found.body), (server.url("/b?c").as_str(), &b"here"[..]));
    assert_eq!(server.seen()[1].header("authorization"), Some("Bearer t"));
}

#[test]
fn a_relative_redirect_keeps_the_user_of_the_url() {
    let server = FakeServer::start(|seen, tls| match seen.path() {
        "/a" => answer(tls, "302 Found", "Location: b\r\n", ""),
        _ => answer(tls, "200 OK", "", ""),
    });
    let url = server.url("/a").replace("https://", "https://jo:pw@");
    client(server.authority()).send(&Request::get(&url).unwrap()).unwrap();
    assert_eq!(server.seen()[1].header("authorization"), Some("Basic am86cHc="));
}

#[test]
fn a_redirect_elsewhere_takes_neither_authorization_nor_certificate_along() {
    let other = FakeServer::start(|_, tls| answer(tls, "200 OK", "", "here"));
    let authority = Arc::new(crate::support::Authority::new());
    let port = other.port();
    let server = FakeServer::of(Arc::clone(&authority), move |_, tls| {
        answer(tls, "307 Elsewhere", &format!("Location: https://127.0.0.1:{port}/\r\n"), "")
    });
    let (certificate, key) = authority.client();
    let identity = fetch::Identity::from_pem(certificate.as_bytes(), Secret::new(key.into_bytes())).unwrap();
    let trust = fetch::Trust::Only(vec![authority.certificate(), other.authority().certificate()]);
    let settings = Settings { trust, identity: Some(identity), ..settings(&authority) };
    let request = Request::get(&server.url("/")).unwrap();
    let request = ["Authorization", "X-Vault-Token", "Cookie"]
        .into_iter()
        .fold(request, |request, name| request.with_header(name, Secret::new("s3cret".to_owned())))
        .with_header("Accept", Secret::new("text/plain".to_owned()))
        .with_body("text/plain", b"s3cret".to_vec());
    assert_eq!(&**Client::new(settings).unwrap().send(&request).unwrap().body, b"here");
    assert!(server.seen()[0].identified && server.seen()[0].head.contains("s3cret"));
    let there = &other.seen()[0];
    assert!(!there.identified && !there.head.contains("s3cret") && there.body.is_empty(), "{there:?}");
    assert_eq!(there.header("accept"), Some("text/plain"));
}

#[test]
fn a_redirect_to_http_is_refused() {
    let server = FakeServer::start(|_, tls| answer(tls, "301 Moved", "Location: http://127.0.0.1/x?s3cret\r\n", ""));
    match get(&server, "/").unwrap_err() {
        Error::RedirectToHttp { to, .. } => assert_eq!(to, "http://127.0.0.1/x"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_redirect_to_a_forbidden_address_is_not_connected_to() {
    for target in ["https://169.254.169.254/latest", "https://[::ffff:169.254.169.254]/", "https://168.63.129.16/"] {
        let server = FakeServer::start(move |_, tls| answer(tls, "302 Found", &format!("Location: {target}\r\n"), ""));
        let error = get(&server, "/").unwrap_err();
        assert!(matches!(error, Error::RedirectForbidden { .. }) && !error.is_transient(), "{error}");
    }
}

#[test]
fn a_redirect_elsewhere_may_reach_less_than_the_request_itself() {
    let other = FakeServer::start(|_, tls| answer(tls, "200 OK", "", "here"));
    let port = other.port();
    let server = FakeServer::start(move |seen, tls| match seen.path() {
        "/" => answer(tls, "302 Found", "Location: /here\r\n", ""),
        "/here" => answer(tls, "200 OK", "", "here"),
        _ => answer(tls, "302 Found", &format!("Location: https://127.0.0.1:{port}/\r\n"), ""),
    });
    let settings = Settings { redirect_reach: fetch::Reach::default(), ..settings(server.authority()) };
    let client = Client::new(settings).unwrap();
    let get = |path: &str| client.send(&Request::get(&server.url(path)).unwrap());
    assert_eq!(get("/").unwrap().status, 200, "the same authority is where the caller wanted to go");
    assert!(matches!(get("/away").unwrap_err(), Error::RedirectForbidden { .. }));
    assert_eq!(other.connections(), 0);
}

#[test]
fn a_redirect_that_names_no_usable_url_is_malformed() {
    for target in ["https://", "https://jo:pw@127.0.0.1/", "https://127.0.0.1:0/"] {
        let server = FakeServer::start(move |_, tls| answer(tls, "302 Found", &format!("Location: {target}\r\n"), ""));
        let error = get(&server, "/").unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{target}: {error}");
    }
}

#[test]
fn a_loop_of_redirects_ends() {
    let server = FakeServer::start(|_, tls| answer(tls, "302 Found", "Location: /\r\n", ""));
    assert!(matches!(get(&server, "/").unwrap_err(), Error::TooManyRedirects { limit: 3, .. }));
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn only_reading_follows_redirects() {
    let server = FakeServer::start(|_, tls| answer(tls, "307 Elsewhere", "Location: /x\r\n", ""));
    for method in [Method::Post, Method::Put, Method::Delete] {
        let request = Request::new(method, &server.url("/")).unwrap();
        assert_eq!(client(server.authority()).send(&request).unwrap().status, 307);
    }
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_body_announced_as_too_large_is_not_read() {
    let server = FakeServer::start(|_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", LIMITS.body + 1)?;
        tls.flush()
    });
    let error = get(&server, "/").unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit, .. } if limit == LIMITS.body), "{error}");
}

#[test]
fn a_body_of_just_the_limit_is_read() {
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", &"x".repeat(LIMITS.body)));
    assert_eq!(get(&server, "/").unwrap().body.len(), LIMITS.body);
}

#[test]
fn an_endless_body_is_cut_off_chunked_or_not() {
    for (headers, piece) in [("Transfer-Encoding: chunked\r\n", "4\r\nmore\r\n"), ("", "more")] {
        let server = FakeServer::start(move |_, tls| {
            write!(tls, "HTTP/1.1 200 OK\r\n{headers}\r\n")?;
            loop {
                tls.write_all(piece.repeat(100).as_bytes())?;
            }
        });
        let error = get(&server, "/").unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{headers}: {error}");
    }
}

#[test]
fn a_head_that_drips_meets_the_deadline() {
    let server = FakeServer::start(|_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\n")?;
        drip(tls, b"X-A: b\r\n")
    });
    let limits = |total| Limits { total, ..LIMITS };
    assert!(timed_out(&server.url("/"), &settings(server.authority()), Stage::Headers, limits).is_transient());
}

#[test]
fn a_body_that_drips_meets_the_deadline() {
    let server = FakeServer::start(|_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")?;
        drip(tls, b"x")
    });
    timed_out(&server.url("/"), &settings(server.authority()), Stage::Body, |total| Limits { total, ..LIMITS });
}

/// A letter now and then, until the client has gone.
fn drip(tls: &mut impl Write, letters: &[u8]) -> std::io::Result<()> {
    loop {
        for letter in letters {
            tls.write_all(&[*letter])?;
            tls.flush()?;
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_server_that_never_speaks_tls_meets_the_deadline() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let authority = crate::support::Authority::new();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let limits = |connect| Limits { connect, total: Duration::from_secs(120), ..LIMITS };
    assert!(!timed_out(&url, &settings(&authority), Stage::Tls, limits).may_have_arrived());
}

#[test]
fn huge_headers_are_refused() {
    let endless = FakeServer::start(|_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\nX: ")?;
        loop {
            tls.write_all(&[b'x'; 1000])?;
        }
    });
    let many = FakeServer::start(|_, tls| answer(tls, "200 OK", &"X: y\r\n".repeat(1000), ""));
    for server in [endless, many] {
        let error = get(&server, "/").unwrap_err();
        assert!(matches!(error, Error::HeadersTooLarge { .. }), "{error}");
    }
}

#[test]
fn a_connection_closed_in_the_middle_is_its_own_error() {
    let beginnings = [
        "",
        "HTTP/1.1 200 OK\r\nContent-",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ];
    for beginning in beginnings {
        let server = FakeServer::start(move |_, tls| {
            tls.write_all(beginning.as_bytes())?;
            tls.flush()?;
            Err(IoError::other("end"))
        });
        let error = get(&server, "/").unwrap_err();
        assert!(matches!(error, Error::EndedEarly { .. }), "{beginning:?}: {error:?}");
        assert!(error.is_transient() && error.may_have_arrived());
    }
}

#[test]
fn what_is_not_http_is_malformed() {
    let answers = [
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\na",
    ];
    for garbage in answers {
        let server = FakeServer::start(move |_, tls| tls.write_all(garbage.as_bytes()));
        let error = get(&server, "/").unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }) && !error.is_transient(), "{garbage:?}: {error:?}");
    }
}

#[test]
fn a_plain_server_is_no_tls() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        drop(std::io::Read::read_to_end(&mut stream, &mut Vec::new()));
    });
    let error = client(&crate::support::Authority::new()).send(&Request::get(&url).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Tls { .. }) && !error.is_transient(), "{error:?}");
    serving.join().unwrap();
}
