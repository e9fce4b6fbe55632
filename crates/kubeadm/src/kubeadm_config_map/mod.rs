//! The `kubeadm-config` ConfigMap, in which a cluster keeps its ClusterConfiguration: a pure edit of its data.
//! Keys that nobody knows survive, a ClusterStatus that newer versions left behind too, and an edit that changes
//! nothing leaves every byte alone. Getting and updating it, and trying again after a conflict, is the caller's part.
mod graft;

use crate::{
    aside::{Flag, Loss, Note},
    convert::{Converted, convert},
    decode::WrongValue,
    hub::{ClusterConfiguration, Documents},
    kind::Kind,
    read::decode_into,
    render,
    target::Target,
    version::{ApiVersion, GROUP},
};
use objects::yaml::{self, SyntaxError};
use serde_json::Value;
use std::collections::BTreeMap;

/// Its name, in the namespace kube-system.
pub const NAME: &str = "kubeadm-config";
/// The key of the ClusterConfiguration.
pub const CLUSTER_CONFIGURATION: &str = "ClusterConfiguration";
/// The key of the ClusterStatus, which kubeadm kept up to Kubernetes 1.21.
pub const CLUSTER_STATUS: &str = "ClusterStatus";

/// The first minor whose kubeadm neither reads nor writes ClusterStatus.
const WITHOUT_STATUS: u32 = 22;

/// What an edit made of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The data, complete; byte for byte the old one if nothing changed.
    pub data: BTreeMap<String, String>,
    /// Whether there is something to write.
    pub is_changed: bool,
    /// What the target's kubeadm can't be told.
    pub losses: Vec<Loss>,
    /// What is said in another way.
    pub notes: Vec<Note>,
}

/// Why the data can't be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Without it there is nothing to edit.
    #[error("the ConfigMap has no key {0}; is it kubeadm-config of the namespace kube-system?")]
    Missing(&'static str),
    /// It is no YAML.
    #[error("{key} cannot be read")]
    Syntax {
        /// The key.
        key: &'static str,
        /// Why.
        source: SyntaxError,
    },
    /// It is of no version that is known here.
    #[error("{key} has the unsupported apiVersion {api:?}; supported are kubeadm.k8s.io/v1beta1 to v1beta4 and v1")]
    UnknownVersion {
        /// The key.
        key: &'static str,
        /// What it says.
        api: String,
    },
    /// A value is of the wrong type.
    #[error("{key}.{path}: {message}")]
    WrongValue {
        /// The key.
        key: &'static str,
        /// The field's path.
        path: String,
        /// What is wrong.
        message: String,
    },
}

/// Changes the ClusterConfiguration for a target. Whatever its version was, it is written in the target's, but only
/// if something changed; the target's Kubernetes version is part of it, so an upgrade changes it for certain.
pub fn edit(
    data: &BTreeMap<String, String>,
    target: &Target,
    change: impl FnOnce(&mut ClusterConfiguration),
) -> Result<Edited, EditError> {
    const KEY: &str = CLUSTER_CONFIGURATION;
    let old = parse(data, KEY)?.ok_or(EditError::Missing(KEY))?;
    let mut documents = Documents::default();
    let unknown = decode_into(&mut documents, api_of(&old, KEY)?, Kind::ClusterConfiguration, &old)
        .map_err(|WrongValue { path, message }| EditError::WrongValue { key: KEY, path, message })?;
    let before = documents.cluster.unwrap_or_default();
    let mut after = before.clone();
    change(&mut after);
    if !is_release(after.kubernetes_version.as_deref(), target.release()) {
        after.kubernetes_version = Some(target.release().to_owned());
    }
    if after == before {
        return Ok(Edited { data: data.clone(), is_changed: false, losses: Vec::new(), notes: Vec::new() });
    }
    let converted = convert(&Documents { cluster: Some(after), ..Documents::default() }, target);
    let Converted { documents, losses, notes, .. } = for_the_map(converted);
    let mut new = documents.first().map(|document| document.value.clone()).unwrap_or_default();
    for path in &unknown {
        graft::graft(&old, &mut new, path);
    }
    let mut data = data.clone();
    data.insert(KEY.to_owned(), render::yaml(&new));
    Ok(Edited { data, is_changed: true, losses, notes })
}

/// Removes a node's API server from the ClusterStatus; from Kubernetes 1.22 on nobody reads it, so it is left alone.
pub fn remove_api_endpoint(
    data: &BTreeMap<String, String>,
    target: &Target,
    node: &str,
) -> Result<BTreeMap<String, String>, EditError> {
    let mut data = data.clone();
    if target.minor() < WITHOUT_STATUS
        && let Some(mut status) = parse(&data, CLUSTER_STATUS)?
        && let Some(endpoints) = status.get_mut("apiEndpoints").and_then(Value::as_object_mut)
        && endpoints.remove(node).is_some()
    {
        data.insert(CLUSTER_STATUS.to_owned(), render::yaml(&status));
    }
    Ok(data)
}

fn parse(data: &BTreeMap<String, String>, key: &'static str) -> Result<Option<Value>, EditError> {
    let Some(text) = data.get(key) else { return Ok(None) };
    yaml::value(text).map(Some).map_err(|source| EditError::Syntax { key, source })
}

fn api_of(document: &Value, key: &'static str) -> Result<ApiVersion, EditError> {
    let api = document["apiVersion"].as_str().unwrap_or_default();
    let known = api.strip_prefix(GROUP).and_then(|rest| ApiVersion::named(rest.strip_prefix('/')?));
    known.ok_or_else(|| EditError::UnknownVersion { key, api: api.to_owned() })
}

fn is_release(version: Option<&str>, release: &str) -> bool {
    version.is_some_and(|version| version.trim_start_matches('v') == release.trim_start_matches('v'))
}

/// The map holds one document and nobody runs kubeadm with our flags: what went into another document or a flag is lost.
fn for_the_map(mut converted: Converted) -> Converted {
    let lost = |path: &str, value: String| Loss {
        path: path.to_owned(),
        value,
        since_api: None,
        since_minor: None,
        until_minor: None,
        why: Some("kubeadm-config has no field for it in this version"),
    };
    converted.documents.retain(|document| document.kind == Kind::ClusterConfiguration);
    let said = |flag: &Flag| if flag.secret { flag.shown() } else { flag.argument() };
    converted.losses.extend(converted.flags.drain(..).map(|flag| lost(&flag.path, said(&flag))));
    let in_another_document =
        |note: &Note| note.now.as_ref().is_some_and(|now| !now.starts_with("ClusterConfiguration"));
    let moved: Vec<Note> = converted.notes.extract_if(.., |note| in_another_document(note)).collect();
    converted.losses.extend(moved.iter().map(|note| lost(&note.path, note.now.clone().unwrap_or_default())));
    converted
}

#[cfg(test)]
mod tests;
