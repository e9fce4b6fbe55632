//! `imports`: further files that containerd merges over its configuration.
use crate::{Version, edit, layout::Key};
use toml_edit::{Array, DocumentMut, Item, Value};

/// What containerd imports since 2.2, whether the configuration says so or not.
const ALWAYS: &str = "/etc/containerd/conf.d/*.toml";

/// Files that are imported: a directory, and a pattern of names in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportPattern {
    /// Absolute path of the directory.
    pub directory: String,
    name: String,
}

impl ImportPattern {
    fn read(pattern: &str) -> Option<Self> {
        let (directory, name) = pattern.rsplit_once('/')?;
        Some(Self { directory: directory.to_owned(), name: name.to_owned() })
    }

    /// Whether a name fits, as Go's filepath.Match has it; brackets fit everything.
    pub fn fits(&self, name: &str) -> bool {
        self.name.contains('[') || fits(&self.name, name)
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.into_iter().any(|at| fits(rest.as_str(), &name[at..]))
        }
        Some(letter) => {
            let mut letters = name.chars();
            let first = letters.next();
            first.is_some_and(|first| letter == '?' || first == letter) && fits(rest.as_str(), letters.as_str())
        }
    }
}

/// The files that a configuration at a path imports. A text that is not TOML imports nothing.
pub fn import_patterns(text: &str, config_path: &str, version: Version) -> Vec<ImportPattern> {
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    let always = (version >= Version { major: 2, minor: 2 }).then(|| ALWAYS.to_owned());
    let patterns = always.into_iter().chain(listed(&document).map(|pattern| absolute(pattern, config_path)));
    let mut found: Vec<ImportPattern> = Vec::new();
    for pattern in patterns.filter_map(|pattern| ImportPattern::read(&pattern)) {
        if !found.contains(&pattern) {
            found.push(pattern);
        }
    }
    found
}

/// The text with every import as an absolute path, so that it means the same wherever it is read from.
pub fn with_absolute_imports(text: &str, config_path: &str) -> String {
    let Ok(mut document) = text.parse::<DocumentMut>() else { return text.to_owned() };
    let imports: Array = listed(&document).map(|pattern| absolute(pattern, config_path)).collect();
    if imports.is_empty() {
        return text.to_owned();
    }
    match edit::set(&mut document, &Key::of(&["imports"]), Value::from(imports)) {
        Ok(()) => document.to_string(),
        Err(_) => text.to_owned(),
    }
}

fn listed(document: &DocumentMut) -> impl Iterator<Item = &str> {
    let imports = document.get("imports").and_then(Item::as_array);
    imports.into_iter().flat_map(|imports| imports.iter()).filter_map(Value::as_str)
}

fn absolute(pattern: &str, config_path: &str) -> String {
    let directory = config_path.rsplit_once('/').map_or("", |(directory, _)| directory);
    if pattern.starts_with('/') { pattern.to_owned() } else { format!("{directory}/{pattern}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "/etc/containerd/config.toml";

    #[test]
    fn imports_are_relative_to_the_configuration() {
        let text = "# x\nimports = ['conf.d/*.toml', '/opt/a.toml'] # y\nversion = 2\n";
        let expected = "# x\nimports = [\"/etc/containerd/conf.d/*.toml\", \"/opt/a.toml\"] # y\nversion = 2\n";
        assert_eq!(with_absolute_imports(text, CONFIG), expected);
        let version = Version { major: 1, minor: 6 };
        let found: Vec<_> = import_patterns(text, CONFIG, version).into_iter().map(|one| one.directory).collect();
        assert_eq!(found, ["/etc/containerd/conf.d", "/opt"]);
        assert_eq!(with_absolute_imports("version = 2\n", CONFIG), "version = 2\n");
    }

    #[test]
    fn newer_containerds_import_their_own_directory_in_any_case() {
        let found = |minor| import_patterns("", CONFIG, Version { major: 2, minor }).len();
        assert_eq!((found(1), found(2), found(4)), (0, 1, 1));
    }

    #[test]
    fn a_pattern_fits_names() {
        let pattern = ImportPattern::read("/a/*.to?l").unwrap();
        assert!(pattern.fits("x.toml") && pattern.fits(".tool"));
        assert!(!pattern.fits("x.toml~") && !pattern.fits("x.conf"));
    }
}
