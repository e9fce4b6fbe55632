//! One token as a YAML document in the style of Go's writer: keys sorted, quotes only where they are needed.
mod reserved;
mod style;
mod written;

use super::Listed;
use serde_json::Value;

/// The document, without a marker.
pub(crate) fn document(token: &Listed<'_>) -> String {
    let Ok(Value::Object(members)) = serde_json::to_value(token) else { return String::new() };
    let mut members: Vec<_> = members.into_iter().collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    members.iter().map(|(key, value)| member(key, value)).collect()
}

fn member(key: &str, value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items = items.iter().filter_map(Value::as_str).map(|item| scalar("- ", item));
            format!("{key}:\n{}", items.collect::<String>())
        }
        value => scalar(&format!("{key}: "), value.as_str().unwrap_or_default()),
    }
}

/// Text behind a key or a dash, with its line end.
fn scalar(before: &str, text: &str) -> String {
    let mut line = written::behind(before, text, style::of(text));
    if !line.ends_with(style::is_break) {
        line.push('\n');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `kubeadm token list -o yaml` of 1.36.4 printed for descriptions; `tokens_live.rs` asks it anew.
    const RECORDED: &str = include_str!("../../../../tests/vectors/token-list/descriptions.json");
    /// Go's reader changes U+0085 before its writer sees it, and its writer escapes a letter too many after U+FEFF.
    const NOT_KEPT_BY_KUBEADM: [char; 2] = ['\u{85}', '\u{feff}'];

    #[test]
    fn descriptions_are_written_as_kubeadm_writes_them() {
        let recorded: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
        assert!(recorded.len() > 200);
        for case in recorded {
            let text = case["text"].as_str().unwrap();
            if !text.contains(NOT_KEPT_BY_KUBEADM) {
                assert_eq!(scalar("description: ", text), case["yaml"].as_str().unwrap(), "{text:?}");
            }
        }
    }

    #[test]
    fn what_kubeadm_does_not_keep_is_kept() {
        for text in ["a\u{85}b", "\u{feff}a", "\u{7f}", "\u{ffff}"] {
            let read = kubeadm::parse_yaml(&scalar("description: ", text));
            assert_eq!(read.unwrap()["description"], text);
        }
    }
}
