//! Why a runtime gave no answer: one variant for each cause.
use std::{io, time::Duration};

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This process cannot start to ask.
    #[error("cannot start the client of the container runtime")]
    Start(#[source] io::Error),
    /// There is no socket.
    #[error("the socket {socket} does not exist")]
    NoSocket {
        /// Its path.
        socket: String,
    },
    /// Nobody listens on the socket.
    #[error("no process listens on the socket {socket}")]
    Refused {
        /// Its path.
        socket: String,
    },
    /// The socket cannot be used.
    #[error("cannot connect to the socket {socket}")]
    Connect {
        /// Its path.
        socket: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The time is over.
    #[error("the process behind {socket} did not answer within {}s", limit.as_secs_f32())]
    Timeout {
        /// Its path.
        socket: String,
        /// How long it had.
        limit: Duration,
    },
    /// Whoever listens does not speak gRPC.
    #[error("the process behind {socket} does not answer as a container runtime: {what}")]
    NotGrpc {
        /// Its path.
        socket: String,
        /// What it did.
        what: String,
    },
    /// The runtime does not have a method, or the service it belongs to.
    #[error("the container runtime does not implement {method}: {message}")]
    Unimplemented {
        /// Service and method.
        method: &'static str,
        /// The runtime's own words.
        message: String,
    },
    /// The runtime refused.
    #[error("the container runtime answered {method} with gRPC status {code}: {message}")]
    Status {
        /// Service and method.
        method: &'static str,
        /// The number of gRPC's status.
        code: u32,
        /// The runtime's own words.
        message: String,
    },
    /// An answer cannot be read.
    #[error("the answer of the container runtime to {method} cannot be read: {what}")]
    Malformed {
        /// Service and method.
        method: &'static str,
        /// Why not.
        what: &'static str,
    },
    /// An answer is too large.
    #[error("the answer of the container runtime to {method} is larger than {} MiB", limit >> 20)]
    TooLarge {
        /// Service and method.
        method: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
}

impl Error {
    /// Whether a runtime runs, but without CRI v1.
    pub const fn is_without_cri_v1(&self) -> bool {
        matches!(self, Self::Unimplemented { .. })
    }
}
