//! A port has few methods: a public trait of the engine or of a port has at most eight, but for those of a list whose
//! counts only shrink.
use super::Finding;
use super::layers::is_port;
use super::rust_source::{block_end, code, is_test_file, places_of, without_tests};
use super::tree::{Tree, line_at};

const MOST: usize = 8;

/// Each trait that has more, as it is today: the crate's folder, its name, the number of its methods.
const LISTED: &[(&str, &str, usize)] =
    &[("engine", "Act", 15), ("engine", "Cluster", 22), ("host", "Inspect", 35), ("host", "Host", 10)];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_against(tree, LISTED)
}

fn check_against(tree: &Tree, listed: &[(&str, &str, usize)]) -> Vec<Finding> {
    let traits = traits(tree);
    let find = |name: &str, own: &str| traits.iter().find(|found| found.of_crate == name && found.name == own);
    let mut findings = Vec::new();
    for found in &traits {
        let Trait { file, line, of_crate, name, methods } = found;
        let allowed = listed.iter().find(|(of, own, _)| of == of_crate && own == name).map_or(MOST, |listed| listed.2);
        if *methods > allowed {
            let message =
                format!("the trait `{name}` has {methods} methods, more than {allowed}: give each topic its own");
            findings.push(Finding::new(file, *line, message));
        }
    }
    for (of_crate, name, count) in listed {
        let methods = find(of_crate, name).map_or(0, |found| found.methods);
        if methods < *count {
            let message = format!("`{of_crate}::{name}` has {methods} methods now, and not {count}: say so in LISTED");
            findings.push(Finding::new("xtask/src/tidy/port_traits.rs", 0, message));
        }
    }
    findings
}

/// A public trait.
struct Trait {
    file: String,
    line: usize,
    /// The crate's folder below `crates`.
    of_crate: String,
    name: String,
    methods: usize,
}

fn traits(tree: &Tree) -> Vec<Trait> {
    let mut traits = Vec::new();
    for (file, text) in tree.ending(".rs") {
        let Some((of_crate, path)) = file.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) else {
            continue;
        };
        if !is_port(of_crate) || is_test_file(path) {
            continue;
        }
        let code = without_tests(&code(text));
        for at in places_of(&code, "pub trait") {
            let rest = &code[at + "pub trait".len()..];
            let Some(open) = rest.find('{') else { continue };
            let name = rest[..open]
                .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .find(|part| !part.is_empty());
            traits.push(Trait {
                file: file.to_owned(),
                line: line_at(&code, at),
                of_crate: of_crate.to_owned(),
                name: name.unwrap_or_default().to_owned(),
                methods: methods(&rest[open..open + block_end(&rest[open..])]),
            });
        }
    }
    traits
}

/// The functions of a block, without those inside other blocks of it.
fn methods(block: &str) -> usize {
    let depth = |at: usize| {
        let count = |brace: char| block[..at].matches(brace).count();
        count('{') - count('}')
    };
    places_of(block, "fn").filter(|at| depth(*at) == 1).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, listed: &[(&str, &str, usize)]) -> Vec<String> {
        let tree = Tree::made_up(&[("crates/host/src/a.rs", source), ("crates/etcd/src/a.rs", source)]);
        check_against(&tree, listed).iter().map(Finding::to_string).collect()
    }

    fn with_methods(count: usize) -> String {
        let methods = "    fn a(&self) { fn inner() {} }\n".repeat(count);
        format!("//! x\npub trait Machine<T>: Send {{\n{methods}}}\n#[cfg(test)]\npub trait Fake {{{methods}}}\n")
    }

    #[test]
    fn a_trait_of_a_port_with_too_many_methods_is_found() {
        let message = "crates/host/src/a.rs:2: the trait `Machine` has 9 methods, more than 8: give each topic its own";
        assert_eq!(found(&with_methods(8), &[]), [""; 0]);
        assert_eq!(found(&with_methods(9), &[]), [message]);
    }

    #[test]
    fn a_listed_trait_may_only_lose_methods_and_then_the_list_says_so() {
        let listed = [("host", "Machine", 10)];
        assert_eq!(found(&with_methods(10), &listed), [""; 0]);
        assert!(found(&with_methods(11), &listed)[0].contains("11 methods, more than 10"));
        let fewer = "xtask/src/tidy/port_traits.rs: `host::Machine` has 9 methods now, and not 10: say so in LISTED";
        assert_eq!(found(&with_methods(9), &listed), [fewer]);
        assert_eq!(found("", &listed).len(), 1);
    }

    #[test]
    fn a_listed_trait_has_more_than_the_most() {
        assert!(LISTED.iter().all(|(_, _, count)| *count > MOST));
    }
}
