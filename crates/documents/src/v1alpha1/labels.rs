//! Labels and taints of nodes, as Kubernetes and the kubelet accept them.
use super::instance_value::{has_instance_values, instance_value_problem};

/// What a kubelet may set of `kubernetes.io` and `k8s.io` itself; it refuses to start with any other.
const OWN: [&str; 11] = [
    "kubernetes.io/hostname",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
];
/// Domains below which it may set any.
const OWN_DOMAINS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/// Why a kubelet cannot set a label; `None` when it can.
pub fn label_problem(key: &str, value: &str) -> Option<&'static str> {
    if !is_key(key) {
        return Some(
            "invalid label key: a name of at most 63 letters, digits, `-`, `_` and `.`, such as `example.com/rack`",
        );
    }
    if has_instance_values(value) && instance_value_problem(value).is_some() {
        return instance_value_problem(value);
    }
    if !value.is_empty() && !is_name(value) && !has_instance_values(value) {
        return Some("invalid label value: at most 63 letters, digits, `-`, `_` and `.`");
    }
    let domain = key.split_once('/').map(|(domain, _)| domain).unwrap_or_default();
    let is_in = |parent: &str| domain == parent || domain.ends_with(&format!(".{parent}"));
    let is_kubernetes = is_in("kubernetes.io") || is_in("k8s.io");
    let is_own = OWN.contains(&key) || OWN_DOMAINS.iter().any(|own| is_in(own));
    (is_kubernetes && !is_own).then_some(
        "a kubelet is not allowed to set this label on its node: use a label of your own domain, or label the node later",
    )
}

/// Why a taint is invalid; `None` when it is not.
pub(crate) fn taint_problem(key: &str, value: &str) -> Option<&'static str> {
    match (is_key(key), value.is_empty() || is_name(value)) {
        (true, true) => None,
        (false, _) => {
            Some("invalid key: a name of at most 63 letters, digits, `-`, `_` and `.`, such as `example.com/gpu`")
        }
        (true, false) => Some("invalid value: at most 63 letters, digits, `-`, `_` and `.`"),
    }
}

/// An optional DNS domain, and a name behind `/`.
fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((domain, name)) => crate::metadata::is_subdomain(domain) && is_name(name),
        None => is_name(key),
    }
}

fn is_name(text: &str) -> bool {
    let is_outer = |letter: u8| letter.is_ascii_alphanumeric();
    let is_inner = |letter: u8| is_outer(letter) || b"-_.".contains(&letter);
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    bytes.len() <= 63
        && ends.iter().all(|end| end.is_some_and(|end| is_outer(*end)))
        && bytes.iter().all(|b| is_inner(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_a_kubelet_may_set() {
        let own = [
            "rack",
            "example.com/rack",
            "node.kubernetes.io/pool",
            "kubelet.kubernetes.io/x",
            "x.node.kubernetes.io/y",
        ];
        for key in own.iter().chain(&["topology.kubernetes.io/zone", "kubernetes.io/hostname"]) {
            assert_eq!(label_problem(key, "a-1"), None, "{key}");
        }
        for key in ["kubernetes.io/role", "node-role.kubernetes.io/worker", "k8s.io/x", "a.k8s.io/x"] {
            assert!(label_problem(key, "").is_some_and(|problem| problem.contains("not allowed")), "{key}");
        }
    }

    #[test]
    fn keys_and_values_as_kubernetes_reads_them() {
        for key in ["", "-a", "a-", "a b", "A_B/c", "/c", "c/", "a/b/c", &"x".repeat(64)] {
            assert!(label_problem(key, "").is_some_and(|problem| problem.starts_with("invalid label key")), "{key}");
            assert!(taint_problem(key, "").is_some(), "{key}");
        }
        for value in ["-", "a,b", "a=b", &"x".repeat(64)] {
            assert!(label_problem("a", value).is_some() && taint_problem("a", value).is_some(), "{value}");
        }
        assert_eq!(taint_problem("example.com/gpu", "v1.2_x"), None);
    }
}
