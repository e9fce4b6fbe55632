//! The member `exec` of a user: the plugin that returns its credentials.
use super::reader::{Reader, at};
use crate::exec::{ExecPlugin, InteractiveMode};
use base64::{Engine, engine::general_purpose::STANDARD};
use objects::kubeconfig::Entry;
use secret::Secret;
use serde::Deserialize;
use serde_json::{Map, Value};

const V1: &str = "client.authentication.k8s.io/v1";
const V1BETA1: &str = "client.authentication.k8s.io/v1beta1";
/// The extension of a cluster that a plugin gets as `config`.
const EXTENSION: &str = "client.authentication.k8s.io/exec";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    api_version: Option<String>,
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<Vec<Variable>>,
    install_hint: Option<String>,
    #[serde(default)]
    provide_cluster_info: Option<bool>,
    interactive_mode: Option<String>,
}

#[derive(Deserialize)]
struct Variable {
    name: String,
    #[serde(default)]
    value: Secret<String>,
}

/// A plugin, and whether it wants to be told the cluster.
pub(super) struct Configured {
    pub(super) plugin: ExecPlugin,
    pub(super) wants_cluster: bool,
}

impl Reader<'_> {
    /// The plugin of a user, if it has one.
    pub(super) fn exec(&mut self, user: &Entry<'_>) -> Option<Configured> {
        let value = user.members.get("exec").filter(|value| !value.is_null())?;
        // What the parser says could quote a value.
        let Ok(given) = Given::deserialize(value) else {
            return self.problem(&at(user, "exec"), "has a member of an invalid type");
        };
        let api_version = self.api_version(user, given.api_version.as_deref());
        let interactive_mode = self.interactive_mode(user, api_version, given.interactive_mode.as_deref());
        let command = given.command.filter(|command| !command.is_empty());
        let Some(command) = command else { return self.problem(&at(user, "exec.command"), "is missing") };
        // As client-go: a path is relative to the kubeconfig, a name is looked up in PATH.
        let command = if command.contains('/') { self.base.join(command) } else { command.into() };
        let plugin = ExecPlugin {
            api_version: api_version?,
            command,
            args: given.args.unwrap_or_default(),
            env: given.env.unwrap_or_default().into_iter().map(|Variable { name, value }| (name, value)).collect(),
            install_hint: given.install_hint.unwrap_or_default(),
            interactive_mode: interactive_mode?,
            cluster: None,
        };
        Some(Configured { plugin, wants_cluster: given.provide_cluster_info.unwrap_or_default() })
    }

    fn api_version(&mut self, user: &Entry<'_>, given: Option<&str>) -> Option<&'static str> {
        match given {
            Some(V1) => Some(V1),
            Some(V1BETA1) => Some(V1BETA1),
            _ => self.problem(&at(user, "exec.apiVersion"), &format!("must be {V1} or {V1BETA1}")),
        }
    }

    /// v1 requires it, v1beta1 has a default.
    fn interactive_mode(
        &mut self,
        user: &Entry<'_>,
        api_version: Option<&str>,
        given: Option<&str>,
    ) -> Option<InteractiveMode> {
        match given.unwrap_or_default() {
            "Never" => Some(InteractiveMode::Never),
            "IfAvailable" => Some(InteractiveMode::IfAvailable),
            "Always" => Some(InteractiveMode::Always),
            "" if api_version != Some(V1) => Some(InteractiveMode::IfAvailable),
            _ => self.problem(&at(user, "exec.interactiveMode"), "must be Never, IfAvailable or Always"),
        }
    }
}

/// The cluster as `KUBERNETES_EXEC_INFO` has it.
pub(super) fn info(cluster: &Entry<'_>, authorities: Option<&[u8]>) -> Value {
    let mut info = Map::new();
    for name in ["server", "tls-server-name", "proxy-url"] {
        if let Ok(Some(text)) = cluster.text(name) {
            info.insert(name.to_owned(), text.into());
        }
    }
    if let Some(pem) = authorities {
        info.insert("certificate-authority-data".to_owned(), STANDARD.encode(pem).into());
    }
    let mut extensions = cluster.members.get("extensions").and_then(Value::as_array).into_iter().flatten();
    if let Some(extension) = extensions.find(|extension| extension["name"] == EXTENSION) {
        info.insert("config".to_owned(), extension["extension"].clone());
    }
    info.into()
}
