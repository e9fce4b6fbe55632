//! A proxy between us and the server.
use crate::support::{FakeServer, answer, settings};
use fetch::{Answer, Bypass, Client, Error, Place, Proxy, ProxyFault, Reach, Request, Result, Settings};
use secret::Secret;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

const HOST: &str = "files.example";

/// A proxy that answers CONNECT with a status, and tunnels everything to one server if that is 200.
struct FakeProxy {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl FakeProxy {
    fn start(status: &'static str, server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, heads) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
        let seen = Arc::clone(&heads);
        // One client, then the end.
        std::thread::spawn(move || drop(tunnel(&listener, status, server, &seen)));
        Self { port, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn tunnel(listener: &TcpListener, status: &str, server: u16, heads: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut client = BufReader::new(listener.accept()?.0);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        client.read_line(&mut head)?;
    }
    heads.lock().unwrap().push(head);
    write!(client.get_mut(), "HTTP/1.1 {status}\r\n\r\n")?;
    if !status.starts_with("200") {
        return client.get_mut().shutdown(Shutdown::Both);
    }
    let server = TcpStream::connect(("127.0.0.1", server))?;
    let (mut from, mut to) = (client.get_ref().try_clone()?, server.try_clone()?);
    std::thread::spawn(move || copy(&mut from, &mut to));
    copy(&mut server.try_clone()?, client.get_mut())
}

fn copy(from: &mut TcpStream, to: &mut TcpStream) -> std::io::Result<()> {
    let mut bytes = [0; 4096];
    loop {
        match from.read(&mut bytes)? {
            0 => return to.shutdown(Shutdown::Write),
            count => to.write_all(&bytes[..count])?,
        }
    }
}

/// A GET through a proxy by a client that may not reach loopback itself.
fn get(server: &FakeServer, proxy: &FakeProxy, except: &[&str], url: &str) -> Result<Answer> {
    let and = except.iter().map(|text| (*text).to_owned()).collect();
    let proxy = Proxy {
        url: Secret::new(format!("http://jo:p%40ss@localhost:{}", proxy.port)),
        bypass: Bypass::Loopback { and },
        setting: "HTTPS_PROXY",
    };
    let settings = Settings {
        proxy: Some(proxy),
        reach: Reach::default(),
        tls_server_name: Some("localhost".to_owned()),
        ..settings(server.authority())
    };
    Client::new(settings)?.send(&Request::get(url)?)
}

fn server() -> FakeServer {
    FakeServer::start(|_, tls| answer(tls, "200 OK", "", "through"))
}

#[test]
fn a_tunnel_is_asked_for_with_user_and_password() {
    let server = server();
    let proxy = FakeProxy::start("200 Connection established", server.port());
    let found = get(&server, &proxy, &[], &format!("https://{HOST}/x")).unwrap();
    assert_eq!(&**found.body, b"through");
    let head = &proxy.heads()[0];
    assert!(head.starts_with(&format!("CONNECT {HOST}:443 HTTP/1.1\r\n")), "{head}");
    assert!(head.to_lowercase().contains("proxy-authorization: basic am86cebzcw=="), "{head}");
    assert_eq!(server.seen()[0].header("proxy-authorization"), None);
}

#[test]
fn a_proxy_that_refuses_says_so_in_its_own_errors() {
    let server = server();
    for (status, unauthorized, transient) in
        [("407 Proxy Authentication Required", true, false), ("403 Forbidden", false, false), ("502 Bad", false, true)]
    {
        let proxy = FakeProxy::start(status, server.port());
        let error = get(&server, &proxy, &[], &format!("https://{HOST}/")).unwrap_err();
        let Error::Proxy { fault, proxy } = &error else { panic!("{error:?}") };
        assert_eq!(matches!(fault, ProxyFault::Unauthorized), unauthorized, "{fault:?}");
        assert!(proxy.starts_with("localhost:") && error.is_transient() == transient, "{error:?}");
    }
    let garbage = FakeProxy::start("what", server.port());
    let error = get(&server, &garbage, &[], &format!("https://{HOST}/")).unwrap_err();
    assert!(matches!(error, Error::Proxy { fault: ProxyFault::Malformed, .. }), "{error:?}");
}

#[test]
fn what_is_excepted_and_this_machine_are_reached_without_it() {
    let server = server();
    let proxy = FakeProxy::start("200 OK", server.port());
    let here = format!("https://127.0.0.1:{}/", server.port());
    let error = get(&server, &proxy, &[], &here).unwrap_err();
    assert!(matches!(error, Error::Forbidden { what: Place::Loopback, .. }), "{error:?}");
    let nowhere = format!("https://{}.invalid/", "x".repeat(64));
    let error = get(&server, &proxy, &[".invalid"], &nowhere).unwrap_err();
    assert!(matches!(error, Error::Unresolved { .. }), "{error:?}");
    assert!(proxy.heads().is_empty(), "connecting through the proxy");
}

#[test]
fn a_forbidden_address_is_not_asked_of_the_proxy() {
    let server = server();
    let proxy = FakeProxy::start("200 OK", server.port());
    let error = get(&server, &proxy, &[], "https://169.254.169.254/").unwrap_err();
    assert!(matches!(error, Error::Forbidden { .. }) && proxy.heads().is_empty(), "{error:?}");
}

#[test]
fn a_proxy_that_is_not_there_may_come() {
    let server = server();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gone = FakeProxy { port, heads: Arc::default() };
    let error = get(&server, &gone, &[], &format!("https://{HOST}/")).unwrap_err();
    assert!(
        matches!(error, Error::Proxy { fault: ProxyFault::Unreachable(_), .. }) && error.is_transient(),
        "{error:?}"
    );
}
