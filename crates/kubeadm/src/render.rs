//! YAML for kubeadm, whose reader follows YAML 1.1: every string is quoted, so that it stays one.
use serde_json::{Map, Value};
use std::fmt::Write;

/// Renders one document, with a line end; `apiVersion` and `kind` come first, the rest in the order of letters.
pub fn yaml(document: &Value) -> String {
    let mut text = String::new();
    match document {
        Value::Object(members) if !members.is_empty() => mapping(members, 0, &mut text),
        other => put(other, 0, &mut text),
    }
    text.trim_start_matches(['\n', ' ']).to_owned() + "\n"
}

/// Renders documents of one file.
pub fn yaml_stream<'v>(documents: impl IntoIterator<Item = &'v Value>) -> String {
    documents.into_iter().map(yaml).collect::<Vec<_>>().join("---\n")
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
        assert_eq!(yaml(&document), expected);
    }
}
