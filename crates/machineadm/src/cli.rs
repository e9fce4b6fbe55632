//! The command line, as one tree; completions, man pages and `--help` derive from it.
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use crate::command::{
    config::arguments::Config, discover::arguments::Discover, discovery_objects::DiscoveryObjects,
    token::arguments::Token,
};
use crate::show::log::Settings;
use documents::{
    limits,
    v1alpha1::{parse_duration, parse_time},
};
use jiff::Timestamp;
use std::{path::PathBuf, time::Duration};

/// Makes a machine a Kubernetes node: reads its configuration, shows what it would do, does it, and tells what happened.
#[derive(Debug, Parser)]
#[command(name = "machineadm", version, after_help = EXAMPLES, term_width = HELP_WIDTH, disable_help_subcommand = true)]
pub struct Cli {
    /// Bootstrap this machine; the specified call, the same as `machineadm bootstrap -f FILE`
    #[arg(long, requires = "path")]
    pub(crate) bootstrap: bool,
    /// The configuration for --bootstrap; `-` is standard input
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
const HELP_WIDTH: usize = 100;

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
  machineadm validate -f node.yaml          # everything that is wrong with it, at once
  machineadm plan -f node.yaml              # what would be changed
  machineadm bootstrap -f node.yaml         # change it
  machineadm status                         # what happened
  machineadm --bootstrap --path node.yaml   # as boot tools call it

Exit codes: 0 done or nothing to do, 1 failed, 2 invalid input and nothing changed, 3 changes found (plan --exit-code),
4 another run holds the lock, 5 done but a reboot is needed, 6 manual action required.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make this machine what its configuration says
    #[command(after_help = "\
Examples:
  machineadm bootstrap -f node.yaml
  machineadm bootstrap -f base.yaml -f node.yaml
  machineadm bootstrap                      # continue an interrupted run
  machineadm bootstrap -f node.yaml --mode post --prune

Documents are processed in their order. Mode prepare stops before InitConfig; post runs no commands.")]
    Bootstrap(Bootstrap),
    /// Show what bootstrap would change, and change nothing
    #[command(after_help = "\
Examples:
  machineadm plan -f node.yaml
  machineadm plan -f node.yaml --exit-code  # 3 when there is something to do
  machineadm plan -f node.yaml --out plan.json
  machineadm plan show plan.json            # print the saved plan
  machineadm apply plan.json                # apply exactly that
  machineadm plan -f node.yaml --mode post  # also lists what no document names any more

Nothing is changed. The `unless` of a command is executed, once, to see whether the command has been done;
--no-commands leaves that out. A server that does not answer is asked for a few seconds.")]
    Plan(Plan),
    /// Do exactly what a reviewed plan says, or refuse because the machine has changed since
    #[command(after_help = "\
Example:
  machineadm plan -f node.yaml --out plan.json
  machineadm apply plan.json

A plan that has been applied already is no error: nothing is done.")]
    Apply(Apply),
    /// List everything that is wrong with a configuration
    #[command(after_help = "\
Examples:
  machineadm validate -f node.yaml
  machineadm validate -f node.yaml --expand # also fetch and decrypt, and check the result
  generate-config | machineadm validate -f - -o json")]
    Validate(Validate),
    /// Seal documents with a passphrase, so that only who has it can read them
    #[command(after_help = "\
Examples:
  machineadm encrypt --passphrase-uri file:///etc/machineadm/passphrase -f secrets.yaml >> node.yaml
  machineadm encrypt --passphrase-uri file:///etc/machineadm/passphrase -f secrets.yaml \\
      --for-hostname node-7 --valid-for 24h
  machineadm encrypt --provider descriptor --passphrase-uri fd:3 -f secrets.yaml 3< passphrase

The passphrase is read now from where it is on the machine later: the same file, descriptor or https place.
Each sealing has a new salt and a new initialization vector.")]
    Encrypt(Box<Encrypt>),
    /// Open sealed documents and print them
    #[command(after_help = "\
Example:
  machineadm decrypt -f node.yaml           # the documents of every EncryptedConfig in it")]
    Decrypt(Decrypt),
    /// Tell what the last run did, and where it stopped
    #[command(after_help = "\
Examples:
  machineadm status
  machineadm status -o json | jq .failure

Exit code 0: the last run succeeded, or one is at work; 1: it failed or was interrupted, or there was none.")]
    Status(Status),
    /// Explain a document kind or one of its fields
    #[command(after_help = "\
Examples:
  machineadm explain
  machineadm explain FilesConfig
  machineadm explain FilesConfig.spec.files.mode")]
    Explain(Explain),
    /// Convert, check and edit kubeadm's configuration files
    #[command(
        subcommand,
        after_help = "\
Examples:
  machineadm config convert --kubernetes-version 1.36.4 -f kubeadm.yaml
  machineadm config validate -f kubeadm.yaml"
    )]
    Config(Config),
    /// Make, list and delete the bootstrap tokens of a cluster
    #[command(after_help = "\
Examples:
  machineadm token create --print-join-command
  machineadm token list
  machineadm token delete abcdef")]
    Token(Token),
    /// Find a cluster, prove that it is the right one, and say how
    #[command(after_help = "\
Examples:
  machineadm discover 10.0.0.10:6443 --token-file token \\
      --discovery-token-ca-cert-hash sha256:9f3a…
  machineadm discover cp-1 cp-2 cp-3 --token abcdef.0123456789abcdef \\
      --discovery-token-ca-cert-hash sha256:9f3a…
  machineadm discover --discovery-file https://example.com/cluster.yaml --store
  curl … | machineadm discover --discovery-file - -o kubeconfig
  machineadm discover --refresh             # has the cluster moved, or changed its roots?

Only one of a token and --discovery-file can be given; --token counts as --discovery-token.
Nothing is sent to the cluster that would identify this machine or tell the token.")]
    Discover(Box<Discover>),
    /// Make what a cluster needs so that machines can discover and join it: cluster-info, roles and bindings
    #[command(after_help = "\
Examples:
  machineadm discovery-objects
  machineadm discovery-objects --server https://api.example.com:6443 \\
      --ca-file /etc/kubernetes/pki/ca.crt

Names and rules are kubeadm's. What is there already and right is left alone.")]
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
    /// The configuration; may be repeated; `-` is standard input. Without it: that of an interrupted run
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// Restore or delete what earlier documents wrote and this configuration no longer names; only with --mode post
    #[arg(long)]
    pub(crate) prune: bool,
    /// Forget a command that was interrupted and that this configuration no longer has; may be repeated
    #[arg(long, value_name = "COMMAND")]
    pub(crate) abandon: Vec<String>,
    /// How to print the outcome
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
    /// The configuration; may be repeated; `-` is standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// How to print it
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    /// End with exit code 3 when there is something to do
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Restore or delete what earlier documents wrote and this configuration no longer names; only with --mode post
    #[arg(long)]
    pub(crate) prune: bool,
    /// Do not execute any `unless`; such commands show as "not checked"
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
    /// How to print it
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
    /// How to print the outcome
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The configuration; may be repeated; `-` is standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Also fetch and open what the configuration points to and seals, as bootstrap would
    #[arg(long)]
    pub(crate) expand: bool,
    /// How to print the problems
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

#[derive(Debug, Args)]
pub(crate) struct Encrypt {
    /// The documents to seal; may be repeated; `-` is standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Who fetches the passphrase: file, descriptor or https
    #[arg(long, value_name = "NAME", default_value = "file")]
    pub(crate) provider: String,
    /// Where the passphrase is: file:///PATH, fd:N or https://HOST/PATH
    #[arg(long, value_name = "URI")]
    pub(crate) passphrase_uri: String,
    /// Certificates in PEM that alone may vouch for the server of the passphrase; the EncryptedConfig names them too
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate_authority: Option<String>,
    /// Rounds of the key's derivation
    #[arg(long, value_name = "N", default_value_t = limits::ROUNDS_DEFAULT,
        value_parser = clap::value_parser!(u32).range(i64::from(limits::ROUNDS_FEWEST)..=i64::from(limits::ROUNDS_MOST)))]
    pub(crate) iterations: u32,
    /// Only for the machine of this host name; may be repeated, and any of the --for options is enough
    #[arg(long, value_name = "NAME")]
    pub(crate) for_hostname: Vec<String>,
    /// Only for the machine with this /etc/machine-id; may be repeated
    #[arg(long, value_name = "ID")]
    pub(crate) for_machine_id: Vec<String>,
    /// Only for the machine with this /sys/class/dmi/id/product_uuid; may be repeated
    #[arg(long, value_name = "UUID")]
    pub(crate) for_product_uuid: Vec<String>,
    /// Until when the documents hold, such as 2026-11-17T08:00:00Z
    #[arg(long, value_name = "TIME", conflicts_with = "valid_for", value_parser = parse_time)]
    pub(crate) not_after: Option<Timestamp>,
    /// For how long from now on the documents hold, such as 24h
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) valid_for: Option<Duration>,
    /// How old the documents may be when they are opened, such as 24h
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) max_age: Option<Duration>,
    /// The name of the EncryptedConfig
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Decrypt {
    /// A file with an EncryptedConfig; may be repeated; `-` is standard input; a TrustBundleConfig or ProxyConfig before
    /// it counts for its passphrase
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// How to print it
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// KIND or KIND.field.field; without it, all kinds
    #[arg(value_name = "KIND[.FIELD]")]
    pub(crate) what: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Version {
    /// How to print it
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

#[derive(Debug, Args)]
pub(crate) struct Completion {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The Kubernetes version of the new cluster
    #[arg(long, value_name = "VERSION", default_value = "v1.36.4")]
    pub(crate) kubernetes_version: String,
}

#[derive(Debug, Args)]
pub(crate) struct Help {
    /// The command; without it, all commands
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
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
