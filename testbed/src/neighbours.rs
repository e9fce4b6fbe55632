//! Services beside the machines, on the bed's switch: each one call to start, gone when dropped.
mod file_server;
mod ntp_server;

pub use file_server::FileServer;
pub use ntp_server::NtpServer;

/// The name under which every machine of a bed finds its neighbours.
pub const NAME: &str = "neighbours.testbed.local";
