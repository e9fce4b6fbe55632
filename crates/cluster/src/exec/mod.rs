//! Exec plugins: programs that return the credentials for an API server, started as kubectl starts them.
//!
//! A kubeconfig's `users[].user.exec` names the program. It reads `KUBERNETES_EXEC_INFO` and prints an ExecCredential,
//! of which a token or a client certificate is taken:
//! <https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>.
//! What it prints on standard output is a secret and is never shown.
mod credential;
mod process;

use crate::{Error, Result};
use jiff::Timestamp;
use objects::printable;
use secret::Secret;
use serde_json::{Value, json};
use std::{
    fmt,
    io::{self, IsTerminal},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

pub(crate) use credential::{Credential, bearer};

/// The kind of what goes in and what comes out.
const KIND: &str = "ExecCredential";
/// How long a plugin may run by itself, and with a user at the terminal.
const LIMIT: Duration = Duration::from_secs(60);
const INTERACTIVE_LIMIT: Duration = Duration::from_secs(300);

/// A program that returns credentials, as a kubeconfig describes it.
#[derive(Clone)]
pub struct ExecPlugin {
    pub(crate) api_version: &'static str,
    /// A path, or a name that is looked up in `PATH`.
    pub(crate) command: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, Secret<String>)>,
    pub(crate) install_hint: String,
    pub(crate) interactive_mode: InteractiveMode,
    /// The cluster, if `provideClusterInfo` asks for it.
    pub(crate) cluster: Option<Value>,
}

/// Whether a plugin may ask the user at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InteractiveMode {
    Never,
    IfAvailable,
    Always,
}

/// Why a plugin returned no credentials.
#[derive(Debug, thiserror::Error)]
pub enum ExecFault {
    /// It can't be started.
    #[error("cannot be started: {}{}", reason(*.kind), lines(.hint))]
    Start {
        /// What the system reports.
        kind: io::ErrorKind,
        /// What the kubeconfig says about installing it.
        hint: String,
    },
    /// It needs a terminal.
    #[error("needs a terminal on standard input (interactiveMode: Always)")]
    NoTerminal,
    /// It takes too long.
    #[error("did not finish within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It reports a failure.
    #[error("failed: {0}")]
    Failed(std::process::ExitStatus),
    /// It prints too much.
    #[error("printed more than 1 MiB")]
    TooLarge,
    /// It prints something else. The output is not quoted.
    #[error("returned an invalid ExecCredential: {0}")]
    Invalid(&'static str),
    /// Its credentials are of no use any more.
    #[error("returned credentials that have expired")]
    Expired,
}

impl ExecPlugin {
    /// Runs the plugin. Lines that it prints on standard error go to `show`, unless it talks to the user itself.
    pub(crate) fn run(&self, show: &mut dyn FnMut(&str)) -> Result<Credential> {
        let credential = self.output(show).and_then(|output| self.credential(&output));
        credential.map_err(|fault| Error::Exec { command: self.shown(), fault })
    }

    fn output(&self, show: &mut dyn FnMut(&str)) -> Result<process::Output, ExecFault> {
        let is_interactive = self.is_interactive(io::stdin().is_terminal())?;
        let mut command = Command::new(&self.command);
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value.expose())));
        command.env("KUBERNETES_EXEC_INFO", self.info(is_interactive).to_string());
        let limit = if is_interactive {
            command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
            INTERACTIVE_LIMIT
        } else {
            command.stdin(Stdio::null()).stderr(Stdio::piped());
            LIMIT
        };
        let child = command.stdout(Stdio::piped()).spawn();
        let child = child.map_err(|error| ExecFault::Start { kind: error.kind(), hint: self.install_hint.clone() })?;
        process::output(child, limit, show)
    }

    fn credential(&self, output: &process::Output) -> Result<Credential, ExecFault> {
        match output.status.success() {
            true => credential::read(&output.printed, self.api_version, Timestamp::now()),
            false => Err(ExecFault::Failed(output.status)),
        }
    }

    fn is_interactive(&self, has_terminal: bool) -> Result<bool, ExecFault> {
        match self.interactive_mode {
            InteractiveMode::Never => Ok(false),
            InteractiveMode::IfAvailable => Ok(has_terminal),
            InteractiveMode::Always if has_terminal => Ok(true),
            InteractiveMode::Always => Err(ExecFault::NoTerminal),
        }
    }

    /// What the plugin is told.
    fn info(&self, is_interactive: bool) -> Value {
        let mut spec = json!({"interactive": is_interactive});
        if let Some(cluster) = &self.cluster {
            spec["cluster"] = cluster.clone();
        }
        json!({"apiVersion": self.api_version, "kind": KIND, "spec": spec})
    }

    fn shown(&self) -> String {
        printable(&self.command.to_string_lossy(), 200)
    }
}

/// Arguments may be secret.
impl fmt::Debug for ExecPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecPlugin").field("command", &self.command).finish_non_exhaustive()
    }
}

fn reason(kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::NotFound => "no such program".to_owned(),
        other => other.to_string(),
    }
}

/// A text of the kubeconfig, on lines of its own.
fn lines(text: &str) -> String {
    text.lines().map(|line| format!("\n  {}", printable(line, 500))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(script: &str) -> ExecPlugin {
        ExecPlugin {
            api_version: "client.authentication.k8s.io/v1",
            command: "sh".into(),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: vec![("TOKEN".to_owned(), Secret::new("t.1".to_owned()))],
            install_hint: String::new(),
            interactive_mode: InteractiveMode::Never,
            cluster: Some(json!({"server": "https://h"})),
        }
    }

    #[test]
    fn a_plugin_is_told_the_cluster_and_its_token_becomes_the_header() {
        let script = r#"echo "hello" >&2; printf '\033[2J\n' >&2
            case "$KUBERNETES_EXEC_INFO" in
            *'"cluster":{"server":"https://h"}'*'"interactive":false'*) ;;
            *) exit 3 ;;
            esac
            echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$TOKEN'"}}'"#;
        let mut shown = Vec::new();
        let found = plugin(script).run(&mut |line| shown.push(line.to_owned())).expect("credentials");
        assert_eq!(found.authorization.expect("a token").expose(), "Bearer t.1");
        assert_eq!(shown, ["hello", "\\x1b[2J"]);
    }

    #[test]
    fn a_plugin_that_fails_or_is_missing_is_named_and_its_output_is_not() {
        let error = plugin("echo hunter2; exit 3").run(&mut |_| {}).expect_err("it fails").to_string();
        assert_eq!(error, "the exec plugin sh failed: exit status: 3");
        let error = plugin("echo hunter2").run(&mut |_| {}).expect_err("it is invalid");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        let missing = ExecPlugin {
            command: "/nonexistent/aws".into(),
            install_hint: "install\u{1b} it\nfirst".to_owned(),
            ..plugin("")
        };
        let error = missing.run(&mut |_| {}).expect_err("it is missing").to_string();
        assert_eq!(
            error,
            "the exec plugin /nonexistent/aws cannot be started: no such program\n  install\u{fffd} it\n  first"
        );
    }

    #[test]
    fn a_terminal_is_used_as_the_mode_says() {
        let is_interactive = |interactive_mode, has_terminal| {
            ExecPlugin { interactive_mode, ..plugin("") }.is_interactive(has_terminal).ok()
        };
        for (mode, with, without) in [
            (InteractiveMode::Never, Some(false), Some(false)),
            (InteractiveMode::IfAvailable, Some(true), Some(false)),
            (InteractiveMode::Always, Some(true), None),
        ] {
            assert_eq!((is_interactive(mode, true), is_interactive(mode, false)), (with, without), "{mode:?}");
        }
    }
}
