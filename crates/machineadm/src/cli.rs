//! The command line, as one tree; completions, man pages and `--help` derive from it.
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use crate::command::{
    certs::arguments::Certs, config::arguments::Config, control_plane::arguments::ControlPlane, decrypt::Decrypt,
    discover::arguments::Discover, discovery_objects::DiscoveryObjects, encrypt::Encrypt, generate::Generate,
    help::Help, init::arguments::Init, join::Join, reset::Reset, token::arguments::Token,
};
use crate::show::log::Settings;
use std::path::PathBuf;

/// Turn a machine into a Kubernetes node: validate its configuration, plan, apply, and report the outcome.
#[derive(Debug, Parser)]
#[command(name = "machineadm", version, after_help = EXAMPLES, term_width = HELP_WIDTH, disable_help_subcommand = true)]
pub struct Cli {
    /// Bootstrap this machine; the same as `machineadm bootstrap -f FILE`
    #[arg(long, requires = "path")]
    pub(crate) bootstrap: bool,
    /// Configuration file for --bootstrap; `-` is standard input
    #[arg(long, value_name = "FILE", requires = "bootstrap")]
    pub(crate) path: Vec<String>,
    #[command(flatten)]
    pub(crate) root: RootOption,
    #[command(flatten)]
    pub(crate) mode: ModeOption,
    #[command(flatten)]
    pub(crate) log: Settings,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The same on every terminal: an example that a narrow one folds is still one line when it is copied.
const HELP_WIDTH: usize = 120;

/// Of the commands that work on a machine.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RootOption {
    /// Root directory of the machine to work on, instead of the running system [default: /]
    #[arg(long, value_name = "DIR", help_heading = "Global options")]
    pub(crate) root: Option<PathBuf>,
}

/// Of the commands that run documents.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ModeOption {
    /// Lifecycle stage to run: prepare (everything before the node, for example in an image), provision (the node too) or
    /// post (files and settings of a node; no commands) [default: provision]
    #[arg(long, value_enum, hide_possible_values = true, help_heading = "Global options")]
    pub(crate) mode: Option<ModeArgument>,
}

const EXAMPLES: &str = "\
Examples:
  machineadm generate > node.yaml           # a starter configuration
  machineadm validate -f node.yaml          # list every problem
  machineadm plan -f node.yaml              # show what would change
  machineadm bootstrap -f node.yaml         # apply it
  machineadm status                         # print the outcome of the last run
  machineadm --bootstrap --path node.yaml   # the call of first-boot tools

Exit codes: 0 done or nothing to do, 1 failed, 2 invalid input and nothing changed, 3 changes found (plan --exit-code),
4 another run holds the lock, 5 done but a reboot is needed, 6 manual action required.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Apply a configuration to this machine
    #[command(after_help = "\
Examples:
  machineadm bootstrap -f node.yaml
  machineadm bootstrap -f base.yaml -f node.yaml
  machineadm bootstrap                      # continue an interrupted run, else run what first boot delivered
  machineadm bootstrap -f node.yaml --mode post --prune

Documents are processed in order. Mode prepare stops before InitConfig; mode post runs no commands.
Without -f, mode provision runs the saved configuration of an interrupted run, else /etc/machineadm/config.yaml, where
cloud-init and Ignition deliver it. That file is deleted when the run that took it succeeds, also with -f.")]
    Bootstrap(Bootstrap),
    /// Show what bootstrap would change
    #[command(after_help = "\
Examples:
  machineadm plan -f node.yaml
  machineadm plan -f node.yaml --exit-code  # 3 when there is something to do
  machineadm plan -f node.yaml --out plan.json
  machineadm plan show plan.json            # print the saved plan
  machineadm apply plan.json                # apply exactly that
  machineadm plan -f node.yaml --mode post  # also lists what no document names any more

Nothing is changed. The `unless` check of a command is executed once; --no-commands skips it.
A server that does not answer is retried for a few seconds.")]
    Plan(Plan),
    /// Apply a saved plan
    #[command(after_help = "\
Example:
  machineadm plan -f node.yaml --out plan.json
  machineadm apply plan.json

The plan is refused with exit code 6 when the machine has changed since the plan was saved; every difference is listed.
A plan that has been applied already ends with exit code 0.")]
    Apply(Apply),
    /// Create a cluster with this machine as its first node
    #[command(after_help = "\
Examples:
  machineadm init --pod-network-cidr 10.244.0.0/16
  machineadm init --control-plane-endpoint api.example.com --upload-certs
  machineadm init --config kubeadm.yaml --print-config > node.yaml
  machineadm init --token '' --dry-run

The flags become an InitConfig document, which runs like `machineadm bootstrap -f FILE`; --print-config prints it.
At the end the commands are printed with which other machines join, and what the secrets in them risk.
An interrupted init is finished by `machineadm bootstrap`; then `machineadm token create --print-join-command` prints a
join command.")]
    Init(Box<Init>),
    /// Join this machine to a cluster as a worker or a control plane node
    #[command(after_help = "\
Examples:
  machineadm join 10.0.0.10:6443 --token-file token --discovery-token-ca-cert-hash sha256:9f3a…
  machineadm join --discovery-file cluster.yaml --tls-bootstrap-token-file token
  machineadm join 10.0.0.10:6443 --token-file token --discovery-token-ca-cert-hash sha256:9f3a… \\
      --control-plane --certificate-key-file key
  machineadm join --config kubeadm-join.yaml --print-config > node.yaml
  machineadm join 10.0.0.10:6443 --token-file token --discovery-token-ca-cert-hash sha256:9f3a… --dry-run

The flags become a JoinConfig document, which runs like `machineadm bootstrap -f FILE`; --print-config prints it.
On the cluster, `machineadm token create --print-join-command` prints token and CA pin.
On a control plane node, `machineadm certs upload` prints the certificate key.
Before a control plane node joins, certificates, mounted files and the members of etcd are checked.
An interrupted join is finished by `machineadm bootstrap`.")]
    Join(Box<Join>),
    /// Undo what machineadm and kubeadm did on this machine
    #[command(after_help = "\
Examples:
  machineadm reset --dry-run                # show what would be undone
  machineadm reset                          # show it, ask, and do it
  machineadm reset --force                  # do not ask
  machineadm reset --force --node-only      # leave what documents wrote

The etcd member of this machine is removed first. kubeadm's files are deleted, and files that existed before kubeadm ran
are restored. Then everything that documents wrote is restored or deleted, and machineadm's own state is deleted.
An interrupted reset is continued by the next one.

Exit code 6: etcd does not answer, or removing the member would cost its quorum; nothing was changed.")]
    Reset(Reset),
    /// Check a configuration and list every problem
    #[command(after_help = "\
Examples:
  machineadm validate -f node.yaml
  machineadm validate -f node.yaml --expand # also fetch and decrypt, and check the result
  generate-config | machineadm validate -f - -o json")]
    Validate(Validate),
    /// Encrypt documents with a passphrase
    #[command(after_help = "\
Examples:
  machineadm encrypt --passphrase-uri file:///etc/machineadm/passphrase -f secrets.yaml >> node.yaml
  machineadm encrypt --passphrase-uri file:///etc/machineadm/passphrase -f secrets.yaml \\
      --for-hostname node-7 --valid-for 24h
  machineadm encrypt --provider descriptor --passphrase-uri fd:3 -f secrets.yaml 3< passphrase

The passphrase is read now from the same file, descriptor or https URI that the machine reads it from later.
Each encryption uses a new salt and a new initialization vector.")]
    Encrypt(Box<Encrypt>),
    /// Decrypt documents and print them
    #[command(after_help = "\
Example:
  machineadm decrypt -f node.yaml           # prints the documents of every EncryptedConfig in it")]
    Decrypt(Decrypt),
    /// Print the outcome of the last run
    #[command(after_help = "\
Examples:
  machineadm status
  machineadm status -o json | jq .failure
  machineadm status --bundle node-7.tar.gz

The bundle contains the outcome, the journal, versions, logs and states of the node's services, names and modes of the
files below /etc/kubernetes, containers, disks and memory. Secrets are removed; its README names what is missing.

Exit code 0: the last run succeeded, or a run is in progress; with --bundle, the archive was written.
Exit code 1: the last run failed or was interrupted, or there was none.")]
    Status(Status),
    /// Explain a document kind or one of its fields
    #[command(after_help = "\
Examples:
  machineadm explain
  machineadm explain FilesConfig
  machineadm explain FilesConfig.spec.files.mode")]
    Explain(Explain),
    /// Convert, validate and edit kubeadm configuration files
    #[command(
        subcommand,
        after_help = "\
Examples:
  machineadm config convert --kubernetes-version 1.36.4 -f kubeadm.yaml
  machineadm config validate -f kubeadm.yaml"
    )]
    Config(Config),
    /// Create, list and delete bootstrap tokens
    #[command(after_help = "\
Examples:
  machineadm token create --print-join-command
  machineadm token list
  machineadm token delete abcdef")]
    Token(Token),
    /// Copy the certificates of a control plane to further nodes
    #[command(after_help = "\
Examples:
  machineadm certs upload                   # on a control plane node; prints the certificate key
  machineadm certs download 10.0.0.10:6443 --token-file token \\
      --discovery-token-ca-cert-hash sha256:9f3a… --certificate-key-file key
  machineadm certs list")]
    Certs(Box<Certs>),
    /// List control plane nodes and remove a lost one
    #[command(after_help = "\
Examples:
  machineadm control-plane list             # on a control plane node
  machineadm control-plane remove cp3 --dry-run
  machineadm control-plane remove cp3")]
    ControlPlane(ControlPlane),
    /// Find a cluster and verify it
    #[command(after_help = "\
Examples:
  machineadm discover 10.0.0.10:6443 --token-file token \\
      --discovery-token-ca-cert-hash sha256:9f3a…
  machineadm discover cp-1 cp-2 cp-3 --token abcdef.0123456789abcdef \\
      --discovery-token-ca-cert-hash sha256:9f3a…
  machineadm discover --discovery-file https://example.com/cluster.yaml --store
  curl … | machineadm discover --discovery-file - -o kubeconfig
  machineadm discover --refresh             # update the stored cluster: new endpoint, new CA certificates

Pass either a token or --discovery-file; --token is the same as --discovery-token.
No request to the cluster contains the token or identifies this machine.")]
    Discover(Box<Discover>),
    /// Create cluster-info and the RBAC objects that joining needs
    #[command(after_help = "\
Examples:
  machineadm discovery-objects
  machineadm discovery-objects --server https://api.example.com:6443 \\
      --ca-file /etc/kubernetes/pki/ca.crt

Names and rules are those of kubeadm. Objects that exist and have the required rules are not changed.")]
    DiscoveryObjects(DiscoveryObjects),
    /// Write a commented starter configuration
    #[command(after_help = "\
Example:
  machineadm generate > node.yaml
  machineadm validate -f node.yaml")]
    Generate(Generate),
    /// Print the version
    Version(Version),
    /// Print a completion script for a shell
    #[command(after_help = "\
Example:
  machineadm completion bash > /etc/bash_completion.d/machineadm")]
    Completion(Completion),
    /// Print the help of a command
    #[command(after_help = "\
Examples:
  machineadm help
  machineadm help token create")]
    Help(Help),
}

#[derive(Debug, Default, Args)]
pub(crate) struct Bootstrap {
    /// Configuration file; may be repeated; `-` is standard input. Default: the saved configuration of an interrupted run,
    /// else /etc/machineadm/config.yaml
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// Restore or delete what earlier documents wrote and this configuration no longer names; only with --mode post
    #[arg(long)]
    pub(crate) prune: bool,
    /// Overwrite edits in the manifest of kube-apiserver that neither kubeadm nor machineadm made
    #[arg(long)]
    pub(crate) force: bool,
    /// Forget an interrupted command that this configuration no longer has; may be repeated
    #[arg(long, value_name = "COMMAND")]
    pub(crate) abandon: Vec<String>,
    /// Output format of the outcome
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
    #[command(flatten)]
    pub(crate) mode: ModeOption,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Plan {
    #[command(subcommand)]
    pub(crate) command: Option<PlanCommand>,
    /// Configuration file; may be repeated; `-` is standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    /// Exit with code 3 when there are changes
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Restore or delete what earlier documents wrote and this configuration no longer names; only with --mode post
    #[arg(long)]
    pub(crate) prune: bool,
    /// Overwrite edits in the manifest of kube-apiserver that neither kubeadm nor machineadm made
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not execute `unless` checks; such commands are shown as "not checked"
    #[arg(long)]
    pub(crate) no_commands: bool,
    /// Save the plan in a file, for review and `machineadm apply`; `-` is standard output. It holds the configuration:
    /// protect it like that. An existing file is replaced only if it is a saved plan
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<String>,
    #[command(flatten)]
    pub(crate) root: RootOption,
    #[command(flatten)]
    pub(crate) mode: ModeOption,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Print a saved plan
    #[command(after_help = "\
Example:
  machineadm plan show plan.json")]
    Show(PlanShow),
}

#[derive(Debug, Args)]
pub(crate) struct PlanShow {
    /// The file that `plan --out` wrote; `-` is standard input
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The file that `plan --out` wrote
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,
    /// Output format of the outcome
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// Configuration file, or a directory of *.yaml, *.yml and *.json files; may be repeated; `-` is standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Also fetch remote documents and decrypt encrypted ones, as bootstrap does
    #[arg(long)]
    pub(crate) expand: bool,
    /// Output format of the problems
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    /// Write an archive (tar.gz, mode 0600) that explains the last run offline; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub(crate) bundle: Option<String>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// KIND or KIND.field.field; default: list all kinds
    #[arg(value_name = "KIND[.FIELD]")]
    pub(crate) what: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Version {
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

#[derive(Debug, Args)]
pub(crate) struct Completion {
    /// Name of the shell
    pub(crate) shell: Shell,
}

/// For programs; without it, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Json,
    Yaml,
}

/// The mode, as typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArgument {
    Prepare,
    #[default]
    Provision,
    Post,
}

impl From<ModeArgument> for engine::Mode {
    fn from(argument: ModeArgument) -> Self {
        match argument {
            ModeArgument::Prepare => Self::Prepare,
            ModeArgument::Provision => Self::Provision,
            ModeArgument::Post => Self::Post,
        }
    }
}
