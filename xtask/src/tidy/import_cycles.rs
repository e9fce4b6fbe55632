//! No import cycle between the modules of a crate, but for those that stand in a list that only shrinks.
//!
//! A module is what the crate's root declares: a file with the folder of its name is one. It uses another module when its
//! code, tests aside, has a path to it (`crate::b::C`, `super::b`), or to an item of it that the root names
//! (`pub use b::C` and `crate::C`). What the root itself defines belongs to no module, and a macro's body counts where the
//! macro is written.
use super::Finding;
use super::module_paths::{named_by_use, names_at_the_top};
use super::rust_source::{code, is_test_file, places_of, without_tests};
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Each module that is part of a cycle, as `crate/module`.
const LISTED: &str = include_str!("import_cycles.txt");
const LIST: &str = "xtask/src/tidy/import_cycles.txt";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_against(tree, LISTED)
}

/// How many modules of each crate are part of a cycle: `engine 30 of 39`.
pub(super) fn summary(tree: &Tree) -> String {
    let counts = crates(tree).into_iter().map(|(name, modules)| (name, in_cycles(&modules).len(), modules.len()));
    let some: Vec<_> = counts.filter(|(_, in_cycles, _)| *in_cycles > 0).collect();
    some.iter().map(|(name, in_cycles, all)| format!("{name} {in_cycles} of {all}")).collect::<Vec<_>>().join(", ")
}

fn check_against(tree: &Tree, listed: &str) -> Vec<Finding> {
    let mut found = BTreeMap::new();
    for (name, modules) in crates(tree) {
        for (module, way) in in_cycles(&modules) {
            found.insert(format!("{name}/{module}"), (modules[&module].file.clone(), way));
        }
    }
    let is_listed = |module: &str| listed.lines().any(|line| line == module);
    let new = found
        .iter()
        .filter(|(module, _)| !is_listed(module))
        .map(|(module, (file, way))| Finding::new(file, 0, format!("`{module}` is part of an import cycle: {way}")));
    let gone = listed.lines().enumerate().filter(|(_, module)| !found.contains_key(*module)).map(|(index, module)| {
        Finding::new(LIST, index + 1, format!("`{module}` is no longer part of an import cycle: remove the line"))
    });
    new.chain(gone).collect()
}

/// A module below a crate's root.
struct Module {
    /// Its own file: `a.rs` or `a/mod.rs`.
    file: String,
    /// The other modules that it uses.
    uses: BTreeSet<String>,
}

type Modules = BTreeMap<String, Module>;

/// The modules of each crate below `crates/`, by the crate's folder.
fn crates(tree: &Tree) -> BTreeMap<String, Modules> {
    let mut sources: BTreeMap<&str, Vec<Source>> = BTreeMap::new();
    for (file, text) in tree.ending(".rs") {
        let Some((name, path)) = file.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) else {
            continue;
        };
        if !is_test_file(path) {
            sources.entry(name).or_default().push(Source { file, path, code: without_tests(&code(text)) });
        }
    }
    sources.into_iter().map(|(name, sources)| (name.to_owned(), modules(&sources))).collect()
}

/// A Rust file of a crate.
struct Source<'a> {
    file: &'a str,
    /// Below `src`.
    path: &'a str,
    /// Without comments, texts and tests.
    code: String,
}

impl Source<'_> {
    /// The modules that lead to it: `a` and `b` for `a/b.rs` and `a/b/mod.rs`; none for a root.
    fn module(&self) -> Vec<&str> {
        let path = self.path.trim_end_matches(".rs");
        let path = path.strip_suffix("/mod").unwrap_or(path);
        if ["lib", "main"].contains(&path) { Vec::new() } else { path.split('/').collect() }
    }
}

fn modules(sources: &[Source<'_>]) -> Modules {
    let root = sources.iter().find(|source| source.path == "lib.rs").map_or("", |source| source.code.as_str());
    let named = named_by_use(root);
    // A module under `#[cfg(test)]` is declared in no code that is left.
    let is_declared = |module: &str| places_of(root, module).any(|at| root[..at].trim_end().ends_with("mod"));
    let mut modules = Modules::new();
    for source in sources {
        if let [top] = source.module()[..]
            && is_declared(top)
        {
            modules.insert(top.to_owned(), Module { file: source.file.to_owned(), uses: BTreeSet::new() });
        }
    }
    for source in sources {
        let path = source.module();
        let Some(own) = path.first().filter(|top| modules.contains_key(**top)) else { continue };
        let names = names_at_the_top(&source.code, path.len());
        let used = names
            .into_iter()
            .map(|name| if modules.contains_key(name) { name } else { *named.get(name).unwrap_or(&name) });
        let used: BTreeSet<_> =
            used.filter(|name| name != own && modules.contains_key(*name)).map(str::to_owned).collect();
        if let Some(module) = modules.get_mut(*own) {
            module.uses.extend(used);
        }
    }
    modules
}

/// The modules that use themselves through others, each with a shortest way: `a → b → a`.
fn in_cycles(modules: &Modules) -> BTreeMap<String, String> {
    let every = modules.keys().filter_map(|name| Some((name.clone(), shortest_way_back(modules, name)?.join(" → "))));
    every.collect()
}

fn shortest_way_back<'m>(modules: &'m Modules, from: &'m str) -> Option<Vec<&'m str>> {
    let (mut seen, mut ahead) = (BTreeSet::new(), VecDeque::from([vec![from]]));
    while let Some(way) = ahead.pop_front() {
        for used in &modules[*way.last()?].uses {
            let further = [way.as_slice(), &[used.as_str()]].concat();
            if used == from {
                return Some(further);
            }
            if seen.insert(used) {
                ahead.push_back(further);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "mod a;\nmod b;\nmod c;\n#[cfg(test)]\nmod testing;\npub use b::Item;\n";

    fn found(files: &[(&str, &str)], listed: &str) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|(path, text)| (format!("crates/x/src/{path}"), *text)).collect();
        let mut files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        files.push(("crates/x/src/lib.rs", ROOT));
        check_against(&Tree::made_up(&files), listed).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn modules_that_use_each_other_are_found() {
        let files = [
            ("a.rs", "use crate::b::X;"),
            ("b.rs", "use super::c;"),
            ("c/mod.rs", ""),
            ("c/d.rs", "super::super::a::f();"),
        ];
        let message = |file: &str, own: &str, way: &str| {
            format!("crates/x/src/{file}: `x/{own}` is part of an import cycle: {way}")
        };
        let expected = [
            message("a.rs", "a", "a → b → c → a"),
            message("b.rs", "b", "b → c → a → b"),
            message("c/mod.rs", "c", "c → a → b → c"),
        ];
        assert_eq!(found(&files, ""), expected);
        assert_eq!(found(&files, "x/a\nx/b\nx/c\n"), [""; 0]);
        assert_eq!(found(&files, "x/a\nx/b\n"), expected[2..]);
    }

    #[test]
    fn an_item_that_the_root_names_belongs_to_its_module() {
        assert_eq!(found(&[("a.rs", "use crate::{Item, Other};"), ("b.rs", "crate::a::f()")], "").len(), 2);
        assert_eq!(found(&[("a.rs", "use crate::{Other};"), ("b.rs", "crate::a::f()")], ""), [""; 0]);
    }

    #[test]
    fn a_module_and_its_own_folder_tests_and_comments_make_no_cycle() {
        let files = [
            ("a.rs", "use crate::a::y; mod y; // crate::b\n#[cfg(test)]\nmod tests { use crate::b; }"),
            ("a/y.rs", "use super::f; use crate::a::g;"),
            ("a/tests.rs", "use crate::b;"),
            ("b.rs", "use crate::a;"),
            ("testing.rs", "use crate::{a, b};"),
            ("c.rs", "#[cfg(test)]\nuse crate::testing::x;"),
        ];
        assert_eq!(found(&files, ""), [""; 0]);
    }

    #[test]
    fn a_listed_module_that_is_in_no_cycle_any_more_is_found() {
        let line = "xtask/src/tidy/import_cycles.txt:1: `x/a` is no longer part of an import cycle: remove the line";
        assert_eq!(found(&[("a.rs", "use crate::b;"), ("b.rs", "")], "x/a\n"), [line]);
    }

    #[test]
    fn the_summary_counts_modules_by_crate() {
        let files = [
            ("crates/x/src/lib.rs", ROOT),
            ("crates/x/src/a.rs", "crate::b::f()"),
            ("crates/x/src/b.rs", "crate::a::f()"),
            ("crates/x/src/c.rs", ""),
            ("crates/y/src/lib.rs", "mod a;"),
            ("crates/y/src/a.rs", ""),
        ];
        assert_eq!(summary(&Tree::made_up(&files)), "x 2 of 3");
    }
}
