//! A relay in front of the API server that holds back a request or its answer until told to let go.
use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// What is held back.
pub(crate) enum Hold {
    /// The client's messages from this one on: the server never gets them. The first is TLS's greeting, the second or
    /// third brings the first request.
    Requests(usize),
    /// What the client sends over this connection, counted from 1, and over later ones.
    Connections(usize),
    /// All answers once this is so: the server has done what was asked, and the client never learns.
    AnswersOnce(Box<dyn Fn() -> bool + Send + Sync>),
}

/// The relay, gone when dropped.
pub(crate) struct Holding {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    server: u16,
    hold: Hold,
    connections: AtomicUsize,
    phase: Mutex<Phase>,
    changed: Condvar,
    ended: AtomicBool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Armed,
    Held,
    Released,
}

impl Holding {
    /// In front of a port of 127.0.0.1.
    pub(crate) fn before(server: u16, hold: Hold) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (phase, changed, ended) = (Mutex::new(Phase::Armed), Condvar::new(), AtomicBool::new(false));
        let state = Arc::new(State { server, hold, connections: AtomicUsize::new(0), phase, changed, ended });
        let own = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten().take_while(|_| !own.ended.load(Ordering::SeqCst)) {
                own.clone().relay(client);
            }
        });
        Self { address, state }
    }

    pub(crate) fn place(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn is_held(&self) -> bool {
        *self.state.phase.lock().unwrap() == Phase::Held
    }

    /// Breaks the connections that are held; from now on everything passes.
    pub(crate) fn let_go(&self) {
        *self.state.phase.lock().unwrap() = Phase::Released;
        self.state.changed.notify_all();
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::SeqCst);
        self.let_go();
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

impl State {
    fn relay(self: Arc<Self>, client: TcpStream) {
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.server)) else { return };
        let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let own = Arc::clone(&self);
        let connection = self.connections.fetch_add(1, Ordering::SeqCst) + 1;
        std::thread::spawn(move || {
            let mut messages = 0;
            own.pass(from, to, |hold| {
                messages += 1;
                match hold {
                    Hold::Requests(first) => messages >= *first,
                    Hold::Connections(first) => connection >= *first,
                    Hold::AnswersOnce(_) => false,
                }
            });
        });
        std::thread::spawn(move || {
            self.pass(server, client, |hold| matches!(hold, Hold::AnswersOnce(is_done) if is_done()));
        });
    }

    fn pass(&self, mut from: TcpStream, mut to: TcpStream, mut is_held: impl FnMut(&Hold) -> bool) {
        let mut buffer = [0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if self.is_armed() && is_held(&self.hold) && self.hold_until_let_go() {
                break;
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        // Whoever is gone already needs no farewell.
        drop((from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)));
    }

    fn is_armed(&self) -> bool {
        *self.phase.lock().unwrap() != Phase::Released
    }

    /// Whether something was held: after the release nothing is.
    fn hold_until_let_go(&self) -> bool {
        let mut phase = self.phase.lock().unwrap();
        if *phase == Phase::Released {
            return false;
        }
        *phase = Phase::Held;
        drop(self.changed.wait_while(phase, |phase| *phase != Phase::Released).unwrap());
        true
    }
}
