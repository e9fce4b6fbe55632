//! YAML for programs: JSON's data in block style, every string quoted, so that all YAML versions read the same.
use serde_json::Value;

/// Renders a value, with a line end.
pub(crate) fn render(value: &Value) -> String {
    let mut text = String::new();
    put(value, 0, &mut text);
    text.trim_start_matches('\n').to_owned() + "\n"
}

/// Writes a value behind a key or dash: collections on lines of their own, scalars on the same.
fn put(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members {
                text.push_str(&format!("\n{}{}:", "  ".repeat(depth), name(key)));
                put(member, depth + 1, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let mut inner = String::new();
                put(item, depth + 1, &mut inner);
                let inner = inner.trim_start();
                text.push_str(&format!("\n{}- {inner}", "  ".repeat(depth)));
            }
        }
        scalar => {
            text.push(' ');
            text.push_str(&scalar.to_string());
        }
    }
}

fn name(key: &str) -> String {
    let plain = !key.is_empty()
        && key.chars().all(|c| c.is_ascii_alphanumeric())
        && !key.starts_with(|c: char| c.is_ascii_digit());
    let word = matches!(
        key.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    );
    if plain && !word { key.to_owned() } else { Value::from(key).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_reads_like_yaml() {
        let value = json!({"name": "on", "list": [{"a": 1, "b": [true, null]}, "x\ny"], "empty": {}, "none": []});
        let text = render(&value);
        assert_eq!(
            text,
            "empty: {}\nlist:\n  - a: 1\n    b:\n      - true\n      - null\n  - \"x\\ny\"\nname: \"on\"\nnone: []\n"
        );
    }
}
