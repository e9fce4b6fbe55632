//! The plugin as its users have it: a process, judged by kube-apiserver's own client and by a real kube-apiserver.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod api_server;
mod contract;
mod processes;
mod support;
