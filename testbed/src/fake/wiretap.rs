//! A relay on loopback that records every byte that passes, and can be led to another server.
use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU16, Ordering},
    },
};

/// What passed in one direction.
type Bytes = Arc<Mutex<Vec<u8>>>;

/// The relay, gone when dropped.
pub struct Wiretap {
    address: SocketAddr,
    server: Arc<AtomicU16>,
    sent: Bytes,
    answered: Bytes,
    ended: Arc<AtomicBool>,
}

impl Wiretap {
    /// A relay that leads nowhere yet.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (server, ended): (Arc<AtomicU16>, Arc<AtomicBool>) = Default::default();
        let [sent, answered]: [Bytes; 2] = Default::default();
        let tap = Self { address, server, sent, answered, ended };
        let (server, ended) = (Arc::clone(&tap.server), Arc::clone(&tap.ended));
        let (sent, answered) = (Arc::clone(&tap.sent), Arc::clone(&tap.answered));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten().take_while(|_| !ended.load(Ordering::SeqCst)) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server.load(Ordering::SeqCst))) else { continue };
                for (from, to, bytes) in [(&client, &server, &sent), (&server, &client, &answered)] {
                    let (from, to, bytes) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(bytes));
                    std::thread::spawn(move || pass(from, to, &bytes));
                }
            }
        });
        tap
    }

    /// A relay before a server on this port of 127.0.0.1.
    pub fn before(server: u16) -> Self {
        let tap = Self::start();
        tap.lead_to(server);
        tap
    }

    /// Where it leads from now on: to a port of 127.0.0.1.
    pub fn lead_to(&self, port: u16) {
        self.server.store(port, Ordering::SeqCst);
    }

    /// Its host and port.
    pub fn place(&self) -> String {
        self.address.to_string()
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// What passed so far, from the client and to it.
    pub fn passed(&self) -> [Vec<u8>; 2] {
        [&self.sent, &self.answered].map(|bytes| bytes.lock().unwrap().clone())
    }
}

impl Drop for Wiretap {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

/// Passes on what comes until one of the two has gone.
fn pass(mut from: TcpStream, mut to: TcpStream, passed: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        passed.lock().unwrap().extend_from_slice(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // The other end may have gone first.
    drop((from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write)));
}
