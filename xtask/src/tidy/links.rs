//! Every relative link in a Markdown file leads to a file or folder of the repository, and to a heading where it names one.
use super::Finding;
use super::markdown::{anchors, links};
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".md").flat_map(|(file, text)| check_file(tree, file, text)).collect()
}

fn check_file(tree: &Tree, file: &str, text: &str) -> Vec<Finding> {
    let ours = links(text).into_iter().filter(|(_, target)| is_relative(target));
    ours.filter_map(|(line, target)| Some(Finding::new(file, line, objection(tree, file, &target)?))).collect()
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:")
}

fn objection(tree: &Tree, file: &str, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let Some(path) = resolve(file, path).filter(|path| tree.has(path)) else {
        return Some(format!("`{target}` leads nowhere"));
    };
    let headings = tree.text(&path).map(anchors).unwrap_or_default();
    let missing = anchor.filter(|anchor| !headings.iter().any(|heading| heading == anchor));
    missing.map(|anchor| format!("`{path}` has no heading `#{anchor}`"))
}

/// The path that a link in `file` means, from the top; none if it leads out of the repository.
fn resolve(file: &str, path: &str) -> Option<String> {
    if path.is_empty() {
        return Some(file.to_owned());
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::made_up(&[
            ("docs/a.md", text),
            ("docs/b.md", "# Some heading\n"),
            ("README.md", "# Top\n"),
            ("crates/x/src/lib.rs", ""),
        ]);
        check(&tree).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        assert_eq!(found("x\n[c](c.md)\n"), ["docs/a.md:2: `c.md` leads nowhere"]);
        assert_eq!(found("[b](b.md#other)\n"), ["docs/a.md:1: `docs/b.md` has no heading `#other`"]);
        assert_eq!(found("[out](../../etc/passwd)\n").len(), 1);
        assert_eq!(found("# Here\n[here](#there)\n").len(), 1);
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text =
            "# Here\n[b](b.md#some-heading) [r](../README.md) [x](../crates/x/) [h](#here) [w](https://w.org/x)\n";
        assert_eq!(found(text), [""; 0]);
    }
}
