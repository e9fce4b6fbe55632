//! What people type after `machineadm config`.
use crate::{cli::Output, command::token::arguments::Connection};
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Convert files of any kubeadm API version into the one that a Kubernetes version reads
    #[command(after_help = "\
Examples:
  machineadm config convert --kubernetes-version 1.36.4 -f kubeadm.yaml > new.yaml
  machineadm config convert --kubernetes-version 1.29.4 -f cluster.yaml -f init.yaml   # together one configuration
  machineadm config convert --kubernetes-version 1.36.4 -f configs/ -o json            # each file for itself

The converted file goes to standard output, everything else to standard error. Fields that this kubeadm does not
support are an error (exit code 2) that lists them; with --allow-loss they are warnings.")]
    Convert(Convert),
    /// List all problems of kubeadm's files
    #[command(after_help = "\
Examples:
  machineadm config validate -f kubeadm.yaml
  machineadm config validate --kubernetes-version 1.31.4 -f kubeadm.yaml   # as the kubeadm of that version reads it
  machineadm config validate -f configs/ -o json                           # each file by itself")]
    Validate(Validate),
    /// Print a starting configuration with all defaults
    #[command(after_help = "\
Examples:
  machineadm config defaults --kubernetes-version 1.36.4 > init.yaml
  machineadm config defaults --kubernetes-version 1.36.4 join")]
    Defaults(Defaults),
    /// Edit the kubeadm-config ConfigMap for a Kubernetes version
    #[command(after_help = "\
Examples:
  machineadm config edit-map --kubernetes-version 1.31.4 --dry-run      # the cluster of $KUBECONFIG: show the diff
  machineadm config edit-map --kubernetes-version 1.31.4 --kubeconfig /etc/kubernetes/admin.conf
  kubectl -n kube-system get configmap kubeadm-config -o yaml > map.yaml
  machineadm config edit-map --kubernetes-version 1.31.4 -f map.yaml | kubectl replace -f -

Without -f, the ConfigMap of the cluster is edited and the diff is printed. With -f, the edited ConfigMap is printed; if
there is nothing to change, it is printed byte for byte as it was read.")]
    EditMap(Box<EditMap>),
    /// Import kubeadm's files, or a cluster's configuration, as documents
    #[command(after_help = "\
Examples:
  machineadm config import -f kubeadm.yaml > node.yaml
  machineadm config import -f cluster.yaml -f init.yaml --kubernetes-version v1.36.4   # together one configuration
  machineadm config import -f kubeadm.yaml --kind join                                 # it has both: init and join
  machineadm config import --from-cluster --kubeconfig /etc/kubernetes/admin.conf > node.yaml

An InitConfiguration and a ClusterConfiguration become an InitConfig, a JoinConfiguration becomes a JoinConfig. The
document goes to standard output with the secrets of the file, everything else to standard error. Fields that have no
place in it are an error (exit code 2) that lists them; with --allow-loss they are warnings.")]
    Import(Box<Import>),
}

#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The Kubernetes version whose kubeadm will read the result
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: String,
    /// A kubeadm file or a directory of them; may be repeated; `-` is standard input
    ///
    /// Repeated files are one configuration. Each *.yaml, *.yml and *.json file of a directory is one by itself.
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Continue without the fields that this kubeadm does not support
    #[arg(long)]
    pub(crate) allow_loss: bool,
    /// Report unknown fields as warnings, as `kubeadm init` does
    #[arg(long)]
    pub(crate) tolerant: bool,
    /// Write this kubeadm API version instead, such as the experimental v1
    #[arg(long, value_name = "VERSION")]
    pub(crate) api_version: Option<String>,
    /// How to print the result: the file alone, or with its flags, losses and notes
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// A kubeadm file or a directory of them; may be repeated; `-` is standard input
    ///
    /// Repeated files are one configuration. Each *.yaml, *.yml and *.json file of a directory is one by itself.
    #[arg(short = 'f', long = "filename", value_name = "FILE|DIR", required = true)]
    pub(crate) files: Vec<String>,
    /// Check as the kubeadm of this Kubernetes version does
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: Option<String>,
    /// Report unknown fields as warnings, as `kubeadm init` does
    #[arg(long)]
    pub(crate) tolerant: bool,
    /// Output format of the problems
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

#[derive(Debug, Args)]
pub(crate) struct Defaults {
    /// What the configuration is for
    #[arg(value_enum, default_value_t)]
    pub(crate) of: Purpose,
    /// The Kubernetes version whose defaults they are
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: String,
    /// How to print them
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

/// What a configuration is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Purpose {
    /// The first node of a control plane
    #[default]
    Init,
    /// A worker
    Join,
    /// An additional control plane node
    JoinControlPlane,
    /// kubeadm reset
    Reset,
    /// kubeadm upgrade
    Upgrade,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// A kubeadm file of any API version; may be repeated; `-` is standard input. Repeated files are one configuration
    #[arg(short = 'f', long = "filename", value_name = "FILE", required_unless_present = "from_cluster")]
    pub(crate) files: Vec<String>,
    /// Read the ConfigMaps kubeadm-config, kubelet-config and kube-proxy of the cluster instead of files
    #[arg(long, conflicts_with = "files")]
    pub(crate) from_cluster: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
    /// What the document is for. Required for files that are for both
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "from_cluster")]
    pub(crate) kind: Option<ImportKind>,
    /// Kubernetes version of the document. Default: the version that the files name
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: Option<String>,
    /// Continue without the fields that have no place in the document
    #[arg(long)]
    pub(crate) allow_loss: bool,
    /// Report unknown fields as warnings, as `kubeadm init` does
    #[arg(long)]
    pub(crate) tolerant: bool,
    /// How to print the result: the document alone, or with losses and notes
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

/// What an imported document is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportKind {
    /// The first node of a control plane: InitConfig
    Init,
    /// A worker or a further control plane node: JoinConfig
    Join,
}

#[derive(Debug, Args)]
pub(crate) struct EditMap {
    /// Edit the ConfigMap in this file, YAML or JSON, and print it; `-` is standard input. Without it, the ConfigMap of
    /// the cluster is edited
    #[arg(short = 'f', long = "filename", value_name = "FILE", conflicts_with_all = ["kubeconfig", "context", "dry_run"])]
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
    /// Show the changes, let the API server check them, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The Kubernetes version that the control plane is going to have
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: String,
    /// The registry of all images
    #[arg(long, value_name = "REGISTRY")]
    pub(crate) image_repository: Option<String>,
    /// The registry of CoreDNS
    #[arg(long, value_name = "REGISTRY")]
    pub(crate) dns_image_repository: Option<String>,
    /// The image tag of CoreDNS
    #[arg(long, value_name = "TAG")]
    pub(crate) dns_image_tag: Option<String>,
    /// The registry of an etcd that kubeadm runs
    #[arg(long, value_name = "REGISTRY")]
    pub(crate) etcd_image_repository: Option<String>,
    /// The image tag of an etcd that kubeadm runs
    #[arg(long, value_name = "TAG")]
    pub(crate) etcd_image_tag: Option<String>,
    /// A feature gate, set or (NAME-) removed; may be repeated
    #[arg(long = "feature-gate", value_name = "NAME=BOOL|NAME-")]
    pub(crate) feature_gates: Vec<String>,
    /// An argument of the API server, set or (NAME-) removed; may be repeated
    #[arg(long = "api-server-arg", value_name = "NAME=VALUE|NAME-")]
    pub(crate) api_server_args: Vec<String>,
    /// An argument of the controller manager, set or (NAME-) removed; may be repeated
    #[arg(long = "controller-manager-arg", value_name = "NAME=VALUE|NAME-")]
    pub(crate) controller_manager_args: Vec<String>,
    /// An argument of the scheduler, set or (NAME-) removed; may be repeated
    #[arg(long = "scheduler-arg", value_name = "NAME=VALUE|NAME-")]
    pub(crate) scheduler_args: Vec<String>,
    /// An argument of an etcd that kubeadm runs, set or (NAME-) removed; may be repeated
    #[arg(long = "etcd-arg", value_name = "NAME=VALUE|NAME-")]
    pub(crate) etcd_args: Vec<String>,
    /// An endpoint of an external etcd; repeat it for all of them
    #[arg(long = "etcd-endpoint", value_name = "URL")]
    pub(crate) etcd_endpoints: Vec<String>,
    /// The algorithm of keys and certificates
    #[arg(long, value_name = "ALGORITHM")]
    pub(crate) encryption_algorithm: Option<String>,
    /// How long certificates are valid, such as 4380h
    #[arg(long, value_name = "DURATION")]
    pub(crate) certificate_validity_period: Option<String>,
    /// How long certificate authorities are valid
    #[arg(long, value_name = "DURATION")]
    pub(crate) ca_certificate_validity_period: Option<String>,
    /// The directory of certificates and keys
    #[arg(long, value_name = "DIR")]
    pub(crate) certificates_dir: Option<String>,
    /// Remove a node's API server from the ClusterStatus; only below Kubernetes 1.22, later versions do not read it
    #[arg(long, value_name = "NODE")]
    pub(crate) remove_api_endpoint: Option<String>,
    /// Continue without the fields that this kubeadm does not support
    #[arg(long)]
    pub(crate) allow_loss: bool,
}
