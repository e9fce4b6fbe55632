//! What we want of an object beside what it is: is it there already, and how does the object become so?
use serde_json::Value;

/// Whether all that is wanted is there. Members that only the live object has are the server's or somebody else's;
/// lists must have the same items in the same order, each with at least the wanted members; `null` and empty are absent.
pub(crate) fn is_part(want: &Value, live: &Value) -> bool {
    match (want, live) {
        (Value::Object(want), Value::Object(live)) => {
            want.iter().all(|(name, want)| is_part(want, live.get(name).unwrap_or(&Value::Null)))
        }
        (Value::Array(want), Value::Array(live)) => {
            want.len() == live.len() && want.iter().zip(live).all(|(want, live)| is_part(want, live))
        }
        (want, live) => want == live || is_empty(want) && is_empty(live),
    }
}

/// Puts what is wanted over what is there; members that nobody asked about stay.
pub(crate) fn merge(want: &Value, live: &mut Value) {
    match (want, live) {
        (Value::Object(want), Value::Object(live)) => {
            for (name, want) in want {
                merge(want, live.entry(name).or_insert(Value::Null));
            }
        }
        (want, live) => *live = want.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(_) | Value::Number(_) | Value::Bool(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_there_already_is_part_whatever_else_is_there() {
        let live = json!({"metadata": {"name": "a", "uid": "1"}, "rules": [{"verbs": ["get"], "x": 1}], "data": {"k": "v", "other": "o"}});
        for want in [
            json!({"metadata": {"name": "a"}}),
            json!({"rules": [{"verbs": ["get"]}]}),
            json!({"data": {"k": "v"}, "nothing": {}, "none": [], "null": null}),
        ] {
            assert!(is_part(&want, &live), "{want}");
        }
    }

    #[test]
    fn what_differs_is_not_part_and_becomes_so_by_merging() {
        let live = json!({"rules": [{"verbs": ["get", "list"]}], "data": {"k": "v", "other": "o"}});
        for want in [
            json!({"rules": [{"verbs": ["get"]}]}),
            json!({"rules": [{"verbs": ["list", "get"]}]}),
            json!({"rules": []}),
            json!({"data": {"k": "w"}}),
            json!({"data": {"new": "w"}}),
            json!({"type": "t"}),
        ] {
            assert!(!is_part(&want, &live), "{want}");
            let mut merged = live.clone();
            merge(&want, &mut merged);
            assert!(is_part(&want, &merged), "{want}: {merged}");
            assert_eq!(merged["data"]["other"], "o", "what others wrote is lost");
        }
    }
}
