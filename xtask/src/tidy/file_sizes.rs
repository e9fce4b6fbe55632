//! No Rust file is longer than a reader can hold in mind.
use super::Finding;
use super::tree::Tree;

/// A longer file fails.
const LIMIT: usize = 600;
/// A longer file is worth a thought: models of the field rarely pass this.
const LONG: usize = 350;

pub(super) fn check_limit(tree: &Tree) -> Vec<Finding> {
    longer(tree, LIMIT).map(|(file, lines)| finding(file, lines, LIMIT)).collect()
}

pub(super) fn check_long(tree: &Tree) -> Vec<Finding> {
    longer(tree, LONG).filter(|(_, lines)| *lines <= LIMIT).map(|(file, lines)| finding(file, lines, LONG)).collect()
}

fn longer(tree: &Tree, limit: usize) -> impl Iterator<Item = (&str, usize)> {
    tree.ending(".rs").map(|(file, text)| (file, text.lines().count())).filter(move |(_, lines)| *lines > limit)
}

fn finding(file: &str, lines: usize, limit: usize) -> Finding {
    Finding::new(file, 0, format!("{lines} lines, more than {limit}: split it by what its parts are about"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_advice_and_too_long_ones_are_failures() {
        let (short, long, too_long) = ("x\n".repeat(350), "x\n".repeat(351), "x\n".repeat(601));
        let tree = Tree::made_up(&[("a.rs", &short), ("b.rs", &long), ("c.rs", &too_long), ("d.md", &too_long)]);
        let files = |found: Vec<Finding>| found.into_iter().map(|found| found.file).collect::<Vec<_>>();
        assert_eq!(files(check_limit(&tree)), ["c.rs"]);
        assert_eq!(files(check_long(&tree)), ["b.rs"]);
    }
}
