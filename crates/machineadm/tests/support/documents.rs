//! Documents as tests write them, in one line each.

/// A document of a kind.
pub(crate) fn document(kind: &str, spec: &str) -> String {
    format!("---\napiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: {kind}\nspec: {spec}\n")
}
