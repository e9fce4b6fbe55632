//! Why the API server did not do what was asked.
use crate::{ExecFault, Problem};
use fetch::retry::Transient;
use std::path::PathBuf;
use std::time::Duration;

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the API server did not do what was asked. Messages of the server are shown, what was sent to it never is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kubeconfig file can't be read.
    #[error("cannot read the kubeconfig {}", .path.display())]
    KubeconfigFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The kubeconfig can't be used; every problem is listed.
    #[error("the kubeconfig is invalid:{}", listed(.0))]
    Kubeconfig(Vec<Problem>),
    /// The kubeconfig's exec plugin returned no credentials.
    #[error("the exec plugin {command} {fault}")]
    Exec {
        /// The plugin's command.
        command: String,
        /// What went wrong.
        fault: ExecFault,
    },
    /// The kubeconfig has an exec plugin, and no program may be started for it.
    #[error(
        "the kubeconfig for {server} has an exec plugin, which is not started here: use a client certificate or a token"
    )]
    ExecNotAllowed {
        /// The API server.
        server: String,
    },
    /// A client can't be made of what the kubeconfig says.
    #[error("cannot set up the connection to {server}")]
    Setup {
        /// The API server.
        server: String,
        /// Why not.
        source: fetch::Error,
    },
    /// No answer.
    #[error("the API server {server} did not answer{}", tried(*.attempts))]
    Unreachable {
        /// The API server.
        server: String,
        /// How often it was tried.
        attempts: u32,
        /// What the last try said.
        source: fetch::Error,
    },
    /// It does not know who we are.
    #[error(
        "the API server {server} does not accept these credentials (401 Unauthorized): they may have expired, or belong to another cluster"
    )]
    Unauthorized {
        /// The API server.
        server: String,
    },
    /// It knows who we are, and that we may not.
    #[error("the API server does not allow the request (403 Forbidden): {message}")]
    Forbidden {
        /// What it said.
        message: String,
    },
    /// It answered something else than success.
    #[error("the API server returned {code}{}: {message}", reason_in_words(.reason))]
    Status {
        /// The status.
        code: u16,
        /// One word, such as `Invalid`.
        reason: String,
        /// What it said.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// What it answered is not what the API answers.
    #[error("{server} did not return a Kubernetes API object: {what}")]
    NotKubernetes {
        /// The server.
        server: String,
        /// What is wrong with it.
        what: String,
    },
    /// Something that can't be changed on a live object is different.
    #[error(
        "{object} exists with another {member}, which cannot be changed: delete the object first if it is not needed"
    )]
    Immutable {
        /// Kind and name.
        object: String,
        /// The member that is different.
        member: &'static str,
    },
    /// Others kept changing the object.
    #[error("{object} was changed by other clients during each of {times} attempts")]
    Contended {
        /// Kind and name.
        object: String,
        /// How often we tried.
        times: usize,
    },
    /// A name that can't be part of a path.
    #[error("a name in the request's path has characters that are not allowed in Kubernetes names")]
    BadName,
    /// An object that we were given lacks what every object has.
    #[error("the object has no {0}")]
    Incomplete(&'static str),
}

impl Error {
    /// Whether the server may have done what was asked although it did not say so.
    pub(crate) fn is_ambiguous(&self) -> bool {
        match self {
            Self::Unreachable { source, .. } => source.may_have_arrived(),
            Self::Status { code, .. } => matches!(code, 500 | 504),
            _ => false,
        }
    }
}

impl Transient for Error {
    fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { source, .. } => source.is_transient(),
            // 500 with a wish to wait is how the API server says that its store is busy.
            Self::Status { code: 500, retry_after, .. } => retry_after.is_some(),
            Self::Status { code, .. } => matches!(code, 429 | 502 | 503 | 504),
            _ => false,
        }
    }

    fn wait(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    fn is_timeout(&self) -> bool {
        matches!(self, Self::Unreachable { source, .. } if source.is_timeout())
    }
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}

fn tried(attempts: u32) -> String {
    if attempts > 1 { format!(", tried {attempts} times") } else { String::new() }
}

fn reason_in_words(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" ({reason})") }
}
