//! The workspace's manifests: which crate stands in which folder and what it depends on.
use super::tree::{Tree, line_of};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// One crate of the workspace.
pub(super) struct Manifest {
    /// The manifest's path.
    pub(super) file: String,
    /// The folder that the crate stands in, relative to the top: `crates/host`.
    pub(super) folder: String,
    /// The package's name: `machineadm-host`.
    pub(super) package: String,
    pub(super) dependencies: Vec<Dependency>,
}

/// One line of a crate's dependencies.
pub(super) struct Dependency {
    /// The package, also where the manifest calls it by another name.
    pub(super) package: String,
    pub(super) section: Section,
    /// Whether the version comes from the workspace.
    pub(super) inherited: bool,
    pub(super) line: usize,
}

/// Where a dependency is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Normal,
    Build,
    Dev,
}

const SECTIONS: &[(&str, Section)] =
    &[("dependencies", Section::Normal), ("build-dependencies", Section::Build), ("dev-dependencies", Section::Dev)];

/// Every crate of the workspace. A manifest that is not TOML is cargo's to complain of.
pub(super) fn manifests(tree: &Tree) -> Vec<Manifest> {
    let workspace = workspace_dependencies(tree);
    tree.ending("Cargo.toml").filter_map(|(file, text)| manifest(file, text, &workspace)).collect()
}

/// The dependencies that the workspace's own manifest names, by the name that crates use.
pub(super) fn workspace_dependencies(tree: &Tree) -> BTreeMap<String, Value> {
    let root: Option<Table> = tree.text("Cargo.toml").and_then(|text| text.parse().ok());
    let table = root.as_ref().and_then(|root| root.get("workspace")?.get("dependencies")?.as_table());
    table.map(|table| table.clone().into_iter().collect()).unwrap_or_default()
}

fn manifest(file: &str, text: &str, workspace: &BTreeMap<String, Value>) -> Option<Manifest> {
    let folder = file.strip_suffix("/Cargo.toml")?;
    let table: Table = text.parse().ok()?;
    let package = table.get("package")?.get("name")?.as_str()?;
    let mut dependencies = Vec::new();
    for (section, name, value) in sections(&table) {
        let inherited = value.get("workspace").is_some();
        let given = if inherited { workspace.get(name).unwrap_or(value) } else { value };
        let package = given.get("package").and_then(Value::as_str).unwrap_or(name).to_owned();
        dependencies.push(Dependency { package, section, inherited, line: dependency_line(text, name) });
    }
    Some(Manifest { file: file.to_owned(), folder: folder.to_owned(), package: package.to_owned(), dependencies })
}

/// Every dependency of a manifest, those of single targets included.
fn sections(manifest: &Table) -> Vec<(Section, &str, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    std::iter::once(manifest).chain(tables).flat_map(of_table).collect()
}

fn of_table(table: &Table) -> impl Iterator<Item = (Section, &str, &Value)> {
    SECTIONS.iter().flat_map(move |(name, section)| {
        let entries = table.get(*name).and_then(Value::as_table);
        entries.into_iter().flatten().map(move |(name, value)| (*section, name.as_str(), value))
    })
}

/// The line that names the dependency as `name = ..`, `name.workspace = ..` or `[dependencies.name]`.
fn dependency_line(text: &str, name: &str) -> usize {
    let begins =
        |line: &str| line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '=', '.']));
    match text.lines().position(begins) {
        Some(index) => index + 1,
        None => line_of(text, &format!("dependencies.{name}]")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_inherited_and_target_dependencies_are_read() {
        let root = "[workspace.dependencies]\nhost = { path = \"crates/host\", package = \"machineadm-host\" }\n";
        let own = "[package]\nname = \"a\"\n[dependencies]\nhost.workspace = true\n[target.'cfg(unix)'.dependencies]\n\
                   rustix = \"1\"\n[dev-dependencies]\nx = { version = \"1\", package = \"y\" }\n[build-dependencies.z]\n";
        let tree = Tree::made_up(&[("Cargo.toml", root), ("crates/a/Cargo.toml", own)]);
        let [manifest] = &manifests(&tree)[..] else { panic!("one manifest") };
        let mut seen: Vec<_> =
            manifest.dependencies.iter().map(|d| (d.line, d.package.as_str(), d.inherited)).collect();
        seen.sort_unstable();
        assert_eq!(manifest.folder, "crates/a");
        assert_eq!(seen, [(4, "machineadm-host", true), (6, "rustix", false), (8, "y", false), (9, "z", false)]);
    }
}
