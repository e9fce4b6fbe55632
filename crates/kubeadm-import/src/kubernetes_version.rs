//! The version of Kubernetes that kubeadm is told.

/// What kubeadm looks up on the internet.
const LABELS: [&str; 4] = ["stable", "latest", "ci/", "release/"];

/// Whether a version is a label, such as `stable-1`.
pub fn is_label(version: &str) -> bool {
    LABELS.iter().any(|label| version.starts_with(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_what_kubeadm_looks_up() {
        for label in ["stable", "stable-1.36", "latest", "ci/latest", "release/stable-1"] {
            assert!(is_label(label), "{label}");
        }
        assert!(!is_label("v1.36.4") && !is_label(""));
    }
}
