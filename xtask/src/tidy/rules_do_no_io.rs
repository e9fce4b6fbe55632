//! Rules do no I/O: neither through a crate nor through the standard library; time comes in as an argument.
use super::Finding;
use super::layers::is_rules;
use super::manifests::{Manifest, manifests};
use super::rust_source::{block_end, code, is_test_file, places_of, without_tests};
use super::tree::{Tree, line_at};

/// Crates that reach the world outside, by name or by the beginning of it (`aws-*`).
const IO_CRATES: &[&str] = &[
    "async-std",
    "aws-config",
    "aws-sdk-*",
    "axum",
    "cap-std",
    "getrandom",
    "h2",
    "hyper*",
    "k8s-openapi",
    "kube*",
    "libc",
    "nix",
    "object_store",
    "rand",
    "reqwest",
    "rustix",
    "rustls",
    "smol",
    "socket2",
    "tokio*",
    "tonic",
    "tower*",
    "ureq",
    "zbus*",
];

/// What of the standard library reaches the world outside.
const IO_PATHS: &[&str] = &[
    "std::fs",
    "std::process",
    "std::env",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    "SystemTime::now",
    "Instant::now",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let rules: Vec<_> = manifests(tree).into_iter().filter(is_rules).collect();
    rules.iter().flat_map(|manifest| check_crates(manifest).into_iter().chain(check_sources(tree, manifest))).collect()
}

fn check_crates(manifest: &Manifest) -> Vec<Finding> {
    let does_io = |package: &str| IO_CRATES.iter().any(|pattern| matches(pattern, package));
    let used = manifest.dependencies.iter().filter(|used| does_io(&used.package));
    used.map(|used| Finding::new(&manifest.file, used.line, format!("a rules crate may not use `{}`", used.package)))
        .collect()
}

/// Whether a name is the pattern, or begins with it where the pattern ends in `*`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

fn check_sources(tree: &Tree, manifest: &Manifest) -> Vec<Finding> {
    let sources = format!("{}/src/", manifest.folder);
    let own = tree.ending(".rs").filter(|(file, _)| file.starts_with(&sources) && !is_test_file(file));
    own.flat_map(|(file, text)| check_source(file, &without_tests(&code(text)))).collect()
}

fn check_source(file: &str, code: &str) -> Vec<Finding> {
    let written_out = IO_PATHS.iter().flat_map(|path| places_of(code, path).map(move |at| (at, (*path).to_owned())));
    let grouped = grouped(code).into_iter().filter(|(_, path)| IO_PATHS.contains(&path.as_str()));
    let message = |path: &str| format!("rules do no I/O: `{path}`; take the value as an argument");
    written_out.chain(grouped).map(|(at, path)| Finding::new(file, line_at(code, at), message(&path))).collect()
}

/// The modules of `std` that `std::{..}` names, each as `std::module`, with its place.
fn grouped(code: &str) -> Vec<(usize, String)> {
    const OPEN: &str = "std::{";
    let mut modules = Vec::new();
    for (at, _) in code.match_indices(OPEN) {
        let open = at + OPEN.len() - 1;
        let group = &code[open + 1..open + block_end(&code[open..])];
        modules.extend(members(group).map(|(offset, name)| (open + 1 + offset, format!("std::{name}"))));
    }
    modules
}

/// The first word of each member of a group, not of the groups inside it.
fn members(group: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut depth = 0usize;
    let mut starts = vec![0];
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => starts.push(at + 1),
            _ => {}
        }
    }
    starts.into_iter().map(|start| {
        let member = group[start..].trim_start();
        let end = member.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(member.len());
        (group.len() - member.len(), &member[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(manifest: &str, file: &str, source: &str) -> Vec<String> {
        let manifest = format!("[package]\nname = \"machineadm-documents\"\n{manifest}");
        let tree = Tree::made_up(&[("crates/documents/Cargo.toml", &manifest), (file, source)]);
        check(&tree).iter().map(Finding::to_string).collect()
    }

    fn in_source(source: &str) -> Vec<String> {
        found("", "crates/documents/src/lib.rs", source)
    }

    #[test]
    fn a_crate_that_does_io_is_found_also_for_tests() {
        let manifest = "[dependencies]\nserde = \"1\"\nhyper-util = \"1\"\n[dev-dependencies]\ntokio = \"1\"\n";
        let want = ["hyper-util", "tokio"].map(|name| format!("a rules crate may not use `{name}`"));
        let found = found(manifest, "crates/documents/src/lib.rs", "");
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with(&want[0]) && found[1].ends_with(&want[1]), "{found:?}");
    }

    #[test]
    fn the_outside_world_is_found_in_a_source() {
        for line in [
            "use std::fs;",
            "std::env::var(x)",
            "use std::{fmt, fs};",
            "use std::{collections::{A, B},\nprocess::Command};",
            "let now = std::time::SystemTime::now();",
            "let now = Instant::now();",
            "let stream = net::TcpStream::connect(x);",
        ] {
            assert_eq!(in_source(line).len(), 1, "{line}: {:?}", in_source(line));
        }
        assert!(
            in_source("//! x\nuse std::{\n  fmt,\n  fs::File,\n};")[0].starts_with("crates/documents/src/lib.rs:4:")
        );
    }

    #[test]
    fn tests_comments_texts_and_other_crates_pass() {
        assert_eq!(in_source("// std::fs\nconst A: &str = \"std::fs\"; use std::{fmt::{self, fs}, path};"), [""; 0]);
        assert_eq!(in_source("#[cfg(test)]\nmod tests { use std::fs; }"), [""; 0]);
        assert_eq!(found("", "crates/documents/tests/cases.rs", "use std::fs;"), [""; 0]);
        assert_eq!(found("", "crates/host/src/lib.rs", "use std::fs;"), [""; 0]);
    }
}
