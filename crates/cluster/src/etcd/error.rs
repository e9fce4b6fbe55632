//! Why etcd did not do what was asked.
use std::error::Error;

/// Why etcd did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum EtcdError {
    /// No server is known.
    #[error("no etcd server of the cluster is known")]
    NoServer,
    /// A client can't be made of the credentials.
    #[error("cannot set up the connection to etcd")]
    Setup(#[source] fetch::Error),
    /// No answer.
    #[error("etcd server {server} did not answer")]
    Unreachable {
        /// Its client URL.
        server: String,
        /// Why.
        source: fetch::Error,
    },
    /// It refused what was asked, or its answer is none of etcd's.
    #[error("etcd server {server}: {what}")]
    Refused {
        /// Its client URL.
        server: String,
        /// What it said.
        what: String,
    },
    /// Several servers were asked, and none of them did it.
    #[error("{}", .0.iter().map(EtcdError::with_cause).collect::<Vec<_>>().join("; "))]
    Each(Vec<EtcdError>),
    /// It answered that the member was removed, and lists it.
    #[error("etcd lists the member although it was removed")]
    NotRemoved,
}

impl EtcdError {
    /// What became of all servers that were asked.
    pub(super) fn of(mut failures: Vec<Self>) -> Self {
        match failures.len() {
            0 => Self::NoServer,
            1 => failures.remove(0),
            _ => Self::Each(failures),
        }
    }

    /// Whether etcd counts too few of its members as connected to change them.
    pub(super) fn is_unhealthy(&self) -> bool {
        match self {
            Self::Refused { what, .. } => what.contains("unhealthy cluster"),
            Self::Each(failures) => failures.iter().any(Self::is_unhealthy),
            Self::NoServer | Self::Setup(_) | Self::Unreachable { .. } | Self::NotRemoved => false,
        }
    }

    /// The error with its cause, in one line.
    pub(super) fn with_cause(&self) -> String {
        match self.source() {
            Some(source) => format!("{self}: {source}"),
            None => self.to_string(),
        }
    }
}
