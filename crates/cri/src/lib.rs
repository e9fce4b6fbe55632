//! What a container runtime says of itself, over CRI v1 on its unix socket.
//!
//! ```text
//!  ask(socket, within) ──h2──▶ Version, Status, RuntimeConfig, ListImages ──▶ RuntimeReport
//! ```
//!
//! [`ask`] does the four calls over one connection and blocks until all are answered or the time is over; it must not be
//! called from asynchronous code. It only reads: nothing is pulled, started or removed.
//!
//! - `messages.rs` has the few fields of the CRI's messages that are read, by their numbers in
//!   <https://github.com/kubernetes/cri-api/blob/master/pkg/apis/runtime/v1/api.proto>. Others are skipped.
//! - `call.rs` is one unary gRPC call over HTTP/2, under a limit of size.
//! - `report.rs` makes a [`RuntimeReport`] of the answers. A runtime that lacks RuntimeConfig, as containerd before 2.0,
//!   is an answer too.
//! - [`Error`] has one variant for each cause: no socket, nobody behind it, no CRI, a status of gRPC.
mod call;
mod error;
mod messages;
mod report;

pub use error::{Error, Result};
pub use report::{Answers, CgroupDriver, RuntimeReport};

use call::Connection;
use std::{path::Path, time::Duration};
use tokio::runtime::Builder;

/// The methods that are called.
const VERSION: &str = "runtime.v1.RuntimeService/Version";
const STATUS: &str = "runtime.v1.RuntimeService/Status";
const RUNTIME_CONFIG: &str = "runtime.v1.RuntimeService/RuntimeConfig";
const LIST_IMAGES: &str = "runtime.v1.ImageService/ListImages";

/// Asks the runtime behind a socket, so long at most.
pub fn ask(socket: &Path, within: Duration) -> Result<RuntimeReport> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(Error::Start)?;
    let asked = async { tokio::time::timeout(within, report(socket)).await };
    let asked = runtime.block_on(asked);
    asked.unwrap_or_else(|_| Err(Error::Timeout { socket: socket.display().to_string(), limit: within }))
}

async fn report(socket: &Path) -> Result<RuntimeReport> {
    let mut connection = Connection::open(socket).await?;
    let version = connection.call(VERSION, &messages::VersionRequest::default()).await?;
    let status = connection.call(STATUS, &messages::StatusRequest { verbose: true }).await?;
    let config = match connection.call(RUNTIME_CONFIG, &messages::Empty {}).await {
        Ok(config) => Some(config),
        Err(Error::Unimplemented { .. }) => None,
        Err(error) => return Err(error),
    };
    let images = connection.call(LIST_IMAGES, &messages::Empty {}).await?;
    RuntimeReport::read(&Answers { version, status, config, images })
}
