//! The engine on a machine in memory: what it plans, in which order, that it can be cut anywhere, and what it refuses.
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails its test")]
mod acts;
mod api_server;
mod certificates;
mod containerd;
mod control_plane;
mod cuts;
mod etcd_data;
mod etcd_machine;
mod join;
mod node_services;
mod order;
mod paths;
mod pem_set;
mod preflight;
mod programs;
mod prune;
mod report;
mod reset;
mod restarts;
mod review;
mod services;
mod started_init;
mod support;
mod switches;
mod uploaded_again;
mod users;
