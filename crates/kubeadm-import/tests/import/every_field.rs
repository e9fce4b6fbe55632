//! No field is passed over in silence: another value of it makes another document or another report.
use crate::hub::tree;
use kubeadm::{Kind, Read, Rules, Source, Strictness, hub::Documents};
use machineadm_kubeadm_import::{ImportedInit, ImportedJoin, init_config, join_config};
use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path};

/// Fields whose value is not shown, since it may be secret, since it stands beside one that is listed, or since these files
/// say the same in a skipped phase.
const NOT_SHOWN: [&str; 5] = [
    ".extraEnvs[0].value",
    ".extraEnvs[0].valueFrom",
    ".bootstrapTokens[1]",
    "].mergeMethod",
    ".cluster.proxy.disabled",
];

/// The rich files that the crate `kubeadm` is tested with, one of each API version and purpose.
#[test]
fn another_value_of_any_field_is_seen() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kubeadm/tests/vectors/synth");
    let (mut versions, mut tried, mut silent) = (BTreeSet::new(), 0, Vec::new());
    for entry in fs::read_dir(folder).expect("the vectors") {
        let path = entry.expect("a vector").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        if !name.starts_with("full_") || !(name.contains("_init") || name.contains("_join")) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a vector");
        let Read { documents, versions: found, .. } = read(&text);
        versions.extend(found.get(&Kind::InitConfiguration).or(found.get(&Kind::JoinConfiguration)).copied());
        let whole = serde_json::to_value(&documents).expect("the hub");
        let before = meaning(&whole).expect("the hub as it is");
        for leaf in leaves(&whole).into_iter().filter(|leaf| !NOT_SHOWN.iter().any(|hidden| leaf.path.contains(hidden)))
        {
            let mut changed = whole.clone();
            if let Some(value) = changed.pointer_mut(&leaf.pointer) {
                *value = leaf.other;
            }
            // Some values have no other one, such as a kind.
            let Some(after) = meaning(&changed) else { continue };
            tried += 1;
            if after == before {
                silent.push(format!("{name}: {}", leaf.path));
            }
        }
    }
    assert_eq!(silent, [""; 0]);
    assert_eq!(versions.len(), kubeadm::ApiVersion::ALL.len());
    assert!(tried > 600, "{tried}");
}

fn read(text: &str) -> Read {
    let rules = Rules { strictness: Strictness::Strict, minor: None };
    let read = kubeadm::read(&[Source { name: "a.yaml", text }], rules);
    assert!(!read.has_errors(), "{:?}", read.problems);
    read
}

/// Everything that the import says, secrets included; none if these are not kubeadm's documents.
fn meaning(documents: &Value) -> Option<String> {
    let Documents { cluster, init, join, .. } = serde_json::from_value(documents.clone()).ok()?;
    let mut text = String::new();
    if let Some(join) = join {
        let ImportedJoin { document, worker_patches, report } = join_config(join);
        text += &format!("{}{worker_patches:?}{report:?}", documents::write(None, &document).expose());
    }
    if init.is_some() || cluster.is_some() {
        let ImportedInit { document, report } = init_config(init, cluster, &[]);
        text += &format!("{}{report:?}", documents::write(None, &document).expose());
    }
    Some(text)
}

/// A value inside a tree.
struct Leaf {
    /// For people: `.init.nodeRegistration.taints[0].key`.
    path: String,
    /// As `Value::pointer` takes it.
    pointer: String,
    /// Another value of its type.
    other: Value,
}

fn leaves(tree: &Value) -> Vec<Leaf> {
    let below = |name: String, key: String, value: &Value| {
        let inside = leaves(value).into_iter();
        inside
            .map(|leaf| Leaf {
                path: format!("{name}{}", leaf.path),
                pointer: format!("/{key}{}", leaf.pointer),
                other: leaf.other,
            })
            .collect::<Vec<_>>()
    };
    match tree {
        Value::Object(members) => {
            members.iter().flat_map(|(key, value)| below(format!(".{key}"), key.clone(), value)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(at, value)| below(format!("[{at}]"), at.to_string(), value)).collect()
        }
        Value::Null => Vec::new(),
        leaf => vec![Leaf { path: String::new(), pointer: String::new(), other: other(leaf) }],
    }
}

fn other(value: &Value) -> Value {
    match value {
        Value::Bool(value) => Value::Bool(!value),
        Value::Number(number) => Value::from(number.as_i64().unwrap_or_default() + 1),
        // Another time, or whatever else the text is.
        Value::String(text) if text.ends_with('Z') => Value::from("2036-01-02T03:04:05Z"),
        Value::String(text) if text.parse::<objects::Duration>().is_ok() => Value::from("11m0s"),
        Value::String(text) => Value::from(format!("{text}x")),
        other => other.clone(),
    }
}

#[test]
fn a_leaf_has_a_path_and_another_value() {
    let leaves = leaves(&tree("{a: [{b: 1}, c], d: null}"));
    let found: Vec<_> = leaves.iter().map(|leaf| format!("{} {} {}", leaf.path, leaf.pointer, leaf.other)).collect();
    assert_eq!(found, [".a[0].b /a/0/b 2", ".a[1] /a/1 \"cx\""]);
}
