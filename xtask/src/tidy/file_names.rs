//! No file or folder carries a name that says nothing about what is inside.
use super::Finding;
use super::tree::Tree;

const EMPTY_NAMES: &[&str] = &["utils", "common", "core", "helpers", "types"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files().filter(|(file, _)| !is_vendored(file)).filter_map(|(file, _)| empty_name(file)).collect()
}

/// What others named is theirs to name.
fn is_vendored(file: &str) -> bool {
    file.split('/').any(|part| part == "vendor" || part == "third_party")
}

fn empty_name(file: &str) -> Option<Finding> {
    let name = file.split('/').map(stem).find(|stem| EMPTY_NAMES.contains(stem))?;
    Some(Finding::new(file, 0, format!("`{name}` says nothing: use the specification's noun for what is inside")))
}

fn stem(part: &str) -> &str {
    part.split('.').next().unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_name_is_found_as_file_and_as_folder() {
        let files = ["crates/a/src/utils.rs", "tests/common/mod.rs", "crates/a/src/core_dumps.rs", "vendor/core/x.rs"];
        let tree = Tree::made_up(&files.map(|file| (file, "")));
        let found: Vec<_> = check(&tree).into_iter().map(|found| found.file).collect();
        assert_eq!(found, ["crates/a/src/utils.rs", "tests/common/mod.rs"]);
    }
}
