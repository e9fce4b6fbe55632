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

    /// The URL of a path, by name.
    pub fn url(&self, path: &str) -> String {
        format!("https://{NAME}{path}")
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
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    lock(&state.requests).push(request.trim_end().to_owned());
    let path = request.split(' ').nth(1).unwrap_or_default();
    let found = lock(&state.files).get(path).cloned();
    let (status, body) = found.map_or(("404 Not Found", b"not found\n".to_vec()), |body| ("200 OK", body));
    let tls = reader.get_mut();
    write!(tls, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    if !request.starts_with("HEAD ") {
        tls.write_all(&body)?;
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
