//! One token as a YAML document in the style of Go's writer: keys sorted, quotes only where they are needed.
use super::Listed;
use kubeadm::parse_yaml;
use serde_json::Value;

/// The document, without a marker.
pub(crate) fn document(token: &Listed) -> String {
    let Ok(Value::Object(members)) = serde_json::to_value(token) else { return String::new() };
    let mut members: Vec<_> = members.into_iter().collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    members.iter().map(|(key, value)| member(key, value)).collect()
}

fn member(key: &str, value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items = items.iter().filter_map(Value::as_str).map(|item| format!("- {}\n", scalar(item)));
            format!("{key}:\n{}", items.collect::<String>())
        }
        value => format!("{key}: {}\n", scalar(value.as_str().unwrap_or_default())),
    }
}

/// Plain where it reads back the same, else quoted: double for words that YAML takes for something else than text, and
/// for what needs escapes, single for the rest.
fn scalar(text: &str) -> String {
    let reads_back = |written: &str| parse_yaml(&format!("a: {written}\n")).is_ok_and(|read| read["a"] == text);
    let is_plain = !text.contains(char::is_control) && text.trim() == text && reads_back(text);
    if is_plain && !looks_like_a_time(text) {
        return text.to_owned();
    }
    let single = format!("'{}'", text.replace('\'', "''"));
    let is_word = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c)) && !text.contains(": ");
    if is_word || text.contains(char::is_control) || !reads_back(&single) { quoted(text) } else { single }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Go's writer quotes what its reader would take for a time.
fn looks_like_a_time(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let digits = |part: Option<&str>, length: std::ops::RangeInclusive<usize>| {
        part.is_some_and(|part| length.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    digits(parts.next(), 4..=4)
        && digits(parts.next(), 1..=2)
        && parts.next().is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::scalar;

    #[test]
    fn quotes_stand_where_gos_writer_puts_them() {
        for (text, written) in [
            ("explicit, with flags", "explicit, with flags"),
            ("000000.0000000000000000", "\"000000.0000000000000000\""),
            ("2026-11-16T18:49:12Z", "\"2026-11-16T18:49:12Z\""),
            ("yes", "\"yes\""),
            ("a: b", "'a: b'"),
            ("# no", "'# no'"),
            ("it's", "it's"),
            ("two\nlines", "\"two\\nlines\""),
            ("system:bootstrappers:x", "system:bootstrappers:x"),
        ] {
            assert_eq!(scalar(text), written);
        }
    }
}
