//! What the tests over the vectors share: reading them, and comparing values.
use machineadm_kubeadm::{ApiVersion, Read, Rules, Source, Strictness, Target, parse_yaml, read};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::PathBuf};

/// A vector's name without its ending, and its text.
pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// All vectors of a folder with this ending.
pub(crate) fn vectors(folder: &str, ending: &str) -> Vec<Vector> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(folder);
    let files = fs::read_dir(&folder).expect("the vectors").map(|entry| entry.expect("a vector").path());
    let mut vectors: Vec<_> = files
        .filter_map(|file| {
            let name = file.file_name()?.to_str()?.strip_suffix(ending)?.to_owned();
            Some(Vector { name, text: fs::read_to_string(&file).expect("a vector's text") })
        })
        .collect();
    vectors.sort_by(|a, b| a.name.cmp(&b.name));
    vectors
}

/// The documents of a file, by kind.
pub(crate) fn documents(text: &str) -> BTreeMap<String, Value> {
    let pieces = text.split("\n---\n").map(|piece| parse_yaml(piece).expect("a vector is YAML"));
    pieces.map(|value| (value["kind"].as_str().expect("a kind").to_owned(), value)).collect()
}

/// Reads a vector as strictly as can be, whatever its version.
pub(crate) fn read_strictly(name: &str, text: &str) -> Read {
    let read = read(&[Source { name, text }], Rules { strictness: Strictness::Strict, minor: None });
    assert!(read.problems.is_empty(), "{name}: {:?}", read.problems);
    read
}

/// The target with this minor and API; its version is the one that the file names, so that nothing has to change.
pub(crate) fn target(text: &str, minor: u32, api: ApiVersion) -> Target {
    let named = text.lines().find_map(|line| line.strip_prefix("kubernetesVersion: "));
    let named = named.filter(|version| version.contains(&format!("1.{minor}.")));
    let version = named.map_or_else(|| format!("1.{minor}.0"), str::to_owned);
    Target::new(&version).expect("a version").with_api(api).expect("an API that it reads")
}

/// The value without members that say nothing; an empty list of taints says much.
pub(crate) fn pruned(value: &Value) -> Value {
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(members) => {
            let kept = members.iter().map(|(name, value)| (name.clone(), pruned(value)));
            Value::Object(kept.filter(|(name, value)| !says_nothing(value) || is_kept_empty(name, value)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(pruned).collect()),
        other => other.clone(),
    }
}

fn is_kept_empty(name: &str, value: &Value) -> bool {
    (name == "taints" && value.is_array()) || (name == "controlPlane" && value.is_object())
}

/// Every leaf by its path; elements of lists by their place.
pub(crate) fn leaves(value: &Value) -> BTreeMap<String, Value> {
    let mut leaves = BTreeMap::new();
    collect(value, String::new(), &mut leaves);
    leaves
}

fn collect(value: &Value, path: String, leaves: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(value, path, leaves);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                collect(value, format!("{path}[{index}]"), leaves);
            }
        }
        leaf => drop(leaves.insert(path, leaf.clone())),
    }
}

/// The paths at which two values differ.
pub(crate) fn differences(ours: &Value, theirs: &Value) -> Vec<String> {
    let (ours, theirs) = (leaves(&pruned(ours)), leaves(&pruned(theirs)));
    let all = ours.keys().chain(theirs.keys()).collect::<std::collections::BTreeSet<_>>();
    let differ = all.into_iter().filter(|path| ours.get(*path) != theirs.get(*path));
    differ.map(|path| format!("{path}: ours {:?}, theirs {:?}", ours.get(path), theirs.get(path))).collect()
}

/// `v1beta3` of `full_v1beta3_init-local-etcd_k136`.
pub(crate) fn api_of(name: &str) -> ApiVersion {
    ApiVersion::named(name.split('_').nth(1).expect("a version")).expect("a known version")
}

/// 36 of `full_v1beta3_init-local-etcd_k136`.
pub(crate) fn minor_of(name: &str) -> u32 {
    name.rsplit("_k1").next().expect("a minor").parse().expect("a minor")
}
