//! What people type after `machineadm control-plane`.
use crate::{cli::Output, command::confirm::Confirmation};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ControlPlane {
    /// The kubeconfig of the cluster's administrator
    #[arg(long, value_name = "FILE", global = true, default_value = objects::kubernetes_paths::ADMIN_KUBECONFIG)]
    pub(crate) kubeconfig: PathBuf,
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List etcd members and control plane nodes with their state
    #[command(after_help = "\
Examples:
  machineadm control-plane list
  machineadm control-plane list -o json | jq '.members[] | select(.state != \"answers\")'

Run it as root on a control plane node: it uses the etcd client certificate that kubeadm created there. The last line
shows the quorum: how many voters answer, how many must answer, and how many of them may still fail.

Exit code 0: etcd has a quorum. Exit code 1: the quorum is lost, or etcd does not answer; the message has the cause.")]
    List(List),
    /// Remove a lost control plane node from etcd and the cluster
    #[command(after_help = "\
Examples:
  machineadm control-plane remove cp3 --dry-run
  machineadm control-plane remove cp3
  machineadm control-plane remove https://10.0.0.13:2380  # a member that never started has no name
  machineadm control-plane remove cp3 --yes -o json

Run it as root on another, healthy control plane node. It removes the etcd member, waits until etcd no longer lists it,
and deletes the Node object. No file is changed. An interrupted removal is finished by the same command.

It is refused with exit code 6 if the remaining etcd members would have no quorum, if NODE is this machine, or if NODE
still runs: run `machineadm reset` on NODE instead, or pass --force if that is not possible.")]
    Remove(Remove),
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// Name of the node or of its etcd member; or the peer URL or the id of the member
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    /// Show what would be removed, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove a node that still runs: its etcd member answers, or its Node object is Ready
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) confirmation: Confirmation,
    /// Output format of the result
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}
