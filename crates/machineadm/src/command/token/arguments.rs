//! What people type after `machineadm token`.
use crate::cli::Output;
use clap::{
    Arg, ArgAction, Args, Command, Subcommand,
    builder::{OsStringValueParser, TypedValueParser},
};
use cluster::Effect;
use std::path::PathBuf;

/// kubeadm takes all but the action before and after the word that names the action.
#[derive(Debug, Args)]
pub(crate) struct Token {
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(flatten)]
    trial: Trial,
    #[command(subcommand)]
    pub(crate) action: Action,
}

impl Token {
    /// What shall come of it on the cluster.
    pub(super) const fn effect(&self) -> Effect {
        if self.trial.dry_run { Effect::DryRun } else { Effect::Real }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Create a token on the cluster and print it
    #[command(after_help = "\
Examples:
  machineadm token create
  machineadm token create --print-join-command
  machineadm token create --usages signing --ttl 2h --description 'discovery only'
  TOKEN=$(machineadm token create)          # standard output holds the token alone
  machineadm token create -o json | jq -r .expires

A token for authentication lets anyone who has it join the cluster as a node until it expires, and a node can read the
Secrets of its pods. Delete a token that is no longer needed with `machineadm token delete`.

An id that exists is refused, with --config before any token is created, unless the existing token is identical and
expires at most a tenth of the TTL, and at most ten minutes, earlier than a new one. A token that never expires, or at a
time set in --config, may be of any age.")]
    Create(Box<Create>),
    /// List the tokens of the cluster
    #[command(args = without_effect::<Trial>(), after_help = "\
Examples:
  machineadm token list
  machineadm token list -o json | jq -r .token
  machineadm token list -o 'jsonpath={.token}{\"\\n\"}'

It prints what `kubeadm token list` prints. Secrets that are not valid tokens are listed on standard error.")]
    List(List),
    /// Delete tokens by id or by the full token
    #[command(after_help = "\
Examples:
  machineadm token delete abcdef
  machineadm token delete abcdef 012345 abcdef.0123456789abcdef

A full token is deleted only if its secret half matches. A token that does not exist is not an error.")]
    Delete(Delete),
    /// Print a new random token without contacting a cluster
    #[command(args = without_effect::<Connection>(), args = without_effect::<Trial>(), after_help = "\
Example:
  machineadm token generate")]
    Generate(Generate),
}

/// Whether the cluster is changed.
#[derive(Debug, Args)]
struct Trial {
    /// Let the API server check the request, and change nothing
    #[arg(long, value_name = "BOOL", global = true, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    dry_run: bool,
}

/// Arguments that a command accepts, since kubeadm does, and that have no effect on it.
pub(crate) fn without_effect<A: Args>() -> Vec<Arg> {
    let all = A::augment_args(Command::new("token"));
    all.get_arguments().map(|argument| argument.clone().hide(true)).collect()
}

#[derive(Debug, Args)]
pub(crate) struct Connection {
    /// The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is
    /// not set, ~/.kube/config, then /etc/kubernetes/admin.conf
    #[arg(long, value_name = "FILE", global = true, value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig to use. Default: its current-context
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) context: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The token to create, `id.secret`, or `-` to read it from standard input. Default: a random token
    #[arg(value_name = "TOKEN", conflicts_with = "config")]
    pub(crate) token: Option<String>,
    /// What the token may be used for
    #[arg(long, value_name = "USAGES", value_delimiter = ',', default_value = "signing,authentication")]
    pub(crate) usages: Vec<String>,
    /// Time until the token expires, such as 2h30m; 0 is never
    #[arg(long, value_name = "DURATION", default_value = "24h0m0s", allow_hyphen_values = true)]
    pub(crate) ttl: String,
    /// A description of what the token is for
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) description: String,
    /// Groups of clients that authenticate with the token. Default: kubeadm's group for nodes
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    pub(crate) groups: Option<Vec<String>>,
    /// Print the kubeadm join command instead of the token
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) print_join_command: bool,
    /// The certificate key for the join command of a control plane node
    #[arg(long, value_name = "KEY", default_value = "", hide_default_value = true)]
    pub(crate) certificate_key: String,
    /// Create the tokens of an InitConfiguration; a random one if it has none
    #[arg(long, value_name = "FILE", conflicts_with_all = ["usages", "ttl", "description", "groups"])]
    pub(crate) config: Option<String>,
    /// Output format of each token and its settings
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// text, json, yaml, or jsonpath=TEMPLATE
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: String,
    /// Missing fields are empty in a template; with =false they are an error
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) allow_missing_template_keys: bool,
    /// No effect: the output has no managed fields; accepted since kubeadm has it
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) show_managed_fields: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Token ids or full tokens
    #[arg(value_name = "ID|TOKEN", required = true)]
    pub(crate) tokens: Vec<String>,
    /// Output format of the result for each token
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        token: Token,
    }

    fn read(line: &str) -> Token {
        Line::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}")).token
    }

    #[test]
    fn a_switch_may_be_followed_by_its_value_as_with_kubeadm() {
        for (line, effect, prints) in [
            ("token create", Effect::Real, false),
            ("token --dry-run create", Effect::DryRun, false),
            ("token create --dry-run --print-join-command", Effect::DryRun, true),
            ("token --dry-run=true create --print-join-command=true", Effect::DryRun, true),
            ("token create --dry-run=false --print-join-command=false", Effect::Real, false),
            ("token --dry-run=false create --print-join-command abcdef.0123456789abcdef", Effect::Real, true),
        ] {
            let token = read(line);
            let Action::Create(create) = &token.action else { panic!("{line}: {token:?}") };
            assert_eq!((token.effect(), create.print_join_command), (effect, prints), "{line}");
        }
        assert!(Line::try_parse_from(["token", "create", "--dry-run=perhaps"]).is_err());
        assert!(matches!(read("token --dry-run delete abcdef").action, Action::Delete(_)));
    }

    #[test]
    fn commands_accept_what_has_no_effect_on_them_as_with_kubeadm() {
        for line in [
            "token generate --kubeconfig a --context b --dry-run",
            "token --kubeconfig a generate --context b --dry-run=true",
            "token --kubeconfig a --context b --dry-run generate",
            "token --kubeconfig a --dry-run list --context b",
            "token list --kubeconfig a --context b --dry-run",
        ] {
            let Token { connection: Connection { kubeconfig, context }, trial, .. } = read(line);
            assert_eq!((kubeconfig, context.as_deref()), (Some("a".into()), Some("b")), "{line}");
            assert!(trial.dry_run, "{line}");
        }
    }

    #[test]
    fn an_empty_kubeconfig_may_be_named() {
        for line in ["token --kubeconfig= list", "token list --kubeconfig=", "token list --kubeconfig "] {
            assert_eq!(read(line).connection.kubeconfig, Some(PathBuf::new()), "{line}");
        }
    }
}
