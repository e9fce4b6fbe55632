//! Bodies that are passed on as they come.
use crate::support::{FakeServer, answer, client};
use fetch::{ContentRange, Error, Opening, Pace, Receiver, Request, Wish};
use secret::Secret;
use std::io::{Error as IoError, Write};
use std::time::Duration;

const PACE: Pace = Pace { total: Duration::from_secs(20), stall: Duration::from_secs(10) };

/// Takes so many bytes at most.
#[derive(Default)]
struct Taker {
    opening: Option<Opening>,
    taken: Vec<u8>,
    most: usize,
}

impl Receiver for Taker {
    fn opens(&mut self, opening: &Opening) -> Wish {
        self.opening = Some(opening.clone());
        if opening.status == 200 || opening.status == 206 { Wish::More } else { Wish::Enough }
    }

    fn takes(&mut self, data: &[u8]) -> Wish {
        self.taken.extend_from_slice(data);
        if self.taken.len() < self.most { Wish::More } else { Wish::Enough }
    }
}

fn received(server: &FakeServer, request: &Request, pace: Pace) -> (Taker, fetch::Result<()>) {
    let mut taker = Taker { most: usize::MAX, ..Taker::default() };
    let ended = client(server.authority()).receive(request, pace, &mut taker);
    (taker, ended)
}

#[test]
fn a_body_larger_than_any_limit_of_memory_arrives_whole() {
    let body = "0123456789abcdef".repeat(1 << 18);
    let sent = body.clone();
    let server = FakeServer::start(move |_, tls| answer(tls, "200 OK", "", &sent));
    let (taker, ended) = received(&server, &Request::get(&server.url("/")).unwrap(), PACE);
    ended.unwrap();
    assert!(taker.taken == body.as_bytes());
    assert_eq!(taker.opening.unwrap().length, Some(body.len() as u64));
}

#[test]
fn a_part_is_asked_for_also_behind_a_redirect_elsewhere() {
    let files = FakeServer::start(|_, tls| answer(tls, "206 Partial", "Content-Range: bytes 3-5/6\r\n", "def"));
    let to = files.url("/file").replace("127.0.0.1", "localhost");
    let server = FakeServer::of(std::sync::Arc::new(testbed::fake::Authority::new()), move |_, tls| {
        answer(tls, "302 Found", &format!("Location: {to}\r\n"), "")
    });
    let settings = fetch::Settings {
        reach: fetch::Reach::ANYWHERE,
        redirect_reach: fetch::Reach::ANYWHERE,
        ..fetch::Settings::new(fetch::Trust::Only(vec![
            server.authority().certificate(),
            files.authority().certificate(),
        ]))
    };
    let request = Request::get(&server.url("/")).unwrap();
    let request = request.with_header("Range", Secret::new("bytes=3-".to_owned()));
    let mut taker = Taker { most: usize::MAX, ..Taker::default() };
    fetch::Client::new(settings).unwrap().receive(&request, PACE, &mut taker).unwrap();
    assert_eq!(files.seen()[0].header("range"), Some("bytes=3-"));
    assert_eq!(
        (taker.taken, taker.opening.unwrap().range),
        (b"def".to_vec(), Some(ContentRange { first: 3, total: Some(6) }))
    );
}

#[test]
fn a_body_that_ends_early_or_stalls_is_an_error_and_what_came_is_there() {
    let cut = FakeServer::start(|_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")?;
        tls.flush()?;
        Err(IoError::other("end"))
    });
    let (taker, ended) = received(&cut, &Request::get(&cut.url("/")).unwrap(), PACE);
    assert!(matches!(ended, Err(Error::EndedEarly { .. })), "{ended:?}");
    assert_eq!(taker.taken, b"abc");
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let slow = FakeServer::start(move |_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")?;
        tls.flush()?;
        let _ = held.lock().unwrap().recv();
        Err(IoError::other("end"))
    });
    let pace = Pace { stall: Duration::from_secs(3), ..PACE };
    let (taker, ended) = received(&slow, &Request::get(&slow.url("/")).unwrap(), pace);
    assert!(matches!(ended, Err(Error::Timeout { limit, .. }) if limit == pace.stall), "{ended:?}");
    assert_eq!(taker.taken, b"abc");
    drop(hold);
}

#[test]
fn a_receiver_that_has_enough_gets_no_more() {
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", &"x".repeat(8 << 20)));
    let mut taker = Taker { most: 1, ..Taker::default() };
    client(server.authority()).receive(&Request::get(&server.url("/")).unwrap(), PACE, &mut taker).unwrap();
    assert!(taker.taken.len() < 8 << 20, "{}", taker.taken.len());
    let missing = FakeServer::start(|_, tls| answer(tls, "404 Not Found", "Retry-After: 4\r\n", "no such file"));
    let (taker, ended) = received(&missing, &Request::get(&missing.url("/")).unwrap(), PACE);
    ended.unwrap();
    let opening = taker.opening.unwrap();
    assert_eq!((taker.taken.len(), opening.status, opening.retry_after), (0, 404, Some(Duration::from_secs(4))));
}
