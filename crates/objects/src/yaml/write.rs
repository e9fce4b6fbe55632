//! YAML in block style with every string quoted, so that readers of YAML 1.1, YAML 1.2 and JSON's data see the same.
use serde_json::{Map, Value};
use std::fmt::Write;

/// Writes one document, with a line end; `apiVersion` and `kind` come first, the rest in the order of letters.
pub fn write(document: &Value) -> String {
    let mut text = String::new();
    match document {
        Value::Object(members) if !members.is_empty() => mapping(members, 0, &mut text),
        other => put(other, 0, &mut text),
    }
    text.trim_start_matches(['\n', ' ']).to_owned() + "\n"
}

/// Writes the documents of one file.
pub fn write_stream<'v>(documents: impl IntoIterator<Item = &'v Value>) -> String {
    documents.into_iter().map(write).collect::<Vec<_>>().join("---\n")
}

/// Writes a value behind a key or dash: collections on lines of their own, scalars on the same.
fn put(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => mapping(members, depth, text),
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                line(depth, text);
                text.push('-');
                let start = text.len();
                put(item, depth + 1, text);
                // The first member of a mapping, or item of a list, stands on the dash's own line.
                if text[start..].starts_with('\n') {
                    text.replace_range(start..start + 1 + 2 * (depth + 1), " ");
                }
            }
        }
        Value::String(string) => {
            text.push(' ');
            quoted(string, text);
        }
        scalar => {
            let _ = write!(text, " {scalar}");
        }
    }
}

fn mapping(members: &Map<String, Value>, depth: usize, text: &mut String) {
    let first = ["apiVersion", "kind"].into_iter().filter(|_| depth == 0);
    let first = first.filter_map(|name| members.get_key_value(name));
    let rest = members.iter().filter(|(name, _)| depth > 0 || !matches!(name.as_str(), "apiVersion" | "kind"));
    for (name, member) in first.chain(rest) {
        line(depth, text);
        key(name, text);
        text.push(':');
        put(member, depth + 1, text);
    }
}

fn line(depth: usize, text: &mut String) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

/// A name that looks like one is plain; all others are quoted, as values are.
fn key(name: &str, text: &mut String) {
    let looks_like_a_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let word = matches!(
        name.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    );
    if looks_like_a_name && !word { text.push_str(name) } else { quoted(name, text) }
}

/// Double quotes, with the escapes that YAML 1.1, YAML 1.2 and JSON share.
fn quoted(string: &str, text: &mut String) {
    text.push('"');
    for letter in string.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            // What YAML calls not printable, and what it takes for the end of a line.
            '\0'..' ' | '\x7f'..'\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(letter));
            }
            _ => text.push(letter),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn every_string_is_quoted_and_the_kind_comes_first() {
        let document = json!({
            "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "InitConfiguration", "abc": "on", "dryRun": true,
            "list": [{"value": "yes", "name": "014"}, "a\nb", [1, 2], {}], "empty": {}, "none": [],
            "map": {"kind": "~", "v": "1e3", "on": "x", "7": "y"},
        });
        let expected = "apiVersion: \"kubeadm.k8s.io/v1beta4\"\nkind: \"InitConfiguration\"\nabc: \"on\"\n\
            dryRun: true\nempty: {}\nlist:\n  - name: \"014\"\n    value: \"yes\"\n  - \"a\\nb\"\n  - - 1\n    - 2\n  \
            - {}\nmap:\n  \"7\": \"y\"\n  kind: \"~\"\n  \"on\": \"x\"\n  v: \"1e3\"\nnone: []\n";
        assert_eq!(write(&document), expected);
    }

    #[test]
    fn lists_and_single_values_are_documents_too() {
        let list = json!([{"a": 1, "b": [true, null]}, "x\ny", [], [[2]]]);
        assert_eq!(write(&list), "- a: 1\n  b:\n    - true\n    - null\n- \"x\\ny\"\n- []\n- - - 2\n");
        assert_eq!(
            [json!("on"), json!(null), json!({}), json!(7)].map(|value| write(&value)),
            ["\"on\"\n", "null\n", "{}\n", "7\n"]
        );
        assert_eq!(write_stream(&[json!({"a": 1}), json!([2])]), "a: 1\n---\n- 2\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]
        #[test]
        fn what_is_written_is_read_back(value in values()) {
            let text = write(&value);
            prop_assert_eq!(yaml::value(&text), Ok(value), "{}", text);
        }
    }

    /// Trees with words that YAML takes for something else, and every kind of letter.
    fn values() -> impl Strategy<Value = Value> {
        let word = prop_oneof![
            "(on|y|~|null|1e3|014|0x1f|-|:|#|- a|a: b|\\[|\"|'|\\\\|<<|\n|\t| |\u{7f}|\u{85}|\u{2028}|\u{feff}){0,3}",
            any::<String>(),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            word.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(word.clone(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }
}
