//! A relay on loopback that keeps every byte that passes, and can be led to another server.
use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU16, Ordering},
    },
};

/// Everything that passed, in both directions.
type Bytes = Arc<Mutex<Vec<u8>>>;

/// The relay, gone when dropped.
pub(crate) struct Tapped {
    address: SocketAddr,
    server: Arc<AtomicU16>,
    bytes: Bytes,
    ended: Arc<AtomicBool>,
}

impl Tapped {
    /// A relay that leads nowhere yet.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (server, bytes, ended): (Arc<AtomicU16>, Bytes, Arc<AtomicBool>) = Default::default();
        let (to, kept, end) = (Arc::clone(&server), Arc::clone(&bytes), Arc::clone(&ended));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten().take_while(|_| !end.load(Ordering::SeqCst)) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to.load(Ordering::SeqCst))) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let kept = Arc::clone(&kept);
                    std::thread::spawn(move || pass(from, to, &kept));
                }
            }
        });
        Self { address, server, bytes, ended }
    }

    /// Where it leads from now on: to a port of 127.0.0.1.
    pub(crate) fn lead_to(&self, port: u16) {
        self.server.store(port, Ordering::SeqCst);
    }

    /// Its host and port.
    pub(crate) fn place(&self) -> String {
        self.address.to_string()
    }

    /// Everything that passed so far.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }
}

impl Drop for Tapped {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        kept.lock().unwrap().extend_from_slice(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // Whoever is gone already needs no farewell.
    drop((from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write)));
}
