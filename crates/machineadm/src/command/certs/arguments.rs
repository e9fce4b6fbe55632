//! What people type after `machineadm certs`.
use crate::{
    cli::{Output, RootOption},
    command::{
        discover::arguments::DiscoverySource,
        tls_bootstrap_token::TlsBootstrapToken,
        token::arguments::{Connection, without_effect},
    },
};
use clap::{ArgAction, Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Certs {
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(subcommand)]
    pub(crate) action: Action,
}

impl Certs {
    /// The root that the action works on, if it works on a machine.
    pub(crate) const fn root(&self) -> Option<&RootOption> {
        match &self.action {
            Action::Upload(upload) => Some(&upload.root),
            Action::Download(download) => Some(&download.root),
            Action::Key(_) | Action::List(_) | Action::Delete(_) => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Print a new random certificate key without contacting a cluster
    #[command(args = without_effect::<Connection>(), after_help = "\
Examples:
  machineadm certs key
  (umask 077; machineadm certs key > key)   # for certs upload --certificate-key-file key

The certificate key decrypts the private keys of the cluster: protect it like them.")]
    Key(Key),
    /// Encrypt this node's certificates and upload them for two hours
    #[command(after_help = "\
Examples:
  machineadm certs upload
  machineadm certs upload --certificate-key-file key --skip-certificate-key-print
  KEY=$(machineadm certs upload)            # standard output holds the certificate key alone
  machineadm certs upload --certificate-key-file key -o json | jq -r .expires

Run it on a control plane node. The Secret kube-system/kubeadm-certs then holds the CA certificates and keys that a
further control plane node needs, encrypted with the certificate key. The cluster deletes it after two hours, or earlier
if the first join token expires within four hours. Before the upload, machineadm checks that the cluster deletes expired
tokens and what they own; this takes up to 60 seconds.

Risk: anyone who has the certificate key and can read the Secret before it is deleted gets the private keys of the
cluster. A copy of the Secret that was read before its deletion can be decrypted with the key at any later time.")]
    Upload(Box<Upload>),
    /// Download, decrypt and save the certificates of a control plane node
    #[command(after_help = "\
Examples:
  machineadm certs download 10.0.0.10:6443 --token-file token \\
      --discovery-token-ca-cert-hash sha256:9f3a… --certificate-key-file key
  machineadm certs download --token-file token --certificate-key-file key   # the cluster that discover --store saved
  machineadm certs download --config join.yaml                              # a JoinConfiguration with certificateKey

Run it on the machine that becomes a control plane node. It reads the cluster with a bootstrap token only. All files are
checked before the first one is written. They are written all or not at all: private keys with mode 0600, certificates
with mode 0644. A file that exists with other content is not replaced without --force.")]
    Download(Box<Download>),
    /// Show whether certificates are uploaded, and when they are deleted
    #[command(after_help = "\
Examples:
  machineadm certs list
  machineadm certs list -o json | jq -r .expires")]
    List(List),
    /// Delete uploaded certificates before they expire
    #[command(after_help = "\
Example:
  machineadm certs delete

It deletes the Secret kube-system/kubeadm-certs and the bootstrap tokens that limit its life. A copy of the Secret that
was read before can still be decrypted with its certificate key.")]
    Delete(Delete),
}

#[derive(Debug, Args)]
pub(crate) struct Key {
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

/// Where the certificate key comes from.
#[derive(Debug, Args)]
pub(crate) struct KeyOption {
    /// The certificate key, 64 hexadecimal digits. Other users of this machine can see arguments; --certificate-key-file
    /// avoids that
    #[arg(long, value_name = "KEY", conflicts_with = "certificate_key_file")]
    pub(crate) certificate_key: Option<String>,
    /// Read the certificate key from a file or, with `-`, from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate_key_file: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Upload {
    #[command(flatten)]
    pub(crate) key: KeyOption,
    /// Do not print the certificate key; requires a given one
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) skip_certificate_key_print: bool,
    /// The directory of this node's certificates. Default: as in kubeadm-config of the cluster
    #[arg(long, value_name = "DIR")]
    pub(crate) cert_dir: Option<PathBuf>,
    /// Read certificateKey of an InitConfiguration, and directory and etcd of a ClusterConfiguration; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// Upload although the cluster does not delete expired tokens and what they own: nothing then deletes the
    /// certificates
    #[arg(long)]
    pub(crate) accept_missing_cleanup: bool,
    /// How long the cluster may take to delete an expired token and what it owns, at most 5m0s
    #[arg(long, value_name = "DURATION", default_value = "1m0s")]
    pub(crate) cleanup_timeout: String,
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

#[derive(Debug, Args)]
pub(crate) struct Download {
    #[command(flatten)]
    pub(crate) source: DiscoverySource,
    #[command(flatten)]
    pub(crate) tls: TlsBootstrapToken,
    #[command(flatten)]
    pub(crate) key: KeyOption,
    /// Save the certificates in this directory. Default: as in kubeadm-config of the cluster
    #[arg(long, value_name = "DIR")]
    pub(crate) cert_dir: Option<PathBuf>,
    /// Read discovery, token and certificateKey of a JoinConfiguration; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// Replace files that exist with other content
    #[arg(long)]
    pub(crate) force: bool,
    /// Give up discovery after this time, such as 5m, 90s or 500ms
    #[arg(long, value_name = "DURATION", default_value = "5m0s")]
    pub(crate) timeout: String,
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Let the API server check the request, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}
