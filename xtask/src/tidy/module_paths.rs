//! Which modules of its own crate a file uses, read off its text: paths that begin with `crate` and `super`.
use super::rust_source::{block_end, places_of};
use std::collections::BTreeMap;

/// The names at the crate's top that a file uses: modules, and items that the crate's root defines or names.
/// `depth` is that of the file's module below the root: 1 for `a.rs` and `a/mod.rs`, 2 for `a/b.rs`.
pub(super) fn names_at_the_top(code: &str, depth: usize) -> Vec<&str> {
    let after_crate = places_of(code, "crate").filter_map(|at| after_colons(&code[at + "crate".len()..]));
    let after_super = places_of(code, "super").filter_map(|at| top_of_super(code, at, depth));
    after_crate.chain(after_super).flat_map(first_names).collect()
}

/// What follows a chain of `super`s that begins here and leads to the crate's top.
fn top_of_super(code: &str, at: usize, depth: usize) -> Option<&str> {
    if code[..at].trim_end().ends_with("super::") {
        return None;
    }
    let (mut rest, mut steps) = (&code[at..], 0);
    while let Some(after) = rest.strip_prefix("super").and_then(after_colons) {
        (rest, steps) = (after.trim_start(), steps + 1);
    }
    (steps == depth).then_some(rest)
}

fn after_colons(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix("::")
}

/// The first name of a path, or those of each path in a group.
fn first_names(tree: &str) -> Vec<&str> {
    let tree = tree.trim_start();
    match tree.starts_with('{') {
        true => {
            members(&tree[1..block_end(tree).max(2) - 1]).into_iter().map(|member| word(member.trim_start())).collect()
        }
        false => vec![word(tree)],
    }
}

/// What the root of a crate names by `use`, with the first part of the path behind it: `pub use a::b::C as D` is D of a.
pub(super) fn named_by_use(code: &str) -> BTreeMap<&str, &str> {
    let mut named = BTreeMap::new();
    for at in places_of(code, "use") {
        let tree = &code[at + "use".len()..];
        let tree = tree[..tree.find(';').unwrap_or(tree.len())].trim();
        let tree = tree.trim_start_matches("crate::").trim_start_matches("self::");
        for member in if tree.starts_with('{') { first_level(tree) } else { vec![tree] } {
            let first = word(member);
            named.extend(last_names(member).into_iter().map(|name| (name, first)));
        }
    }
    named
}

/// The names that a path brings, or that each path in its group brings.
fn last_names(tree: &str) -> Vec<&str> {
    let tree = tree.trim();
    if let Some(at) = tree.find('{') {
        return first_level(&tree[at..]).into_iter().flat_map(last_names).collect();
    }
    let path = tree.rsplit_once(" as ").map_or(tree, |(_, name)| name);
    vec![path.rsplit("::").next().unwrap_or(path).trim()]
}

fn first_level(group: &str) -> Vec<&str> {
    members(&group[1..block_end(group).max(2) - 1])
}

/// The members of a group, each with the groups inside it.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut members) = (0usize, 0, Vec::new());
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                members.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    members.push(&group[start..]);
    members.into_iter().map(str::trim).filter(|member| !member.is_empty()).collect()
}

/// The name that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_from_the_crate_and_from_super_are_found() {
        let code =
            "use crate::{a::{B, C}, d};\nuse crate::e::F;\nfn f(x: crate::g::H) { super::i::j(); super::super::k(); }";
        assert_eq!(names_at_the_top(code, 1), ["a", "d", "e", "g", "i"]);
        assert_eq!(names_at_the_top(code, 2), ["a", "d", "e", "g", "k"]);
        assert_eq!(names_at_the_top("use super::{a, b::C};", 1), ["a", "b"]);
        assert_eq!(names_at_the_top("pub(crate) fn f(crated: super::A) {}", 3), [""; 0]);
    }

    #[test]
    fn the_root_names_items_of_its_modules() {
        let code = "mod a;\npub use a::{B, c::{D, E as F}};\npub use crate::g::H;\nuse {i::J, k};\npub use objects::L;";
        let named: Vec<_> = named_by_use(code).into_iter().map(|(name, first)| format!("{name} {first}")).collect();
        assert_eq!(named, ["B a", "D a", "F a", "H g", "J i", "L objects", "k k"]);
    }
}
