//! Overwrites trees of values when they go: they may hold tokens and keys.
use serde_json::Value;
use zeroize::Zeroize;

/// Overwrites every text in a tree.
pub fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(members) => members.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
