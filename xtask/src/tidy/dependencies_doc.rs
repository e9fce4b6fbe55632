//! `docs/dependencies.md` has one row for each dependency of the workspace that is not ours, and no other.
use super::Finding;
use super::manifests::workspace_dependencies;
use super::markdown::{code_spans, rows};
use super::tree::{Tree, line_of};
use std::collections::BTreeMap;

const PAGE: &str = "docs/dependencies.md";
const MANIFEST: &str = "Cargo.toml";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let strangers = workspace_dependencies(tree).into_iter().filter(|(_, value)| value.get("path").is_none());
    let used: Vec<String> = strangers.map(|(name, _)| name).collect();
    let described = described(tree.text(PAGE).unwrap_or_default());
    let manifest = tree.text(MANIFEST).unwrap_or_default();
    let missing = used.iter().filter(|name| !described.contains_key(*name)).map(|name| {
        let line = line_of(manifest, &format!("{name} ="));
        Finding::new(MANIFEST, line, format!("`{name}` has no row in {PAGE}: what for, and why this one?"))
    });
    let surplus = described
        .iter()
        .filter(|(name, _)| !used.contains(name))
        .map(|(name, line)| Finding::new(PAGE, *line, format!("`{name}` is not a dependency of the workspace")));
    missing.chain(surplus).collect()
}

/// The crates that the page's tables name in their first column, with their lines.
fn described(page: &str) -> BTreeMap<String, usize> {
    let names =
        rows(page).into_iter().filter_map(|(line, cells)| Some((code_spans(cells.first()?).next()?.to_owned(), line)));
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_surplus_rows_are_found() {
        let manifest = "[workspace.dependencies]\nhost = { path = \"crates/host\" }\nserde = \"1\"\ntoml = \"1\"\n";
        let page = "| crate | what for |\n|---|---|\n| `toml` | manifests |\n| `clap` | commands |\n";
        let tree = Tree::made_up(&[(MANIFEST, manifest), (PAGE, page)]);
        let found: Vec<_> = check(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            [
                "Cargo.toml:3: `serde` has no row in docs/dependencies.md: what for, and why this one?",
                "docs/dependencies.md:4: `clap` is not a dependency of the workspace",
            ]
        );
    }
}
