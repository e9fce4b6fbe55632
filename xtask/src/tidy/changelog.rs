//! The changelog has a section for what is not released yet.
use super::Finding;
use super::tree::Tree;

const FILE: &str = "CHANGELOG.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    match tree.text(FILE) {
        Some(text) if text.lines().any(|line| line.trim() == "## [Unreleased]") => Vec::new(),
        Some(_) => vec![Finding::new(FILE, 0, "there is no line `## [Unreleased]`")],
        None => vec![Finding::new(FILE, 0, "the file is missing")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changelog_without_the_section_is_found() {
        assert_eq!(check(&Tree::made_up(&[])).len(), 1);
        assert_eq!(check(&Tree::made_up(&[(FILE, "# Changelog\n## [0.1.0]\n")])).len(), 1);
        assert!(check(&Tree::made_up(&[(FILE, "# Changelog\n## [Unreleased]\n")])).is_empty());
    }
}
