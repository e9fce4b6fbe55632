//! What every document may say about itself.
use crate::{constraints::Constraints, findings::Findings};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What identifies the document.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Metadata {
    /// Name of the document in plans, reports and the names of files that it creates: lower-case letters, digits, `-` and
    /// `.`.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub(crate) name: Option<String>,
    /// Labels for other programs; machineadm does not read them.
    #[expect(dead_code, reason = "accepted, so that files made by other programs pass, but without meaning here")]
    labels: Option<BTreeMap<String, String>>,
    /// Annotations for other programs. machineadm reads two of them: `machineadm.cluster.x-k8s.io/before` and
    /// `machineadm.cluster.x-k8s.io/after` name documents before or after which this one must come, as kinds or
    /// `Kind/name`, separated by commas. Documents in another order are refused; machineadm never sorts them.
    annotations: Option<BTreeMap<String, String>>,
}

/// What metadata comes to.
#[derive(Default)]
pub(crate) struct Header {
    /// The document's name, if it has one that can be used.
    pub(crate) name: Option<String>,
    /// What it says about its position.
    pub(crate) constraints: Constraints,
}

impl Metadata {
    /// Adds everything that is wrong to the findings.
    pub(crate) fn check(self, findings: &mut Findings<'_>) -> Header {
        let Self { name, annotations, .. } = self;
        if name.as_deref().is_some_and(|name| !is_subdomain(name)) {
            findings
                .error("metadata.name", "must be lower-case letters, digits, `-` and `.`, at most 253 characters")
                .hint("start and end each part with a letter or digit");
        }
        let annotation = |key: &str| annotations.as_ref()?.get(key).map(String::as_str);
        Header { name: name.filter(|name| is_subdomain(name)), constraints: Constraints::read(annotation, findings) }
    }
}

/// Whether this is a DNS subdomain as Kubernetes wants its names (RFC 1123).
pub(crate) fn is_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_label)
}

fn is_label(part: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !part.is_empty() && part.bytes().all(inner) && !part.starts_with('-') && !part.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::is_subdomain;

    #[test]
    fn names_are_dns_subdomains() {
        for name in ["a", "kernel", "a-1.b"] {
            assert!(is_subdomain(name), "{name}");
        }
        for name in ["", "A", "-a", "a-", "a..b", ".a", "a_b", "a/b", &"a".repeat(254)] {
            assert!(!is_subdomain(name), "{name}");
        }
    }
}
