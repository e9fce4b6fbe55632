//! Ports on loopback that nobody else gets while they are held.
use crate::cache;
use crate::error::file;
use crate::{Error, Result};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range from which the kernel takes ports for outgoing connections.
const FIRST: u16 = 12_000;
const COUNT: u16 = 20_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port, held by a lock that ends with this process.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _held: File,
}

impl Port {
    /// A port that is free on loopback and that no other run holds.
    pub fn free() -> Result<Self> {
        let directory = cache::directory()?.join("ports");
        fs::create_dir_all(&directory).map_err(file("create", &directory))?;
        // Processes start at different places, so that they seldom meet.
        let start = (std::process::id() % 400) as u16 * 50;
        for _ in 0..COUNT {
            let number = FIRST + start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
            let path = directory.join(number.to_string());
            let held = File::create(&path).map_err(file("create", path))?;
            let ours = flock(&held, FlockOperation::NonBlockingLockExclusive).is_ok();
            if ours && TcpListener::bind(("127.0.0.1", number)).is_ok() {
                return Ok(Self { number, _held: held });
            }
        }
        Err(Error::Missing { what: "a free port".to_owned(), remedy: "end some of the many test runs".to_owned() })
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }
}
