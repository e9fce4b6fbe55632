//! One JSON schema for a document of any kind, for editors and for whoever checks files before they reach a machine.
use crate::KINDS;
use serde_json::{Value, json};

/// The JSON schema (draft 7) of one document of any kind that machineadm knows.
pub fn json_schema() -> Value {
    let versions: std::collections::BTreeSet<&str> = KINDS.iter().map(|kind| kind.api_version).collect();
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.kind).collect();
    // By condition rather than `oneOf`: an editor then shows what is wrong with this kind, not that none of six fits.
    let by_kind: Vec<Value> = KINDS
        .iter()
        .map(|kind| json!({"if": {"properties": {"kind": {"const": kind.kind}}, "required": ["kind"]}, "then": (kind.schema)()}))
        .collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "machineadm_config.yaml",
        "description": "One document of a machine's configuration.",
        "type": "object",
        "required": ["apiVersion", "kind", "spec"],
        "properties": {
            "apiVersion": {"enum": versions, "description": "The API's group and version."},
            "kind": {"enum": kinds, "description": "What kind of document this is."},
        },
        "allOf": by_kind,
    })
}
