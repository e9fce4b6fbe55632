//! An https server of files, with a certificate authority of its own.
use super::NAME;
use crate::network::{Switch, inside};
use crate::{Bed, Error, Result};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Files over https, at [`NAME`] and at the switch's address, from this process.
#[derive(Debug)]
pub struct FileServer {
    state: Arc<State>,
    authority: String,
    serving: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    requests: Mutex<Vec<String>>,
    /// The header `Range` of every request that had one.
    ranges: Mutex<Vec<String>>,
    /// After so many bytes of a file, what follows is held back until the test lets go of it.
    held: Mutex<BTreeMap<String, usize>>,
    ended: AtomicBool,
}

impl Bed {
    /// Starts an https file server on the bed's switch; a bed has at most one.
    pub fn file_server(&self) -> Result<FileServer> {
        let (config, authority) = certified().map_err(|found| unusable(&found))?;
        let namespace = self.switch().namespace.open().map_err(|error| unusable(&error.to_string()))?;
        let bind = || TcpListener::bind((Switch::ADDRESS, 443));
        let listener = inside(&namespace, bind).and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        let listener = listener.map_err(|error| unusable(&error.to_string()))?;
        let state = Arc::new(State::default());
        let served = Arc::clone(&state);
        let serving = std::thread::spawn(move || serve(&listener, &config, &served));
        Ok(FileServer { state, authority, serving: Some(serving) })
    }
}

impl FileServer {
    /// Serves these bytes at a path from now on.
    pub fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        lock(&self.state.files).insert(path.to_owned(), content.into());
    }

    /// Holds back what follows after so many bytes of a file, until [`Self::release`].
    pub fn hold(&self, path: &str, after: usize) {
        lock(&self.state.held).insert(path.to_owned(), after);
    }

    /// Sends the rest of a file that was held back.
    pub fn release(&self, path: &str) {
        lock(&self.state.held).remove(path);
    }

    /// The header `Range` of every request that had one.
    pub fn ranges(&self) -> Vec<String> {
        lock(&self.state.ranges).clone()
    }

    /// The URL of a path, by name.
    pub fn url(&self, path: &str) -> String {
        format!("https://{NAME}{path}")
    }

    /// The same by the switch's address, for who does not know names.
    pub fn url_by_address(&self, path: &str) -> String {
        format!("https://{}{path}", Switch::ADDRESS)
    }

    /// The authority's certificate as PEM, the only one that its certificate can be checked with.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The first line of every request so far.
    pub fn requests(&self) -> Vec<String> {
        lock(&self.state.requests).clone()
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        if let Some(serving) = self.serving.take() {
            drop(serving.join());
        }
    }
}

fn serve(listener: &TcpListener, config: &Arc<ServerConfig>, state: &Arc<State>) {
    while !state.ended.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                let (config, state) = (Arc::clone(config), Arc::clone(state));
                // A client that breaks off learns nothing and hurts nobody.
                std::thread::spawn(move || drop(answer(stream, config, &state)));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

fn answer(stream: TcpStream, config: Arc<ServerConfig>, state: &State) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let tls = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(tls, stream));
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let (mut header, mut range) = (String::new(), None);
    while reader.read_line(&mut header)? > 2 {
        if let Some((name, value)) = header.trim_end().split_once(": ")
            && name.eq_ignore_ascii_case("range")
        {
            range = Some(value.to_owned());
        }
        header.clear();
    }
    lock(&state.requests).push(request.trim_end().to_owned());
    lock(&state.ranges).extend(range.clone());
    let path = request.split(' ').nth(1).unwrap_or_default();
    let found = lock(&state.files).get(path).cloned();
    let (status, body) = found.map_or(("404 Not Found", b"not found\n".to_vec()), |body| ("200 OK", body));
    let tls = reader.get_mut();
    let first = range.as_deref().and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    let (status, part, sent) = match first.filter(|first| status == "200 OK" && *first < body.len()) {
        Some(first) => {
            let part = format!("Content-Range: bytes {first}-{}/{}\r\n", body.len() - 1, body.len());
            ("206 Partial Content", part, &body[first..])
        }
        None => (status, String::new(), &body[..]),
    };
    write!(tls, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{part}Connection: close\r\n\r\n", sent.len())?;
    if !request.starts_with("HEAD ") {
        let held = lock(&state.held).get(path).copied();
        let (now, later) = sent.split_at(held.unwrap_or(sent.len()).min(sent.len()));
        tls.write_all(now)?;
        tls.flush()?;
        while !later.is_empty() && lock(&state.held).contains_key(path) && !state.ended.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        tls.write_all(later)?;
    }
    tls.conn.send_close_notify();
    tls.flush()
}

/// A fresh authority, and a server certificate by it.
fn certified() -> Result<(Arc<ServerConfig>, String), String> {
    let text = |error: rcgen::Error| error.to_string();
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "testbed file server authority");
    let authority_key = KeyPair::generate().map_err(text)?;
    let authority_pem = authority.self_signed(&authority_key).map_err(text)?.pem();
    let issuer = Issuer::new(authority, authority_key);
    let names = vec![NAME.to_owned(), Switch::ADDRESS.to_string()];
    let key = KeyPair::generate().map_err(text)?;
    let certificate = CertificateParams::new(names).map_err(text)?.signed_by(&key, &issuer).map_err(text)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = builder
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key));
    Ok((Arc::new(config.map_err(|error| error.to_string())?), authority_pem))
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unusable(found: &str) -> Error {
    Error::Unreadable { what: "the file server's start".to_owned(), found: found.to_owned() }
}
