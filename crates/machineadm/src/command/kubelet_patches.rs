//! `--patches`: a directory of kubeadm's patches. Of a worker kubeadm patches the kubelet's configuration alone, and a
//! JoinConfig has a field for that.
use crate::{command::small_file, command_error::CommandError};
use documents::v1alpha1::Members;
use host::linux::input::Care;
use serde_json::Value;
use std::{fs, path::Path};

/// What kubeadm patches on a worker.
const KUBELET: &str = "kubeletconfiguration";
/// What it patches elsewhere, so that it ignores such files on a worker.
const OTHERS: [&str; 5] = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd", "corednsdeployment"];

/// The members that the patches of a directory set, in kubeadm's order: later files win.
pub(super) fn read(directory: &str) -> Result<Members, CommandError> {
    let unreadable = |error: std::io::Error| CommandError::invalid(format!("--patches {directory}: {error}"));
    let entries = fs::read_dir(directory).map_err(unreadable)?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(unreadable)?.file_name();
        names.push(name.into_string().map_err(|_| CommandError::invalid("--patches: a file name is not UTF-8"))?);
    }
    names.sort();
    let mut members = Value::Object(Members::new());
    for name in names {
        let path = Path::new(directory).join(&name).display().to_string();
        if let Some(patch) = patch(&name, &path)? {
            json_merge(&mut members, patch);
        }
    }
    match members {
        Value::Object(members) => Ok(members),
        _ => Ok(Members::new()),
    }
}

/// The content of a file, if it patches the kubelet's configuration.
fn patch(name: &str, path: &str) -> Result<Option<Value>, CommandError> {
    let invalid = |why: &str| Err(CommandError::invalid(format!("--patches: {path} {why}")));
    let stem = match name.rsplit_once('.') {
        Some((stem, "json" | "yaml")) => stem,
        // kubeadm ignores other files too.
        _ => return Ok(None),
    };
    if !stem.starts_with(KUBELET) {
        return match OTHERS.iter().any(|target| stem.starts_with(target)) {
            true => Ok(None),
            false => invalid("is for no target that kubeadm knows"),
        };
    }
    match stem.split_once('+').map(|(_, kind)| kind) {
        None | Some("strategic" | "merge") => {}
        Some("json") => return invalid("is a JSON patch: write it as a merge patch, kubeletconfiguration+merge.json"),
        Some(_) => return invalid("has an unknown patch type: use `strategic` or `merge`"),
    }
    let text = small_file::text(path, Care::Applying)?;
    match objects::yaml::value(&text) {
        Ok(value @ Value::Object(_)) => Ok(Some(value)),
        Ok(_) => invalid("must hold one object"),
        Err(_) => invalid("is neither JSON nor YAML"),
    }
}

/// RFC 7386. The kubelet's configuration has no lists that a strategic patch would merge otherwise.
fn json_merge(target: &mut Value, patch: Value) {
    let (Value::Object(target), Value::Object(patch)) = (&mut *target, &patch) else {
        *target = patch;
        return;
    };
    for (name, value) in patch {
        match value {
            Value::Null => _ = target.remove(name),
            value => json_merge(target.entry(name.clone()).or_insert(Value::Null), value.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        directory
    }

    fn read_all(files: &[(&str, &str)]) -> Result<Value, CommandError> {
        let directory = directory(files);
        read(directory.path().to_str().unwrap()).map(Value::Object)
    }

    #[test]
    fn patches_of_the_kubelet_are_merged_in_order_and_others_are_not_for_a_worker() {
        let files = [
            ("kubeletconfiguration0.yaml", "maxPods: 9\nevictionHard: {memory.available: 1Gi, a: b}\n"),
            ("kubeletconfiguration1+merge.json", r#"{"evictionHard": {"a": null}, "maxPods": 10}"#),
            ("kube-apiserver+json.yaml", "[]"),
            ("README.md", "text"),
        ];
        assert_eq!(read_all(&files).unwrap(), json!({"maxPods": 10, "evictionHard": {"memory.available": "1Gi"}}));
    }

    #[test]
    fn what_cannot_be_taken_over_is_refused() {
        for (name, text) in [
            ("kubeletconfiguration+json.yaml", "[]"),
            ("kubeletconfiguration+other.yaml", "{}"),
            ("kubelet.yaml", "{}"),
            ("kubeletconfiguration.yaml", "- a"),
            ("kubeletconfiguration.json", "{"),
        ] {
            assert!(read_all(&[(name, text)]).is_err(), "{name}");
        }
    }
}
