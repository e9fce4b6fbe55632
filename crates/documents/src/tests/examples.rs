//! Every kind's example is a document that anybody can copy, and the schema agrees with the reader.
use crate::{
    KINDS, json_schema, read,
    testing::{kinds_of_one_file, parsed, read_text, source},
    tree::{Node, Value},
};
use serde_json::json;
use std::collections::BTreeSet;

/// A document as JSON, so that a test can change it.
pub(super) fn as_json(yaml: &str) -> serde_json::Value {
    fn convert(node: &Node) -> serde_json::Value {
        match &node.value {
            Value::Scalar { text, plain: true } if text.parse::<i64>().is_ok() => json!(text.parse::<i64>().unwrap()),
            Value::Scalar { text, plain: true } if text.parse::<bool>().is_ok() => json!(text.parse::<bool>().unwrap()),
            Value::Scalar { text, .. } => json!(text.as_str()),
            Value::Sequence(items) => items.iter().map(convert).collect(),
            Value::Mapping(entries) => entries.iter().map(|(key, node)| ((*key.text).clone(), convert(node))).collect(),
        }
    }
    convert(&parsed(yaml))
}

#[test]
fn every_example_is_read_without_a_note() {
    for kind in KINDS {
        let read = read_text(kind.example);
        // Its only note is where it belongs.
        let notes = usize::from(kind.kind == "ScopeConfig");
        assert!(read.report.notes.len() == notes && !read.report.has_errors(), "{}", read.report);
        assert_eq!(read.documents[0].kind, kind.kind);
    }
}

/// Instead of one large type: a kind changes, and gets a new version, without any other. InitConfig has a member for all
/// that `kubeadm init` takes by its flags, each of which changes by itself.
#[test]
fn every_kind_is_a_small_type_with_a_version_of_its_own() {
    let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.kind).collect();
    assert_eq!(names.len(), KINDS.len(), "two kinds have one name");
    assert!(names.len() >= 12, "{names:?}");
    for kind in KINDS {
        let schema = (kind.schema)();
        assert_eq!(schema["properties"]["apiVersion"]["const"], kind.api_version, "{}", kind.kind);
        assert_eq!(schema["properties"]["kind"]["const"], kind.kind);
        let members = schema["properties"]["spec"]["properties"].as_object().unwrap().len();
        let most = if kind.kind == "InitConfig" { 29 } else { 16 };
        assert!(members <= most, "{} has {members} members: make it two kinds", kind.kind);
        let others = names.iter().filter(|other| **other != kind.kind);
        let spec = schema["properties"]["spec"]["properties"].to_string();
        let inside: Vec<_> = others.filter(|other| spec.contains(&format!("\"const\":\"{other}\""))).collect();
        assert!(inside.is_empty(), "{} contains {inside:?}", kind.kind);
    }
}

#[test]
fn all_examples_go_together_in_one_compressed_file() {
    let all: String = kinds_of_one_file().map(|kind| format!("---\n{}", kind.example)).collect();
    let read = read(vec![source("-", &crate::gzip::compress(all.as_bytes()))]);
    assert!(read.report.is_empty(), "{}", read.report);
    let found: Vec<_> =
        read.documents.iter().map(|document| (document.kind.as_str(), document.origin.number)).collect();
    assert_eq!(found, kinds_of_one_file().map(|kind| kind.kind).zip(1..).collect::<Vec<_>>());
}

#[test]
fn the_schema_accepts_every_example() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    for kind in KINDS {
        let document = as_json(kind.example);
        assert!(schema.is_valid(&document), "{}: {:?}", kind.kind, schema.iter_errors(&document).next());
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    for kind in KINDS {
        let good = as_json(kind.example);
        let first = good["spec"].as_object().unwrap().keys().next().unwrap().clone();
        let mut changes = vec![good.clone(); 6];
        changes[0]["spec"]["unknownField"] = json!("x");
        changes[1]["spec"] = json!([]);
        changes[2]["spec"][&first] = json!(true);
        changes[3].as_object_mut().unwrap().remove("spec");
        changes[4]["kind"] = json!("Unknown");
        changes[5]["metadata"]["name"] = json!("Not A Name");
        for changed in changes {
            assert!(!schema.is_valid(&changed), "{changed}");
            assert!(read_text(&changed.to_string()).report.has_errors(), "{changed}");
        }
    }
}

#[test]
fn a_required_member_is_required_by_both() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    for kind in KINDS {
        let required = (kind.schema)()["properties"]["spec"]["required"].clone();
        for name in required.as_array().into_iter().flatten() {
            let mut changed = as_json(kind.example);
            changed["spec"].as_object_mut().unwrap().remove(name.as_str().unwrap());
            assert!(!schema.is_valid(&changed) && read_text(&changed.to_string()).report.has_errors(), "{changed}");
        }
    }
}
