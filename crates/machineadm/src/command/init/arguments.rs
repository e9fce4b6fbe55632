//! What people type after `machineadm init`.
use crate::{
    cli::{Output, RootOption},
    command::certs::arguments::{KeyOption, Upload},
};
use clap::{ArgAction, Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Init {
    #[command(subcommand)]
    pub(crate) command: Option<InitCommand>,
    #[command(flatten)]
    pub(crate) cluster: ClusterFlags,
    #[command(flatten)]
    pub(crate) node: NodeFlags,
    #[command(flatten)]
    pub(crate) certificates: CertificateFlags,
    /// Read an InitConfiguration, ClusterConfiguration, KubeletConfiguration and KubeProxyConfiguration of kubeadm, in any
    /// API version; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "ClusterFlags")]
    pub(crate) config: Option<String>,
    /// Do not print the token in the join commands at the end
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) skip_token_print: bool,
    /// Show what would change, and change nothing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) dry_run: bool,
    /// Print the InitConfig document that these flags mean, with its secrets, and change nothing
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) print_config: bool,
    /// Output format of the outcome
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

impl Init {
    /// The root that the command works on.
    pub(crate) fn root(&self) -> RootOption {
        match &self.command {
            Some(InitCommand::Phase(InitPhase { phase: Phase::UploadCerts(asked) })) => asked.upload.root.clone(),
            None => self.root.clone(),
        }
    }
}

/// What the cluster is, which a file of kubeadm says otherwise.
#[derive(Debug, Args)]
#[group(id = "ClusterFlags", multiple = true)]
pub(crate) struct ClusterFlags {
    /// The bootstrap token to create; "" creates none. Other users of this machine can see arguments; --token-file avoids
    /// that. Default: a random token
    #[arg(long, value_name = "TOKEN", conflicts_with = "token_file")]
    pub(crate) token: Option<String>,
    /// Read the bootstrap token from a file or, with `-`, from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<String>,
    /// Time until the token expires, such as 2h30m; 0 is never [default: 24h0m0s]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) token_ttl: Option<String>,
    /// Networks of pods, such as 10.244.0.0/16; one of each family, with a comma
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    pub(crate) pod_network_cidr: Vec<String>,
    /// Networks of services; one of each family, with a comma [default: 10.96.0.0/12]
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    pub(crate) service_cidr: Vec<String>,
    /// DNS domain of services [default: cluster.local]
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) service_dns_domain: Option<String>,
    /// Endpoint of the cluster: a load balancer, or this machine. Without a port, that of the API server is used
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) control_plane_endpoint: Option<String>,
    /// IP address of this machine's API server for other machines. Default: the address of the default route
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) apiserver_advertise_address: Option<String>,
    /// Port of this machine's API server [default: 6443]
    #[arg(long, value_name = "PORT")]
    pub(crate) apiserver_bind_port: Option<u16>,
    /// Further names and addresses in the certificate of the API server; may be repeated or a list with commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) apiserver_cert_extra_sans: Vec<String>,
    /// Directory of certificates and keys; those that it has are used [default: /etc/kubernetes/pki]
    #[arg(long, value_name = "DIR")]
    pub(crate) cert_dir: Option<String>,
    /// Kubernetes version, such as v1.36.4. Default: the version of this machine's kubeadm
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: Option<String>,
    /// Registry of the images of Kubernetes [default: registry.k8s.io]
    #[arg(long, value_name = "REGISTRY")]
    pub(crate) image_repository: Option<String>,
    /// Feature gates of kubeadm, as NAME=true or NAME=false; may be repeated or a list with commas
    #[arg(long, value_name = "GATE", value_delimiter = ',')]
    pub(crate) feature_gates: Vec<String>,
}

/// How this machine becomes a node, which flags may say beside a file.
#[derive(Debug, Args)]
pub(crate) struct NodeFlags {
    /// Name of the node. Default: the host name
    #[arg(long, value_name = "NAME")]
    pub(crate) node_name: Option<String>,
    /// Socket of the container runtime. Default: /run/containerd/containerd.sock
    #[arg(long, value_name = "SOCKET")]
    pub(crate) cri_socket: Option<String>,
    /// Directory of kubeadm's patches of static pods and of the kubelet's configuration
    #[arg(long, value_name = "DIR")]
    pub(crate) patches: Option<String>,
    /// Preflight checks that may fail, by the names of machineadm or of kubeadm, such as swap or NumCPU; `all` is every
    /// one; may be repeated or a list with commas
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    pub(crate) ignore_preflight_errors: Vec<String>,
    /// Phases of kubeadm to skip: preflight, addon, addon/coredns, addon/kube-proxy, bootstrap-token, upload-certs; may be
    /// repeated or a list with commas
    #[arg(long, value_name = "PHASE", value_delimiter = ',')]
    pub(crate) skip_phases: Vec<String>,
}

/// The certificates copy for further control plane nodes.
#[derive(Debug, Args)]
pub(crate) struct CertificateFlags {
    /// Upload the certificates that further control plane nodes need, encrypted, for two hours
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) upload_certs: bool,
    #[command(flatten)]
    pub(crate) key: KeyOption,
    /// Do not print the certificate key in the join command at the end; with --upload-certs it requires a given key
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) skip_certificate_key_print: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InitCommand {
    /// Run one phase of init again
    #[command(after_help = "\
Example:
  machineadm init phase upload-certs --upload-certs")]
    Phase(InitPhase),
}

#[derive(Debug, Args)]
pub(crate) struct InitPhase {
    #[command(subcommand)]
    pub(crate) phase: Phase,
}

/// `certs upload` takes that of kubectl.
const KUBECONFIG: &str = "The kubeconfig of the cluster. Default: /etc/kubernetes/admin.conf";

#[derive(Debug, Subcommand)]
pub(crate) enum Phase {
    /// Upload the certificates again, with a new or a given key
    #[command(mut_arg("kubeconfig", |kubeconfig| kubeconfig.help(KUBECONFIG)), after_help = "\
Examples:
  machineadm init phase upload-certs --upload-certs
  machineadm init phase upload-certs --upload-certs --certificate-key-file key --skip-certificate-key-print

It does what `machineadm certs upload` does, in the cluster of this node, and prints the certificate key. The cluster
deletes the certificates after two hours; run it again for a control plane node that joins later.")]
    UploadCerts(Box<UploadPhase>),
}

#[derive(Debug, Args)]
pub(crate) struct UploadPhase {
    /// Upload the certificates; without it the phase does nothing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) upload_certs: bool,
    #[command(flatten)]
    pub(crate) connection: crate::command::token::arguments::Connection,
    #[command(flatten)]
    pub(crate) upload: Upload,
}
