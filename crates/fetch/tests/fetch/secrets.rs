//! Nothing secret in what is shown: no query, no user, no header, no body, whatever goes wrong.
use crate::support::{FakeServer, LIMITS, answer, settings};
use fetch::{Bypass, Client, Error, Limits, Proxy, Request, Settings};
use secret::Secret;
use std::error::Error as _;
use std::io::{Error as IoError, Write};
use std::time::Duration;

const SECRET: &str = "s3cret";

/// All that an error shows.
fn shown(error: &Error) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(" {error} {error:?}");
        cause = error.source();
    }
    text
}

fn request(url: &str) -> Request {
    let url = url.replace("https://", &format!("https://jo:{SECRET}@"));
    let request = Request::get(&format!("{url}?X-Signature={SECRET}#{SECRET}")).unwrap();
    request.with_header("X-Token", Secret::new(SECRET.to_owned())).with_body("text/plain", SECRET.into())
}

#[test]
fn errors_of_every_kind_show_nothing_secret() {
    let answers: [&'static str; 9] = [
        "HTTP/1.1 302 Found\r\nLocation: http://jo:s3cret@h/?s3cret\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: https://jo:s3cret@h/?s3cret\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: https://169.254.169.254/?s3cret\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /?s3cret\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nX: s3cret\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ns3cret",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ns3cret\r\n",
        "s3cret\r\n\r\n",
        "",
    ];
    for bytes in answers {
        let server = FakeServer::start(move |_, tls| {
            tls.write_all(bytes.as_bytes())?;
            tls.flush()?;
            Err(IoError::other("end"))
        });
        let client = Client::new(settings(server.authority())).unwrap();
        let text = shown(&client.send(&request(&server.url("/p"))).unwrap_err());
        assert!(!text.contains(SECRET), "{bytes:?}: {text}");
    }
}

#[test]
fn errors_before_and_beside_the_exchange_show_nothing_secret() {
    let server = FakeServer::start(|_, _| {
        std::thread::park_timeout(Duration::from_secs(5));
        Ok(())
    });
    let plain = settings(server.authority());
    let late = Settings { limits: Limits { total: Duration::from_millis(500), ..LIMITS }, ..plain.clone() };
    let strange = settings(&crate::support::Authority::new());
    let forbidden = Settings { reach: fetch::Reach::default(), ..plain.clone() };
    let proxy = Proxy {
        url: Secret::new(format!("http://jo:{SECRET}@localhost:1")),
        bypass: Bypass::Loopback { and: Vec::new() },
        setting: "HTTPS_PROXY",
    };
    let behind = Settings { proxy: Some(proxy), ..plain.clone() };
    let here = server.url("/p");
    for (settings, url) in [(late, &*here), (strange, &here), (forbidden, &here), (behind, "https://h.example/")] {
        let text = format!("{settings:?}");
        let client = Client::new(settings).unwrap();
        let text = text + &format!("{client:?}") + &shown(&client.send(&request(url)).unwrap_err());
        assert!(!text.contains(SECRET), "{text}");
    }
    let bad = request(&here).with_header("X-Bad", Secret::new(format!("{SECRET}\n")));
    assert!(!shown(&Client::new(plain).unwrap().send(&bad).unwrap_err()).contains(SECRET));
}

#[test]
fn an_answer_shows_neither_its_body_nor_its_url_s_query() {
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", SECRET));
    let found = Client::new(settings(server.authority())).unwrap().send(&request(&server.url("/p"))).unwrap();
    let text = format!("{found:?}");
    assert!(text.contains("200") && text.contains("/p") && !text.contains(SECRET), "{text}");
}
