//! What runs on a machine reaches neither a Kubernetes client nor a cloud's SDK, by any path through Cargo.lock.
use super::Finding;
use super::bans::packages;
use super::manifests::{Manifest, Section, manifests};
use super::rules_do_no_io::matches;
use super::tree::{Tree, line_of};
use std::collections::{BTreeMap, VecDeque};
use toml::{Table, Value};

/// The program that every machine carries.
const MACHINE_SIDE: &str = "machineadm";

/// What it may not reach.
const FORBIDDEN: &[&str] = &["kube", "kube-*", "k8s-openapi", "aws-*"];

/// What only looks so: aws-lc is cryptography, not a cloud.
const EXCEPT: &[&str] = &["aws-lc-*"];

const LOCK: &str = "Cargo.lock";

/// Each package with those that it uses.
type Graph = BTreeMap<String, Vec<String>>;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let text = tree.text(LOCK).unwrap_or_default();
    let graph = graph(text, &manifests(tree));
    let paths = paths(&graph).into_iter().filter(|path| path.last().is_some_and(|name| is_forbidden(name)));
    paths
        .map(|path| {
            let line = line_of(text, &format!("name = \"{}\"", path[path.len() - 1]));
            Finding::new(LOCK, line, format!("`{MACHINE_SIDE}` may not reach it: {}", path.join(" → ")))
        })
        .collect()
}

fn is_forbidden(name: &str) -> bool {
    let any = |patterns: &[&str]| patterns.iter().any(|pattern| matches(pattern, name));
    any(FORBIDDEN) && !any(EXCEPT)
}

/// Who uses whom. Versions of one package count as one; what only tests of our crates use does not count.
fn graph(lock: &str, ours: &[Manifest]) -> Graph {
    let mut graph = Graph::new();
    for package in packages(lock) {
        let name = package.get("name").and_then(Value::as_str).unwrap_or_default();
        let own = ours.iter().find(|manifest| manifest.package == name);
        let used = used(&package).filter(|used| own.is_none_or(|own| is_built_in(own, used)));
        graph.entry(name.to_owned()).or_default().extend(used.map(str::to_owned));
    }
    graph
}

/// The names in a locked package's `dependencies`, which read `name`, `name version` or `name version (source)`.
fn used(package: &Table) -> impl Iterator<Item = &str> {
    let dependencies = package.get("dependencies").and_then(Value::as_array);
    dependencies.into_iter().flatten().filter_map(|used| used.as_str()?.split(' ').next())
}

/// Whether our crate uses this package outside its tests.
fn is_built_in(own: &Manifest, package: &str) -> bool {
    own.dependencies.iter().any(|used| used.package == package && used.section != Section::Dev)
}

/// A shortest path to each package that the machine's side reaches.
fn paths(graph: &Graph) -> Vec<Vec<String>> {
    let mut paths = BTreeMap::from([(MACHINE_SIDE.to_owned(), vec![MACHINE_SIDE.to_owned()])]);
    let mut queue = VecDeque::from([MACHINE_SIDE.to_owned()]);
    while let Some(name) = queue.pop_front() {
        for used in graph.get(&name).into_iter().flatten() {
            if !paths.contains_key(used) {
                let path = paths[&name].iter().chain([used]).cloned().collect();
                paths.insert(used.clone(), path);
                queue.push_back(used.clone());
            }
        }
    }
    paths.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: (&str, &str) = (
        "crates/machineadm/Cargo.toml",
        "[package]\nname = \"machineadm\"\n[dependencies]\na = \"1\"\n[dev-dependencies]\ntested = \"1\"\n",
    );

    fn found(packages: &[(&str, &str)]) -> Vec<String> {
        let lock: String = packages
            .iter()
            .map(|(name, uses)| {
                format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\ndependencies = [{uses}]\n")
            })
            .collect();
        check(&Tree::made_up(&[MANIFEST, (LOCK, &lock)])).into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn a_kubernetes_client_is_found_with_the_path_to_it() {
        let found = found(&[("machineadm", "\"a\""), ("a", "\"kube 1.0.0\""), ("kube", "")]);
        assert_eq!(found, ["`machineadm` may not reach it: machineadm → a → kube"]);
    }

    #[test]
    fn what_others_or_only_tests_reach_passes_and_so_does_aws_lc() {
        let packages = [
            ("machineadm", "\"a\", \"tested\""),
            ("a", "\"aws-lc-rs\""),
            ("tested", "\"aws-sdk-kms\""),
            ("controllers", "\"kube\""),
        ];
        assert_eq!(found(&packages), [""; 0]);
    }
}
