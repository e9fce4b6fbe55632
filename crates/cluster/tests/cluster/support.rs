//! Kubeconfigs and a fake API server for tests.
use cluster::{ApiServer, Kubeconfig, Timeouts};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testbed::control_plane::ControlPlane;

/// The API server of a test bed, with all rights.
pub(crate) fn connect(plane: &ControlPlane) -> ApiServer {
    ApiServer::connect(Kubeconfig::load(&plane.kubeconfig()).expect("a kubeconfig"), Timeouts::default())
        .expect("an API")
}

/// What the fake server does with a request.
pub(crate) enum Reply {
    Answer {
        status: &'static str,
        headers: &'static str,
        body: String,
    },
    /// The request has arrived, the answer never does.
    HangUp,
}

impl Reply {
    pub(crate) fn of(status: &'static str, body: &str) -> Self {
        Self::Answer { status, headers: "", body: body.to_owned() }
    }
}

/// A server that answers as a test says: it gets the requests, `METHOD path?query` and body, counted from 0.
pub(crate) struct FakeApiServer {
    address: SocketAddr,
    certificate: String,
    seen: Arc<Mutex<Vec<(String, String)>>>,
    ended: Arc<AtomicBool>,
}

type Handler = dyn Fn(usize, &str) -> Reply + Send + Sync;

impl FakeApiServer {
    pub(crate) fn start(handler: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Self {
        let (config, certificate) = certified();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (address, seen) = (listener.local_addr().expect("an address"), Arc::default());
        let (ended, handler): (Arc<AtomicBool>, Arc<Handler>) = (Arc::default(), Arc::new(handler));
        let (log, end) = (Arc::clone(&seen), Arc::clone(&ended));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten().take_while(|_| !end.load(Ordering::SeqCst)) {
                let (config, log, handler) = (Arc::clone(&config), Arc::clone(&log), Arc::clone(&handler));
                std::thread::spawn(move || drop(serve(stream, config, &log, &*handler)));
            }
        });
        Self { address, certificate, seen, ended }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Its own certificate, which is its authority as well.
    pub(crate) fn certificate(&self) -> Vec<fetch::CertificateDer<'static>> {
        fetch::certificates(self.certificate.as_bytes()).expect("a certificate")
    }

    /// A client with more patience than any machine needs, however busy it is.
    pub(crate) fn connect(&self) -> ApiServer {
        self.connect_for(Duration::from_secs(120))
    }

    /// A client that loses patience after so long.
    pub(crate) fn connect_for(&self, total: Duration) -> ApiServer {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: '{}/prefix'}}}}]\nusers: [{{name: u, user: {{token: s3cret}}}}]\n",
            self.url()
        );
        let mut kubeconfig = Kubeconfig::read(text.as_bytes(), Path::new("")).expect("a kubeconfig");
        kubeconfig.authorities = Some(self.certificate());
        let timeouts = Timeouts { total, ..Timeouts::default() };
        ApiServer::connect(kubeconfig, timeouts).expect("an API")
    }

    /// Every request so far: `METHOD target`, and the head with the body after it.
    pub(crate) fn seen(&self) -> Vec<(String, String)> {
        self.seen.lock().expect("not poisoned").clone()
    }
}

impl Drop for FakeApiServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

fn serve(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    log: &Mutex<Vec<(String, String)>>,
    handler: &Handler,
) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let tls = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(tls, stream));
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let length = head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        head.push_str(&String::from_utf8_lossy(&body));
        let line = head.split(" HTTP").next().unwrap_or_default().to_owned();
        let mut seen = log.lock().expect("not poisoned");
        seen.push((line.clone(), head));
        let number = seen.len() - 1;
        drop(seen);
        let Reply::Answer { status, headers, body } = handler(number, &line) else { return Ok(()) };
        let tls = reader.get_mut();
        write!(tls, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())?;
        tls.flush()?;
    }
}

fn certified() -> (Arc<ServerConfig>, String) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key);
    (Arc::new(config.expect("a configuration")), certificate.pem())
}
