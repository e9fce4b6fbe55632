//! A relay on loopback between a client and a server, which keeps every byte that passes.
use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

type Kept = Arc<Mutex<Vec<u8>>>;

/// It listens until the test's process ends.
pub(crate) struct Wiretap {
    pub(crate) port: u16,
    sent: Kept,
    answered: Kept,
}

impl Wiretap {
    /// Before a server on this port.
    pub(crate) fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
        let port = listener.local_addr().expect("an address").port();
        let (sent, answered) = (Kept::default(), Kept::default());
        let kept = (Arc::clone(&sent), Arc::clone(&answered));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                pass(&client, &server, &kept.0);
                pass(&server, &client, &kept.1);
            }
        });
        Self { port, sent, answered }
    }

    /// What passed, from and to the client.
    pub(crate) fn passed(&self) -> [Vec<u8>; 2] {
        [&self.sent, &self.answered].map(|kept| kept.lock().expect("no thread dies with it").clone())
    }
}

/// Passes on what comes, in a thread, until one of the two has gone.
fn pass(from: &TcpStream, to: &TcpStream, kept: &Kept) {
    let (Ok(mut from), Ok(mut to), kept) = (from.try_clone(), to.try_clone(), Arc::clone(kept)) else { return };
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            kept.lock().expect("no thread dies with it").extend_from_slice(&buffer[..count]);
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        // The other end may have gone first.
        let _ = to.shutdown(Shutdown::Write);
    });
}
