//! CONTRIBUTING's recipes for a kind and an act name every file that one touches: counted on one that is there.
use super::Finding;
use super::rust_source::{code, without_tests};
use super::tree::Tree;
use std::collections::BTreeSet;

const PAGE: &str = "CONTRIBUTING.md";

/// A recipe, tried on something that was made by it.
struct Recipe {
    heading: &'static str,
    /// What stands for a name in the recipe's paths, and what this one is called there.
    names: &'static [(&'static str, &'static str)],
    /// The words by which code names it.
    words: &'static [&'static str],
}

const RECIPES: &[Recipe] = &[
    Recipe {
        heading: "\n## Add a kind\n",
        names: &[("<kind>", "kernel_modules")],
        words: &["KernelModulesConfig", "KernelModules", "kernel_modules"],
    },
    Recipe {
        heading: "\n## Add an act\n",
        names: &[("<act>", "kubeadm_init"), ("<kind>", "init")],
        words: &["KubeadmInit", "kubeadm_init"],
    },
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    RECIPES.iter().flat_map(|recipe| check_recipe(tree, recipe)).collect()
}

fn check_recipe(tree: &Tree, recipe: &Recipe) -> Vec<Finding> {
    let page = tree.text(PAGE).unwrap_or_default();
    let Some(section) = page.split(recipe.heading).nth(1).and_then(|rest| rest.split("\n## ").next()) else {
        return vec![Finding::new(PAGE, 0, format!("has no section `{}`", recipe.heading.trim()))];
    };
    let (named, touched) = (named(section, recipe), touched(tree, recipe));
    let missing = touched.difference(&named).map(|file| (file, "is touched"));
    let needless = named.difference(&touched).map(|file| (file, "is named, but not touched"));
    let finding = |(file, what): (&String, &str)| {
        Finding::new(PAGE, 0, format!("`{}`: {file} {what} by {}", recipe.heading.trim(), recipe.words[0]))
    };
    missing.chain(needless).map(finding).collect()
}

/// The source files that a recipe names.
fn named(section: &str, recipe: &Recipe) -> BTreeSet<String> {
    let quoted = section.split('`').skip(1).step_by(2);
    let sources = quoted.filter(|path| path.starts_with("crates/") && path.ends_with(".rs"));
    let filled = |path: &str| recipe.names.iter().fold(path.to_owned(), |path, (hole, name)| path.replace(hole, name));
    sources.map(filled).collect()
}

/// The source files whose code names it, tests left out.
fn touched(tree: &Tree, recipe: &Recipe) -> BTreeSet<String> {
    let sources = tree.ending(".rs").filter(|(file, _)| file.starts_with("crates/") && file.contains("/src/"));
    let names_it = |text: &str| {
        let code = without_tests(&code(text));
        code.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|word| recipe.words.contains(&word))
    };
    let is_its_own = |file: &str| recipe.names.iter().take(1).any(|(_, name)| file.ends_with(&format!("/{name}.rs")));
    sources
        .filter(|(file, text)| !file.contains("/tests/") && (is_its_own(file) || names_it(text)))
        .map(|(file, _)| file.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: Recipe =
        Recipe { heading: "\n## Add a kind\n", names: &[("<kind>", "motd")], words: &["MotdConfig", "motd"] };

    fn found(page: &str, other: &str) -> Vec<String> {
        let page = format!("# C\n\n## Add a kind\n{page}\n## Next\n`crates/c/src/z.rs`\n");
        let files =
            [(PAGE, page.as_str()), ("crates/a/src/motd.rs", "struct MotdConfig;"), ("crates/b/src/rows.rs", other)];
        check_recipe(&Tree::made_up(&files), &RECIPE).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_recipe_names_exactly_what_is_touched() {
        let both = "`crates/a/src/<kind>.rs` and `crates/b/src/rows.rs`";
        assert_eq!(found(both, "row::<MotdConfig>()"), Vec::<String>::new());
        assert_eq!(found("`crates/a/src/<kind>.rs`", "mod motd;").len(), 1);
        assert_eq!(found(both, "// MotdConfig\nfn other() {}").len(), 1);
        assert_eq!(found(both, "#[cfg(test)]\nmod tests {\n    use motd;\n}\n").len(), 1);
    }
}
