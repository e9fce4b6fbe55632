//! Random documents, made from the list of all fields: each pick sets one field to one of the values that matter.
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::LazyLock};

const FIELDS: &str = include_str!("../vectors/kubeadm-fields.json");

/// A field that may be set: its path, and what it may be set to.
struct Choice {
    path: String,
    values: Vec<Value>,
}

/// What may be set, by version and kind; `hub` is v1 with the old words.
static CHOICES: LazyLock<BTreeMap<(String, String), Vec<Choice>>> = LazyLock::new(|| {
    let list: Value = serde_json::from_str(FIELDS).expect("the list");
    let mut choices = BTreeMap::new();
    for (version, kinds) in list["versions"].as_object().expect("versions") {
        for (kind, listed) in kinds["kinds"].as_object().expect("kinds") {
            let fields = listed["fields"].as_array().expect("fields");
            let of_kind: Vec<Choice> = fields.iter().filter_map(choice).collect();
            choices.insert((version.clone(), kind.clone()), of_kind);
        }
    }
    for kind in ["ClusterConfiguration", "InitConfiguration", "JoinConfiguration", "ResetConfiguration"] {
        let fields = list["versions"]["v1"]["kinds"][kind]["fields"].as_array().expect("fields");
        choices.insert(("hub".to_owned(), kind.to_owned()), fields.iter().filter_map(choice).collect());
    }
    let upgrade = list["versions"]["v1"]["kinds"]["UpgradeConfiguration"]["fields"].as_array().expect("fields");
    choices.insert(("hub".to_owned(), "UpgradeConfiguration".to_owned()), upgrade.iter().filter_map(choice).collect());
    let old = [
        ("apiServer.timeoutForControlPlane", durations()),
        ("dns.type", vec![json!("CoreDNS"), json!("kube-dns")]),
        ("useHyperKubeImage", vec![json!(true), json!(false)]),
    ];
    let hub = choices.get_mut(&("hub".to_owned(), "ClusterConfiguration".to_owned())).expect("the hub");
    hub.extend(old.map(|(path, values)| Choice { path: path.to_owned(), values }));
    choices
});

fn durations() -> Vec<Value> {
    ["0s", "1m0s", "2m0s", "4m0s", "5m0s", "7m0s", "8760h0m0s", "87600h0m0s"].map(Value::from).to_vec()
}

fn choice(field: &Value) -> Option<Choice> {
    let path = field["path"].as_str().expect("a path").to_owned();
    if matches!(path.as_str(), "kind" | "apiVersion" | "kubernetesVersion") {
        return None;
    }
    let words = |words: &[&str]| words.iter().map(|word| Value::from(*word)).collect();
    let values = match field["type"].as_str().expect("a type").trim_end_matches('?') {
        "string" if path.ends_with("extraArgs[].name") || path.ends_with("ExtraArgs[].name") => {
            words(&["b-arg", "a-arg", "c-arg"])
        }
        "string" if field["enum"].is_array() => {
            let mut values = field["enum"].as_array().cloned().unwrap_or_default();
            values.retain(|word| word != "");
            values.extend(field["enum_removed"].as_object().into_iter().flat_map(|old| old.keys()).map(|w| json!(w)));
            values
        }
        "string" => words(&["text", "on", "0x1F", "- a: b", "two\nlines", "ünïcödé \u{2028}\u{7f}\t\"\\"]),
        "string(bootstrap-token)" => words(&["abcdef.0123456789abcdef"]),
        "bool" => vec![json!(true), json!(false)],
        "int" | "int32" => vec![json!(0), json!(6443)],
        "duration" => durations(),
        "time" => words(&["2035-01-02T03:04:05Z"]),
        "quantity" => words(&["1", "250m"]),
        "list<string>" => vec![json!(["text"]), json!(["b", "a", "b"]), json!(["addon/coredns", "on"])],
        "map<string,string>" => vec![json!({"a-arg": "on"}), json!({"b-arg": "", "a-arg": "1"})],
        "map<string,bool>" => vec![
            json!({"PublicKeysECDSA": true}),
            json!({"PublicKeysECDSA": false, "RootlessControlPlane": true}),
            json!({"EtcdLearnerMode": true, "IPv6DualStack": false}),
        ],
        "object" if field["type"] == "object?" || path == "timeouts" => vec![json!({})],
        "list<object>" if path == "nodeRegistration.taints" => vec![json!([])],
        _ => return None,
    };
    Some(Choice { path, values })
}

/// Which field, which value, which element of a list.
pub(crate) type Pick = (u16, u8, bool);

/// So many picks at most.
pub(crate) fn picks(most: usize) -> impl Strategy<Value = Vec<Pick>> {
    prop::collection::vec(any::<Pick>(), 0..most)
}

/// The document that the picks make, without apiVersion and kind.
pub(crate) fn document(version: &str, kind: &str, picks: &[Pick]) -> Value {
    let choices = &CHOICES[&(version.to_owned(), kind.to_owned())];
    let mut document = json!({});
    for (field, value, second) in picks {
        let Choice { path, values } = &choices[usize::from(*field) % choices.len()];
        let value = &values[usize::from(*value) % values.len()];
        // An empty mapping or list must not undo what an earlier pick has put into it.
        put(&mut document, path, value, usize::from(*second));
    }
    fill_lists(&mut document);
    document
}

fn put(into: &mut Value, path: &str, value: &Value, element: usize) {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    let (name, is_list, is_map) = match (name.strip_suffix("[]"), name.strip_suffix("{}")) {
        (Some(name), _) => (name, true, false),
        (_, Some(name)) => (name, false, true),
        _ => (name, false, false),
    };
    let mut member = &mut into[name];
    if is_list {
        if !member.is_array() {
            *member = json!([]);
        }
        let items = member.as_array_mut().expect("a list");
        while items.len() <= element {
            items.push(json!({}));
        }
        member = &mut items[element];
    } else if is_map {
        member = &mut member[["node-1", "node-2"][element]];
    }
    let is_empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
    if !rest.is_empty() {
        put(member, rest, value, element);
    } else if !is_empty || member.is_null() {
        *member = value.clone();
    }
}

/// Arguments need a name and a value, or the shape that holds them by name could not tell them apart from nothing.
fn fill_lists(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if name.ends_with("xtraArgs")
                    && let Value::Array(arguments) = member
                {
                    for argument in arguments {
                        let name = argument["name"].as_str().unwrap_or("a-arg").to_owned();
                        argument["name"] = name.into();
                        let value = argument["value"].as_str().unwrap_or_default().to_owned();
                        argument["value"] = value.into();
                    }
                } else {
                    fill_lists(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(fill_lists),
        _ => {}
    }
}
