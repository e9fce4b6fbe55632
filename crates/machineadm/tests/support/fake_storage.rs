//! A fake storage: an https server on loopback with an authority of its own, which answers as it was told.
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    time::Duration,
};

type Answers = Arc<Mutex<BTreeMap<String, VecDeque<(u16, Vec<u8>)>>>>;

pub(crate) struct FakeStorage {
    port: u16,
    authority: String,
    answers: Answers,
}

impl FakeStorage {
    /// Serves until the test's process ends.
    pub(crate) fn new() -> Self {
        let (config, authority) = certified();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
        let port = listener.local_addr().expect("an address").port();
        let answers = Answers::default();
        let served = Arc::clone(&answers);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, answers) = (Arc::clone(&config), Arc::clone(&served));
                // A client that breaks off hurts nobody.
                std::thread::spawn(move || drop(answer(stream, config, &answers)));
            }
        });
        Self { port, authority, answers }
    }

    /// Answers a path with these in turn, and with the last for ever.
    pub(crate) fn put(&self, path: &str, answers: &[(u16, &str)]) {
        let answers = answers.iter().map(|(status, body)| (*status, body.as_bytes().to_vec())).collect();
        self.answers.lock().expect("a lock").insert(path.to_owned(), answers);
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.port)
    }

    /// The authority's certificate as a YAML string.
    pub(crate) fn authority(&self) -> String {
        format!("\"{}\"", self.authority.replace('\n', "\\n"))
    }
}

fn certified() -> (Arc<ServerConfig>, String) {
    let [key, own_key] = [KeyPair::generate(), KeyPair::generate()].map(|key| key.expect("a key"));
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = authority.self_signed(&key).expect("a certificate");
    let issuer = Issuer::new(authority, key);
    let own = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    let own = own.signed_by(&own_key, &issuer).expect("a certificate");
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], private)
        .expect("a key that fits");
    (Arc::new(config), certificate.pem())
}

fn answer(stream: TcpStream, config: Arc<ServerConfig>, answers: &Answers) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let tls = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(tls, stream));
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default();
    let (status, body) = {
        let mut answers = answers.lock().map_err(|_| std::io::Error::other("a test failed"))?;
        match answers.get_mut(path) {
            Some(queue) if queue.len() > 1 => queue.pop_front().unwrap_or_default(),
            Some(queue) => queue.front().cloned().unwrap_or_default(),
            None => (404, Vec::new()),
        }
    };
    let stream = reader.get_mut();
    let length = body.len();
    write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&body)?;
    stream.flush()?;
    stream.conn.send_close_notify();
    stream.flush()
}
