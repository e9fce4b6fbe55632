//! Texts that users read are written in the words of the field: phrases that are not, and what to write instead.
use super::Finding;
use super::tree::Tree;

/// Phrases, not single words: each is wrong wherever it stands. Compared without regard to case, at word boundaries.
const PHRASES: &[(&str, &str)] = &[
    ("sealed", "encrypted"),
    ("unsealed", "decrypted"),
    ("seal documents", "encrypt documents"),
    ("open documents", "decrypt documents"),
    ("lies elsewhere", "is a remote document, fetched from a URI"),
    ("lie elsewhere", "are remote documents, fetched from a URI"),
    ("is kept", "is saved, cached or stored: name the file"),
    ("are kept", "are saved, cached or stored: name the file"),
    ("was kept", "was saved, cached or stored: name the file"),
    ("what is there already", "existing objects"),
    ("is told", "gets, is passed, is reported"),
    ("be told", "be passed, be configured, be reported"),
    ("are told", "get, are passed, are reported"),
    ("tells what", "reports what"),
    ("tells which", "reports which"),
    ("says which parts", "lists which parts"),
    ("cut short", "interrupted"),
    ("half-done", "unfinished"),
    ("was begun", "was started"),
    ("is begun", "is started"),
    ("begun again", "started again"),
    ("begins a cluster", "creates a cluster"),
    ("to begin with", "to start with"),
    ("take back", "undo"),
    ("taken back", "undone"),
    ("take it back", "undo it"),
    ("taken away", "deleted"),
    ("make a token", "create a token"),
    ("made just so", "identical"),
    ("just so", "identical"),
    ("vouch", "is verified by, CA certificates"),
    ("vouches", "is verified by, CA certificates"),
    ("its roots", "its CA certificates"),
    ("cluster's roots", "cluster's CA certificates"),
    ("new roots", "new CA certificates"),
    ("the roots", "the CA certificates"),
    ("pin that fits", "CA pin that matches"),
    ("prove that it is", "verify that it is"),
    ("proves it", "verifies it"),
    ("was proven", "was verified"),
    ("were proven", "were verified"),
    ("is believed", "is trusted"),
    ("could not be had", "is unavailable"),
    ("cannot be had", "is unavailable"),
    ("can't be had", "is unavailable"),
    ("in its place", "instead of it"),
    ("its place", "its location, path or position"),
    ("must be there", "is required"),
    ("if absent", "default"),
    ("everything that is wrong", "every problem"),
    ("is wrong with", "is invalid in"),
    ("again and again", "retries"),
    ("in vain", "without success"),
    ("not well", "unhealthy, or the status that it returned"),
    ("only a person", "manual action required"),
    ("counts from", "takes effect at"),
    ("counts alone", "only it is used"),
    ("in its life", "lifecycle stage"),
    ("other than it was", "changed since"),
    ("somebody else", "another user, another process"),
    ("somebody", "an operator, a user"),
    ("whoever", "an operator, a user, anyone who"),
    ("whose it is", "owner"),
    ("who may read", "mode"),
    ("goes without", "does not use"),
];

/// What users read: golden files of help, errors, plans and status, the README and the pages.
fn is_read_by_users(file: &str) -> bool {
    let is_golden = file.starts_with("tests/") && file.ends_with(".txt");
    let is_example = file.starts_with("examples/") && file.ends_with(".yaml");
    let is_page = file.starts_with("docs/") && file.ends_with(".md") && !file.starts_with("docs/decisions/");
    // Quotes the specifications.
    let quotes = file == "docs/requirements.md";
    file == "README.md" || file == "CHANGELOG.md" || is_golden || is_example || is_page && !quotes
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, text) in tree.files().filter(|(file, _)| is_read_by_users(file)) {
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            for (phrase, better) in PHRASES.iter().filter(|(phrase, _)| has(&lower, phrase)) {
                findings.push(Finding::new(file, number + 1, format!("\"{phrase}\": write {better}")));
            }
        }
    }
    findings
}

fn has(line: &str, phrase: &str) -> bool {
    // A name of the code, such as `sealed_reboot`, is no word of the sentence.
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(phrase).any(|(at, found)| {
        !is_part(line[..at].chars().next_back()) && !is_part(line[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_in_what_users_read_and_nowhere_else() {
        let text = "a\nThe part that Lies elsewhere.\nunlies elsewhere\n`sealed_reboot`\n";
        let tree = Tree::made_up(&[
            ("tests/help/a.txt", text),
            ("docs/a.md", text),
            ("README.md", text),
            ("docs/decisions/1.md", text),
            ("docs/requirements.md", text),
            ("crates/a/src/lib.rs", text),
        ]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        let finding =
            |file: &str| format!("{file}:2: \"lies elsewhere\": write is a remote document, fetched from a URI");
        let mut wanted = vec![finding("tests/help/a.txt"), finding("docs/a.md"), finding("README.md")];
        wanted.sort();
        let mut found = found;
        found.sort();
        assert_eq!(found, wanted);
    }

    #[test]
    fn no_replacement_is_itself_refused() {
        for (_, better) in PHRASES {
            assert!(!PHRASES.iter().any(|(phrase, _)| has(better, phrase)), "{better}");
        }
    }
}
