//! Why etcd did not do what was asked.

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
    /// It answered that the member was removed, and lists it.
    #[error("etcd lists the member although it was removed")]
    NotRemoved,
}
