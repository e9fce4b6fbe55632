//! The JSON schema over the repository's cases: it accepts every positive one, and refuses what a schema can.
use super::examples::as_json;
use crate::json_schema;
use std::{fs, path::Path};

/// Bad cases whose every document breaks a rule that a schema can say; the others are about meaning, bytes or YAML.
const FOR_A_SCHEMA: [&str; 4] = ["kinds-and-versions", "missing-members", "unknown-fields", "wrong-types"];

fn documents(case: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(case.join("config.yaml")).expect("the case has a configuration");
    text.split("---\n").map(as_json).collect()
}

fn folder(kind: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(kind)
}

#[test]
fn the_schema_accepts_every_positive_case() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    let mut seen = 0;
    for case in fs::read_dir(folder("positive")).unwrap() {
        for document in documents(&case.unwrap().path()) {
            assert!(schema.is_valid(&document), "{document}");
            seen += 1;
        }
    }
    assert!(seen > 4);
}

#[test]
fn the_schema_refuses_every_document_that_a_schema_can() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    for case in FOR_A_SCHEMA {
        for document in documents(&folder("negative").join(case)) {
            assert!(!schema.is_valid(&document), "{case}: {document}");
        }
    }
}
