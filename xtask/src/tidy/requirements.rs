//! `docs/requirements.md`: every id stands once, and every test that is named as a proof exists.
use super::Finding;
use super::markdown::{code_spans, rows};
use super::rust_source::{code, places_of, tests};
use super::tree::Tree;
use std::collections::BTreeMap;

const PAGE: &str = "docs/requirements.md";
/// The proof of what has none.
const NOT_YET: &str = "not yet";

/// A Rust file with its tests.
struct TestFile<'a> {
    path: &'a str,
    code: String,
    tests: Vec<String>,
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else { return vec![Finding::new(PAGE, 0, "the file is missing")] };
    let files: Vec<_> = tree.ending(".rs").map(|(path, text)| test_file(path, text)).collect();
    let rows = rows(page);
    let mut findings = repeated_ids(&rows);
    for (line, cells) in &rows {
        let objections = match cells.as_slice() {
            [_, _, _, proof] => objections(proof, &files),
            _ => vec!["a row has four cells: id, requirement, where, proof".to_owned()],
        };
        findings.extend(objections.into_iter().map(|message| Finding::new(PAGE, *line, message)));
    }
    findings
}

/// How many rows name a test, and how many rows there are.
pub(super) fn proven(tree: &Tree) -> (usize, usize) {
    let rows = rows(tree.text(PAGE).unwrap_or_default());
    let open = rows.iter().filter(|(_, cells)| cells.last().is_some_and(|proof| proof == NOT_YET)).count();
    (rows.len() - open, rows.len())
}

fn test_file<'a>(path: &'a str, text: &str) -> TestFile<'a> {
    let code = code(text);
    TestFile { path, tests: tests(&code), code }
}

fn repeated_ids(rows: &[(usize, Vec<String>)]) -> Vec<Finding> {
    let mut first = BTreeMap::new();
    let mut findings = Vec::new();
    for (line, cells) in rows {
        let id = cells.first().map(String::as_str).unwrap_or_default();
        match first.insert(id, line) {
            Some(earlier) => {
                findings.push(Finding::new(PAGE, *line, format!("the id {id} stands on line {earlier} too")))
            }
            None if id.is_empty() => findings.push(Finding::new(PAGE, *line, "the id is missing")),
            None => {}
        }
    }
    findings
}

/// What is wrong with a proof: it is `not yet`, or names of tests in backticks, with nothing but commas between.
fn objections(proof: &str, files: &[TestFile<'_>]) -> Vec<String> {
    if proof == NOT_YET {
        return Vec::new();
    }
    let around: String = proof.split('`').step_by(2).collect();
    if !proof.contains('`') || !around.chars().all(|letter| letter == ',' || letter == ' ') {
        return vec![format!("a proof is `{NOT_YET}` or the names of tests in backticks")];
    }
    let missing = code_spans(proof).filter(|name| !files.iter().any(|file| file.has(name)));
    missing.map(|name| format!("there is no test `{name}`")).collect()
}

impl TestFile<'_> {
    /// Whether this file holds the test of this name: `crate::module::test_name` or `file.rs::test_name`.
    fn has(&self, name: &str) -> bool {
        let Some((place, test)) = name.rsplit_once("::") else { return false };
        self.tests.iter().any(|own| own == test)
            && if place.ends_with(".rs") { self.is(place) } else { self.is_in(place) }
    }

    /// Whether this is the file at `path`, from the top or from any folder below.
    fn is(&self, path: &str) -> bool {
        self.path.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    }

    /// Whether this file belongs to the crate that `place` begins with and holds the modules that follow.
    fn is_in(&self, place: &str) -> bool {
        let mut parts = place.split("::");
        let (Some(name), Some(inside)) = (parts.next(), self.inside_crate()) else { return false };
        let folders: Vec<_> = inside.1.split('/').map(|part| part.trim_end_matches(".rs")).collect();
        name == inside.0 && parts.all(|module| folders.contains(&module) || self.holds_module(module))
    }

    /// The crate that this file belongs to, by its folder, and the path inside it.
    fn inside_crate(&self) -> Option<(&str, &str)> {
        let below = ["crates/", "plugins/"].iter().find_map(|top| self.path.strip_prefix(top));
        below.unwrap_or(self.path).split_once('/')
    }

    fn holds_module(&self, module: &str) -> bool {
        places_of(&self.code, module).any(|at| self.code[..at].trim_end().ends_with("mod"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "mod tests {\n #[test]\n fn it_holds() {}\n fn helper() {}\n}\n";

    fn found(rows: &str) -> Vec<String> {
        let page = format!("| id | requirement | where | proof |\n|---|---|---|---|\n{rows}");
        let tree = Tree::made_up(&[
            (PAGE, &page),
            ("crates/host/src/linux/write.rs", SOURCE),
            ("crates/machineadm/tests/documents/cases.rs", "#[test]\nfn every_case() {}\n"),
        ]);
        check(&tree).iter().map(Finding::to_string).collect()
    }

    fn proof(proof: &str) -> Vec<String> {
        found(&format!("| R1 | x | y | {proof} |\n"))
    }

    #[test]
    fn rows_with_a_test_count_as_proven() {
        let page = "| id | requirement | where | proof |\n|---|---|---|---|\n| A | a | b | not yet |\n| B | a | b | `x.rs::t` |\n";
        assert_eq!(proven(&Tree::made_up(&[(PAGE, page)])), (1, 2));
    }

    #[test]
    fn existing_tests_and_not_yet_pass() {
        for good in [
            "not yet",
            "`host::linux::write::tests::it_holds`",
            "`host::it_holds`, `machineadm::every_case`",
            "`cases.rs::every_case`",
            "`crates/machineadm/tests/documents/cases.rs::every_case`",
        ] {
            assert_eq!(proof(good), [""; 0], "{good}");
        }
    }

    #[test]
    fn a_test_that_does_not_exist_is_found() {
        for bad in [
            "`host::linux::write::tests::it_does_not`",
            "`host::linux::write::tests::helper`",
            "`host::windows::it_holds`",
            "`machine::it_holds`",
            "`es.rs::every_case`",
            "`it_holds`",
        ] {
            assert!(proof(bad)[0].starts_with("docs/requirements.md:3: there is no test"), "{bad}");
        }
        assert_eq!(proof("`host::a`, `host::b`").len(), 2);
    }

    #[test]
    fn other_proofs_repeated_ids_and_odd_rows_are_found() {
        for bad in ["", "later", "see `host::it_holds`"] {
            assert!(proof(bad)[0].contains("a proof is"), "{bad}");
        }
        let row = "| R1 | x | y | not yet |\n";
        assert!(found(&format!("{row}{row}"))[0].contains("the id R1 stands on line 3 too"));
        assert_eq!(found("|  | x | y | not yet |\n").len(), 1);
        assert_eq!(found("| R1 | x | not yet |\n").len(), 1);
    }
}
