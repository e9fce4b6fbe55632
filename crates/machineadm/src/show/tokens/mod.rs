//! Bootstrap tokens as `kubeadm token list` prints them, byte for byte.
mod jsonpath;
mod made;
mod stream;
mod table;
mod yaml;

pub(crate) use jsonpath::Template;
pub(crate) use made::{Deletion, DeletionResult, Made};
pub(crate) use stream::Stream;
pub(crate) use table::Row;
pub(crate) use yaml::document as yaml;

use discovery::TokenSettings;
use serde::Serialize;

/// One token, as kubeadm's output API has it. It holds the whole token: who lists tokens wants them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed<'a> {
    kind: &'static str,
    api_version: &'static str,
    pub(crate) token: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) description: &'a str,
    /// As kubeadm prints it, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<String>,
    /// Sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) usages: Vec<&'a str>,
    /// In the order of the Secret.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) groups: &'a [String],
}

impl<'a> From<&'a TokenSettings> for Listed<'a> {
    fn from(settings: &'a TokenSettings) -> Self {
        let TokenSettings { token, description, expires, usages, groups } = settings;
        Self {
            kind: "BootstrapToken",
            api_version: "output.kubeadm.k8s.io/v1alpha3",
            token: std::mem::take(&mut token.expose()),
            description,
            expires: expires.map(|moment| moment.to_string()),
            usages: usages.iter().map(String::as_str).collect(),
            groups,
        }
    }
}

/// One object of the stream that `-o json` prints.
pub(crate) fn json(token: &Listed<'_>) -> String {
    let mut text = Vec::new();
    let indent = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, indent);
    // Text and lists of text can't fail.
    let _ = token.serialize(&mut serializer);
    let room = String::with_capacity(text.len() + 64);
    String::from_utf8_lossy(&text).chars().fold(room, escaped) + "\n"
}

/// Go's encoder escapes these, so that JSON can stand in HTML and in JavaScript.
fn escaped(mut text: String, c: char) -> String {
    match c {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => text.push_str(&format!("\\u{:04x}", u32::from(c))),
        _ => text.push(c),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_reads_as_kubeadms() {
        let mut token = TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap());
        token.description = "a & <b>".into();
        token.usages.insert("signing".into());
        assert_eq!(
            json(&Listed::from(&token)),
            "{\n    \"kind\": \"BootstrapToken\",\n    \"apiVersion\": \"output.kubeadm.k8s.io/v1alpha3\",\n    \
             \"token\": \"abcdef.0123456789abcdef\",\n    \"description\": \"a \\u0026 \\u003cb\\u003e\",\n    \
             \"usages\": [\n        \"signing\"\n    ]\n}\n"
        );
    }

    #[test]
    fn descriptions_are_written_as_kubeadm_writes_them() {
        let recorded = include_str!("../../../tests/vectors/token-list/descriptions.json");
        for case in serde_json::from_str::<Vec<serde_json::Value>>(recorded).unwrap() {
            let mut token = TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap());
            token.description = case["text"].as_str().unwrap().into();
            let line = format!("    \"description\": {}", case["json"].as_str().unwrap());
            let written = json(&Listed::from(&token));
            assert!(written.contains(&line), "{written}\n{line}");
        }
    }
}
