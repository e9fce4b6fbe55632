//! The changes of a ConfigMap's data, as a unified diff of each key.
use similar::TextDiff;
use std::collections::{BTreeMap, BTreeSet};

/// The diff of every key whose text differs, in the order of keys.
pub(super) fn diff(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> String {
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let text = |data: &BTreeMap<String, String>, key: &str| data.get(key).cloned().unwrap_or_default();
    let one = |key: &&String| {
        let (old, new) = (text(before, key), text(after, key));
        let [from, to] = ["a", "b"].map(|side| format!("{side}/kubeadm-config/{key}"));
        let diff = TextDiff::from_lines(&old, &new);
        if old == new { String::new() } else { diff.unified_diff().context_radius(3).header(&from, &to).to_string() }
    };
    keys.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_differ_are_shown_with_their_lines() {
        let data = |rows: &[(&str, &str)]| rows.iter().map(|(key, text)| ((*key).into(), (*text).into())).collect();
        let before = data(&[("same", "x\n"), ("A", "one\ntwo\n")]);
        let after = data(&[("same", "x\n"), ("A", "one\n2\n"), ("B", "new\n")]);
        let expected = "--- a/kubeadm-config/A\n+++ b/kubeadm-config/A\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\
            --- a/kubeadm-config/B\n+++ b/kubeadm-config/B\n@@ -0,0 +1 @@\n+new\n";
        assert_eq!(diff(&before, &after), expected);
        assert_eq!(diff(&after, &after), "");
    }
}
