//! Every path of a Kubernetes node is spelled once, in `objects::kubernetes_paths`.
//!
//! A text in the code of a crate that begins with such a path is found, tests and comments aside. A text with a blank in
//! it is a sentence, a help text or a file's content and may name paths: only people read it, or another program.
use super::Finding;
use super::rust_source::{code, is_test_file, without_tests};
use super::tree::{Tree, line_at};

const MODULE: &str = "crates/objects/src/kubernetes_paths.rs";
/// What kubeadm and the kubelet have fixed.
const DIRECTORIES: [&str; 2] = ["/etc/kubernetes", "/var/lib/kubelet"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let of_crates = tree.ending(".rs").filter(|(file, _)| {
        file.strip_prefix("crates/").is_some_and(|path| path.contains("/src/") && !is_test_file(path))
            && *file != MODULE
    });
    of_crates.flat_map(|(file, text)| spelled(file, text)).collect()
}

fn spelled(file: &str, text: &str) -> Vec<Finding> {
    let code = without_tests(&code(text));
    let texts = code.match_indices('"').filter_map(|(at, _)| Some((at, text.get(at + 1..)?)));
    let paths = texts.filter_map(|(at, rest)| Some((at, &rest[..rest.find('"')?])));
    let fixed = paths.filter(|(_, path)| DIRECTORIES.iter().any(|directory| is_below(path, directory)));
    let message = |path: &str| format!("`{path}` is spelled out: use its constant in objects::kubernetes_paths");
    fixed.map(|(at, path)| Finding::new(file, line_at(text, at), message(path))).collect()
}

fn is_below(path: &str, directory: &str) -> bool {
    let below = path.strip_prefix(directory);
    below.is_some_and(|rest| (rest.is_empty() || rest.starts_with('/')) && !path.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<String> {
        check(&Tree::made_up(&[(file, text)])).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_path_that_is_spelled_out_is_found() {
        let text = "//! x\nconst A: &str = \"/etc/kubernetes\";\nlet b = [\"/a\", \"/var/lib/kubelet/config.yaml\"];\n";
        let message = |line, path| {
            format!("crates/x/src/a.rs:{line}: `{path}` is spelled out: use its constant in objects::kubernetes_paths")
        };
        let expected = [message(2, "/etc/kubernetes"), message(3, "/var/lib/kubelet/config.yaml")];
        assert_eq!(found("crates/x/src/a.rs", text), expected);
    }

    #[test]
    fn sentences_other_paths_comments_and_tests_pass() {
        for text in [
            "\"/etc/kubernetes/admin.conf does not exist\"",
            "\"see /etc/kubernetes\"",
            "\"/etc/kubernetes-old\"",
            "\"/etc/containerd/config.toml\"",
            "// \"/etc/kubernetes\"\n/// `\"/etc/kubernetes\"`",
            "#[cfg(test)]\nmod tests { const A: &str = \"/etc/kubernetes\"; }",
        ] {
            assert_eq!(found("crates/x/src/a.rs", text), [""; 0], "{text}");
        }
        for file in ["crates/x/tests/a.rs", "crates/x/src/a/tests.rs", MODULE, "testbed/src/kubeadm.rs"] {
            assert_eq!(found(file, "\"/etc/kubernetes\""), [""; 0], "{file}");
        }
    }
}
