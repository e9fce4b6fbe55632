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
pub(crate) struct Listed {
    kind: &'static str,
    api_version: &'static str,
    pub(crate) token: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    /// As kubeadm prints it, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<String>,
    /// Sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) usages: Vec<String>,
    /// In the order of the Secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<String>,
}

impl Listed {
    pub(crate) fn new(token: String) -> Self {
        let (kind, api_version) = ("BootstrapToken", "output.kubeadm.k8s.io/v1alpha3");
        Self { kind, api_version, token, description: String::new(), expires: None, usages: vec![], groups: vec![] }
    }
}

impl From<&TokenSettings> for Listed {
    fn from(settings: &TokenSettings) -> Self {
        let TokenSettings { token, description, expires, usages, groups } = settings;
        let mut listed = Self::new(token.expose().to_string());
        listed.description.clone_from(description);
        listed.expires = expires.map(|moment| moment.to_string());
        listed.usages = usages.iter().cloned().collect();
        listed.groups.clone_from(groups);
        listed
    }
}

/// One object of the stream that `-o json` prints.
pub(crate) fn json(token: &Listed) -> String {
    let mut text = Vec::new();
    let indent = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, indent);
    // Text and lists of text can't fail.
    let _ = token.serialize(&mut serializer);
    String::from_utf8_lossy(&text).chars().fold(String::new(), escaped) + "\n"
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
        let mut token = Listed::new("abcdef.0123456789abcdef".into());
        token.description = "a & <b>".into();
        token.usages = vec!["signing".into()];
        assert_eq!(
            json(&token),
            "{\n    \"kind\": \"BootstrapToken\",\n    \"apiVersion\": \"output.kubeadm.k8s.io/v1alpha3\",\n    \
             \"token\": \"abcdef.0123456789abcdef\",\n    \"description\": \"a \\u0026 \\u003cb\\u003e\",\n    \
             \"usages\": [\n        \"signing\"\n    ]\n}\n"
        );
    }

    #[test]
    fn descriptions_are_written_as_kubeadm_writes_them() {
        let recorded = include_str!("../../../tests/vectors/token-list/descriptions.json");
        for case in serde_json::from_str::<Vec<serde_json::Value>>(recorded).unwrap() {
            let mut token = Listed::new("abcdef.0123456789abcdef".into());
            token.description = case["text"].as_str().unwrap().into();
            let line = format!("    \"description\": {}", case["json"].as_str().unwrap());
            assert!(json(&token).contains(&line), "{}\n{line}", json(&token));
        }
    }
}
