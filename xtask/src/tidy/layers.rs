//! Dependencies between our crates point down, and their versions come from the workspace.
use super::Finding;
use super::manifests::{Dependency, Manifest, Section, manifests};
use super::tree::Tree;

/// A row of the house: its name and the crates in it, by folder. `plugins` stands for all of `plugins/*`.
struct Row {
    name: &'static str,
    crates: &'static [&'static str],
}

/// From the top down; a crate uses strictly lower rows. Crates that do not exist yet have their place already.
const ROWS: &[Row] = &[
    Row { name: "repository", crates: &["xtask"] },
    Row { name: "measures", crates: &["benches", "fuzz"] },
    Row { name: "test bed", crates: &["testbed"] },
    Row { name: "binaries", crates: &["machineadm", "controllers", "kms-plugin", "plugins", "plugin-sdk"] },
    Row { name: "node", crates: &["node"] },
    Row { name: "engine", crates: &["engine"] },
    Row { name: "ports", crates: &["host", "fetch", "cluster", "cri", "kms", "aws", "plugin"] },
    Row {
        name: RULES,
        crates: &[
            "documents",
            "assemble",
            "kubeadm",
            "kubeadm-import",
            "kubeadmconfig",
            "discovery",
            "certs",
            "control_plane",
            "encryption",
            "etcd",
            "containerd",
            "timesync",
            "outcome",
        ],
    },
    Row { name: GROUND, crates: &["secret", "objects", "plugin-api"] },
];

/// The row of crates that do no I/O.
const RULES: &str = "rules";
/// What rules stand on: no I/O either, and no rules.
const GROUND: &str = "ground";

/// Who may use which neighbours of the same row. A new one needs a decision record.
const NEIGHBOURS: &[(&str, &[&str])] = &[
    ("assemble", &["documents", "discovery", "kubeadmconfig", "outcome"]),
    ("kubeadm-import", &["kubeadm", "documents", "discovery"]),
    ("kubeadmconfig", &["kubeadm", "kubeadm-import", "documents"]),
    ("certs", &["discovery"]),
    ("documents", &["discovery"]),
    ("control_plane", &["etcd"]),
    ("kms", &["fetch", "aws"]),
    ("aws", &["fetch"]),
    ("cluster", &["fetch"]),
    ("plugins", &["plugin-sdk"]),
];

type Neighbours<'n> = &'n [(&'n str, &'n [&'n str])];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = manifests(tree);
    manifests.iter().flat_map(|manifest| check_crate(manifest, &manifests, NEIGHBOURS)).collect()
}

/// Whether this crate is one of the rules.
pub(super) fn is_rules(manifest: &Manifest) -> bool {
    row(place(manifest)).is_some_and(|row| [RULES, GROUND].contains(&ROWS[row].name))
}

/// Whether the crate of this folder below `crates` is a port or declares ports that binaries connect.
pub(super) fn is_port(name: &str) -> bool {
    row(name).is_some_and(|row| ["node", "engine", "ports"].contains(&ROWS[row].name))
}

fn check_crate(manifest: &Manifest, all: &[Manifest], neighbours: Neighbours<'_>) -> Vec<Finding> {
    let Some(own) = row(place(manifest)) else {
        return vec![Finding::new(&manifest.file, 0, "the crate has no row: give it one in xtask/src/tidy/layers.rs")];
    };
    let strangers = manifest.dependencies.iter().filter_map(|used| not_inherited(manifest, used));
    let ours = manifest.dependencies.iter().filter(|used| used.section != Section::Dev).filter_map(|used| {
        let other = all.iter().find(|other| other.package == used.package)?;
        points_up(manifest, own, other, neighbours).map(|message| Finding::new(&manifest.file, used.line, message))
    });
    strangers.chain(ours).collect()
}

fn not_inherited(manifest: &Manifest, used: &Dependency) -> Option<Finding> {
    let message = format!("`{}` must come from the workspace (`.workspace = true`)", used.package);
    (!used.inherited).then(|| Finding::new(&manifest.file, used.line, message))
}

/// What is wrong if the crate in row `own` uses `other`.
fn points_up(manifest: &Manifest, own: usize, other: &Manifest, neighbours: Neighbours<'_>) -> Option<String> {
    let (user, used) = (place(manifest), place(other));
    let theirs = row(used)?;
    if theirs > own || neighbours.iter().any(|(name, may_use)| *name == user && may_use.contains(&used)) {
        return None;
    }
    let (own, theirs) = (ROWS[own].name, ROWS[theirs].name);
    Some(format!("{user} ({own}) may not use {used} ({theirs}): a crate uses strictly lower rows"))
}

/// The name by which the rows know this crate.
fn place(manifest: &Manifest) -> &str {
    match manifest.folder.split_once('/') {
        Some(("crates", name)) => name,
        Some((top, _)) => top,
        None => &manifest.folder,
    }
}

/// The row's place in the list, counted from the top.
fn row(name: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.crates.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.dependencies]\n\
        documents = { path = \"crates/documents\", package = \"machineadm-documents\" }\n\
        kubeadm = { path = \"crates/kubeadm\", package = \"machineadm-kubeadm\" }\n\
        engine = { path = \"crates/engine\", package = \"machineadm-engine\" }\n";

    fn package(name: &str, rest: &str) -> String {
        format!("[package]\nname = \"machineadm-{name}\"\n{rest}")
    }

    fn messages(documents: &str) -> Vec<String> {
        let tree = Tree::made_up(&[
            ("Cargo.toml", ROOT),
            ("crates/documents/Cargo.toml", &package("documents", documents)),
            ("crates/kubeadm/Cargo.toml", &package("kubeadm", "")),
            ("crates/engine/Cargo.toml", &package("engine", "[dependencies]\ndocuments.workspace = true\n")),
        ]);
        check(&tree).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_dependency_on_a_lower_row_passes() {
        assert!(messages("").is_empty());
    }

    #[test]
    fn a_dependency_on_a_higher_row_is_found() {
        let found = messages("[dependencies]\nengine.workspace = true\n");
        let want = "crates/documents/Cargo.toml:4: documents (rules) may not use engine (engine)";
        assert!(found.len() == 1 && found[0].starts_with(want), "{found:?}");
    }

    #[test]
    fn a_neighbour_is_found_unless_it_is_listed() {
        let found = messages("[build-dependencies]\nkubeadm.workspace = true\n");
        assert!(found.len() == 1 && found[0].contains("may not use kubeadm (rules)"), "{found:?}");

        let text = package("documents", "[dependencies]\nkubeadm.workspace = true\n");
        let files = [("Cargo.toml", ROOT), ("crates/documents/Cargo.toml", text.as_str())];
        let all = manifests(&Tree::made_up(&files));
        assert!(check_crate(&all[0], &all, &[("documents", &["kubeadm"])]).is_empty());
    }

    #[test]
    fn tests_may_look_upwards() {
        assert!(messages("[dev-dependencies]\nengine.workspace = true\n").is_empty());
    }

    #[test]
    fn a_version_outside_the_workspace_and_a_crate_without_a_row_are_found() {
        assert!(messages("[dev-dependencies]\nserde = \"1\"\n")[0].contains("`serde` must come from the workspace"));
        let tree = Tree::made_up(&[("crates/odd/Cargo.toml", &package("odd", ""))]);
        assert!(check(&tree)[0].message.starts_with("the crate has no row"));
    }

    /// The rows and neighbours of the house, as its design draws them, without the rows of the repository itself.
    const DRAWN: &str = "\
binaries   machineadm  controllers  kms-plugin  plugins  plugin-sdk
node       node
engine     engine
ports      host  fetch  cluster  cri  kms  aws  plugin
rules      documents  assemble  kubeadm  kubeadm-import  kubeadmconfig  discovery  certs  control_plane  encryption  etcd  containerd  timesync  outcome
ground     secret  objects  plugin-api

assemble → documents  discovery  kubeadmconfig  outcome
kubeadm-import → kubeadm  documents  discovery
kubeadmconfig → kubeadm  kubeadm-import  documents
certs → discovery
documents → discovery
control_plane → etcd
kms → fetch  aws
aws → fetch
cluster → fetch
plugins → plugin-sdk
";

    #[test]
    fn rows_and_neighbours_are_those_of_the_design() {
        let rows = ROWS[3..].iter().map(|row| format!("{:<11}{}\n", row.name, row.crates.join("  ")));
        let neighbours = NEIGHBOURS.iter().map(|(user, used)| format!("{user} → {}\n", used.join("  ")));
        assert_eq!(rows.chain(["\n".to_owned()]).chain(neighbours).collect::<String>(), DRAWN);
    }

    #[test]
    fn neighbours_stand_in_one_row_and_do_not_use_each_other_in_turn() {
        for (user, used) in NEIGHBOURS {
            for other in *used {
                assert!(row(user).is_some() && row(user) == row(other), "{user} {other}");
                let back = NEIGHBOURS.iter().any(|(name, may_use)| name == other && may_use.contains(user));
                assert!(!back, "{user} {other}");
            }
        }
    }
}
