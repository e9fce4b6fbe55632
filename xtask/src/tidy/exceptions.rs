//! An exception carries its reason, a test runs in one of the tiers, and nothing is left for later without a word.
use super::Finding;
use super::rust_source::{code, places_of};
use super::tree::{Tree, line_at};

/// What marks a test of the long tier; what it adds follows.
const LONG_TIER: &str = "#[ignore = \"long tier: ";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".rs").flat_map(|(file, text)| check_file(file, text, &code(text))).collect()
}

/// `code` is the text with blanks for what strings contain, at the same places.
fn check_file(file: &str, text: &str, code: &str) -> Vec<Finding> {
    let attributes = attributes(code).filter(|(at, _)| !text[*at..].starts_with(LONG_TIER));
    let attributes = attributes.filter_map(|(at, attribute)| Some((at, objection(attribute)?)));
    let unfinished = ["todo!", "unimplemented!"].into_iter().flat_map(|name| {
        code.match_indices(name).map(move |(at, _)| (at, format!("`{name}` is unfinished work: finish or remove it")))
    });
    attributes.chain(unfinished).map(|(at, message)| Finding::new(file, line_at(code, at), message)).collect()
}

/// Every attribute with the place where it begins, from its name to its closing bracket.
fn attributes(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices('#').filter_map(|(at, _)| {
        let open = code[at + 1..].trim_start_matches('!').trim_start().strip_prefix('[')?;
        Some((at, &open[..closing_bracket(open)]))
    })
}

fn closing_bracket(attribute: &str) -> usize {
    let mut depth = 1usize;
    for (at, letter) in attribute.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    attribute.len()
}

fn objection(attribute: &str) -> Option<String> {
    let has = |word| places_of(attribute, word).next().is_some();
    let called = |word| places_of(attribute, word).any(|at| attribute[at + word.len()..].trim_start().starts_with('('));
    if called("allow") {
        return Some("`allow` hides for ever: use `#[expect(.., reason = \"..\")]`".to_owned());
    }
    if called("expect") && !has("reason") {
        return Some("`expect` needs its `reason = \"..\"`".to_owned());
    }
    has("ignore").then(|| "an ignored test proves nothing: make it run, or say `long tier: WHAT IT ADDS`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Tree::made_up(&[("a.rs", text)])).iter().map(|found| found.line).collect()
    }

    #[test]
    fn every_kind_of_silent_exception_is_found() {
        assert_eq!(lines("//! x\n#[allow(dead_code)]\nfn a() {}\n"), [2]);
        assert_eq!(lines("//! x\n#![allow(missing_docs)]\n"), [2]);
        assert_eq!(lines("#[cfg_attr(test, allow(dead_code))]\n"), [1]);
        assert_eq!(lines("#[expect(dead_code)]\n"), [1]);
        assert_eq!(lines("#[ignore = \"slow\"]\n#[test]\nfn a() {}\n"), [1]);
        assert_eq!(lines("fn a() {\n    todo!()\n}\nfn b() {\n    unimplemented!()\n}\n"), [2, 5]);
    }

    #[test]
    fn a_reason_a_string_and_a_comment_pass() {
        assert_eq!(lines("#[expect(dead_code, reason = \"used by the next phase\")]\n"), [0; 0]);
        assert_eq!(lines("// #[allow(x)] todo!()\nconst A: &str = \"#[ignore]\";\n"), [0; 0]);
        assert_eq!(lines("#[derive(Debug)]\nstruct A { allow: bool }\n"), [0; 0]);
        assert_eq!(lines("#[test]\n#[ignore = \"long tier: more versions\"]\nfn a() {}\n"), [0; 0]);
    }
}
