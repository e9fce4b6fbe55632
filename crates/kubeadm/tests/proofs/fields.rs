//! Every field of every kubeadm version is in our types: the list of all fields is walked, and a document that says
//! each of them is read strictly, and written again with each of them.
use crate::support::{leaves, target};
use machineadm_kubeadm::{Kind, Rules, Source, Strictness, convert, read};
use serde_json::{Map, Value, json};

const FIELDS: &str = include_str!("../vectors/kubeadm-fields.json");

/// A value of the type that the list names.
fn value_of(field: &Value) -> Value {
    match field["type"].as_str().expect("a type").trim_end_matches('?') {
        "string" => field["enum"][0].as_str().filter(|word| !word.is_empty()).unwrap_or("text").into(),
        "string(bootstrap-token)" => "abcdef.0123456789abcdef".into(),
        "bool" => true.into(),
        "int" | "int32" => 7.into(),
        "duration" => "7m0s".into(),
        "time" => "2035-01-02T03:04:05Z".into(),
        "quantity" => "1".into(),
        "list<string>" => json!(["text"]),
        "map<string,string>" => json!({"name": "text"}),
        "map<string,bool>" => json!({"RootlessControlPlane": true}),
        "object" | "list<object>" | "map<string,object>" => Value::Null,
        other => panic!("a type that the test does not know: {other}"),
    }
}

/// Puts a value at a path such as `a.b[].c` or `a{}.b`.
fn put(into: &mut Value, path: &str, value: Value) {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, step) = match (name.strip_suffix("[]"), name.strip_suffix("{}")) {
        (Some(name), _) => (name, "[]"),
        (_, Some(name)) => (name, "{}"),
        _ => (name, ""),
    };
    if into.is_null() {
        *into = Value::Object(Map::new());
    }
    let mut member = &mut into[name];
    member = match step {
        "[]" => {
            if member.is_null() {
                *member = json!([null]);
            }
            &mut member[0]
        }
        "{}" => {
            if member.is_null() {
                *member = json!({"node-1": null});
            }
            &mut member["node-1"]
        }
        _ => member,
    };
    if rest.is_empty() { *member = value } else { put(member, rest, value) }
}

/// The newest minor that reads a version: it knows all its fields.
fn newest_minor(api: &str) -> u32 {
    match api {
        "v1beta1" => 21,
        "v1beta2" => 26,
        "v1beta3" => 36,
        _ => 37,
    }
}

#[test]
fn every_field_of_every_version_is_read_and_written() {
    let list: Value = serde_json::from_str(FIELDS).expect("the list");
    let mut walked = 0;
    for (version, kinds) in list["versions"].as_object().expect("versions") {
        let api = machineadm_kubeadm::ApiVersion::named(version).expect("a spoke for each version");
        for (kind, listed) in kinds["kinds"].as_object().expect("kinds") {
            assert!(Kind::named(kind).is_some_and(|kind| kind.is_in(api)), "{version} {kind}");
            let mut document = json!({});
            for field in listed["fields"].as_array().expect("fields") {
                let (path, value) = (field["path"].as_str().expect("a path"), value_of(field));
                if !value.is_null() && !matches!(path, "apiVersion" | "kind") {
                    put(&mut document, path, value);
                }
                walked += 1;
            }
            document["apiVersion"] = api.to_string().into();
            document["kind"] = kind.as_str().into();
            if kind == "ClusterConfiguration" {
                document["kubernetesVersion"] = format!("v1.{}.0", newest_minor(version)).into();
                if version < &"v1beta3".to_owned() && version != "v1" {
                    document["featureGates"] = json!({});
                }
            }
            comes_back(&document, newest_minor(version), api, &format!("{version} {kind}"));
        }
    }
    assert_eq!(walked, 959);
}

/// Leaves of the document are leaves of what is written, and the other way round.
fn comes_back(document: &Value, minor: u32, api: machineadm_kubeadm::ApiVersion, name: &str) {
    let text = document.to_string();
    let read = read(&[Source { name, text: &text }], Rules { strictness: Strictness::Strict, minor: None });
    assert!(read.problems.is_empty(), "{name}: {:?}", read.problems);
    let converted = convert(&read.documents, &target(&text, minor, api));
    assert!(converted.losses.is_empty() && converted.flags.is_empty(), "{name}: {converted:?}");
    let written = converted.documents.iter().find(|written| written.value["kind"] == document["kind"]);
    let (mut ours, mut theirs) = (leaves(&written.expect("the document").value), leaves(document));
    ours.retain(|_, value| *value != json!({}));
    theirs.retain(|_, value| *value != json!({}));
    assert_eq!(ours, theirs, "{name}");
}
