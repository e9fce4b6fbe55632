//! A server on loopback, or on a bed's switch, that does to its clients what a test says.
use super::Authority;
use crate::error::file;
use crate::network::{Switch, inside};
use crate::{Bed, Machine, Result};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The encrypted stream to one client.
pub type Tls = StreamOwned<ServerConnection, TcpStream>;
type Handler = dyn Fn(&Seen, &mut Tls) -> io::Result<()> + Send + Sync;

/// A request as the server saw it.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The first line and the headers.
    pub head: String,
    /// What came after them.
    pub body: Vec<u8>,
    /// Whether the client showed a certificate.
    pub identified: bool,
}

impl Seen {
    /// The path and query that were asked for.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// An https server, gone when dropped.
pub struct FakeServer {
    authority: Arc<Authority>,
    address: SocketAddr,
    /// The network that it listens in, where that is not the host's.
    network: Option<File>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    ended: AtomicBool,
}

impl FakeServer {
    /// A server with a good certificate for `localhost` and the loopback addresses.
    pub fn start(handler: impl Fn(&Seen, &mut Tls) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self::of(Arc::new(Authority::new()), handler)
    }

    /// The same with a certificate by a given authority.
    pub fn of(
        authority: Arc<Authority>,
        handler: impl Fn(&Seen, &mut Tls) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let config = authority.serves_and_asks(&["localhost", "127.0.0.1", "::1"]);
        Self::with(authority, config, handler)
    }

    /// A server with this certificate.
    pub fn with(
        authority: Arc<Authority>,
        config: Arc<ServerConfig>,
        handler: impl Fn(&Seen, &mut Tls) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), authority, config, Arc::new(handler))
    }

    fn on(listener: TcpListener, authority: Arc<Authority>, config: Arc<ServerConfig>, handler: Arc<Handler>) -> Self {
        let (address, shared) = (listener.local_addr().unwrap(), Arc::new(Shared::default()));
        let state = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten().take_while(|_| !state.ended.load(Ordering::SeqCst)) {
                let (state, handler, config) = (Arc::clone(&state), Arc::clone(&handler), Arc::clone(&config));
                // A client that breaks off is what many tests are about.
                std::thread::spawn(move || drop(serve(stream, config, &state, &*handler)));
            }
        });
        Self { authority, address, network: None, shared }
    }

    /// Who signed its certificate.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// A URL of this server.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// How many connections got as far as a request, or to the end of TLS.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let wake = || TcpStream::connect(self.address);
        drop(match &self.network {
            Some(network) => inside(network, wake),
            None => wake(),
        });
    }
}

impl Bed {
    /// Starts a server with this certificate at the switch's address, where every machine finds it.
    pub fn fake_server(
        &self,
        port: u16,
        authority: Arc<Authority>,
        config: Arc<ServerConfig>,
        handler: impl Fn(&Seen, &mut Tls) -> io::Result<()> + Send + Sync + 'static,
    ) -> Result<FakeServer> {
        let namespace = &self.switch().namespace;
        let network = namespace.open().map_err(file("open", namespace.path()))?;
        let listener = inside(&network, || TcpListener::bind((Switch::ADDRESS, port)));
        let listener = listener.map_err(file("listen on", format!("port {port} of the switch")))?;
        let mut server = FakeServer::on(listener, authority, config, Arc::new(handler));
        server.network = Some(network);
        Ok(server)
    }
}

impl Machine {
    /// Listens at an address of the machine, which is on, for what its programs are to find there.
    pub fn listen(&self, address: SocketAddr) -> Result<TcpListener> {
        inside(&self.network()?, || TcpListener::bind(address)).map_err(file("listen on", address.to_string()))
    }

    /// Starts a server with a good certificate for the loopback addresses at this port of the machine's loopback.
    pub fn fake_server(
        &self,
        port: u16,
        handler: impl Fn(&Seen, &mut Tls) -> io::Result<()> + Send + Sync + 'static,
    ) -> Result<FakeServer> {
        let listener = self.listen((Ipv4Addr::LOCALHOST, port).into())?;
        let authority = Arc::new(Authority::new());
        let config = authority.serves_and_asks(&["localhost", "127.0.0.1", "::1"]);
        let mut server = FakeServer::on(listener, authority, config, Arc::new(handler));
        server.network = Some(self.network()?);
        Ok(server)
    }
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>, state: &Shared, handler: &Handler) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    // An answer is several small writes: none waits for the client's kernel to acknowledge the one before.
    stream.set_nodelay(true)?;
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    state.connections.fetch_add(1, Ordering::SeqCst);
    loop {
        let mut seen = Seen::default();
        while !seen.head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut seen.head)? == 0 {
                return Ok(());
            }
        }
        let length = seen.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        seen.body = vec![0; length];
        reader.read_exact(&mut seen.body)?;
        seen.identified = reader.get_ref().conn.peer_certificates().is_some();
        state.seen.lock().unwrap().push(seen.clone());
        handler(&seen, reader.get_mut())?;
        reader.get_mut().flush()?;
    }
}

/// A whole answer.
pub fn answer(tls: &mut Tls, status: &str, headers: &str, body: &str) -> io::Result<()> {
    write!(tls, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}
