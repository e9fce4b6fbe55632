//! Every Rust file opens with `//!` and says what it is.
use super::Finding;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".rs")
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(file, _)| Finding::new(file, 1, "the first line must be `//! ` and say what the file is"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_say_what_it_is_is_found() {
        let tree = Tree::made_up(&[("good.rs", "//! What it is.\n"), ("bad.rs", "fn x() {}\n"), ("notes.md", "x\n")]);
        assert_eq!(check(&tree).iter().map(|found| found.file.as_str()).collect::<Vec<_>>(), ["bad.rs"]);
    }
}
