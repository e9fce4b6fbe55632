//! Nothing in the repository names a path of one machine or the host of a package registry.
use super::Finding;
use super::tree::Tree;

/// This file has to name what it looks for.
const OWN: &str = "xtask/src/tidy/places.rs";

/// Folders in which somebody's checkout or home stands.
const FOLDERS: &[&str] = &["/work/", "/root/"];

/// Package registries and their mirrors: which one serves a machine is that machine's setting.
/// Registries of container images are not among them: configurations speak of these.
const REGISTRIES: &[&str] = &[
    "index.crates.io",
    "static.crates.io",
    "static.rust-lang.org",
    "deb.debian.org",
    "snapshot.debian.org",
    "archive.ubuntu.com",
    "proxy.golang.org",
    "sum.golang.org",
    "registry.npmjs.org",
    "pypi.org",
    "files.pythonhosted.org",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files().filter(|(file, _)| *file != OWN).flat_map(|(file, text)| check_file(file, text)).collect()
}

fn check_file(file: &str, text: &str) -> Vec<Finding> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    numbered
        .flat_map(|(number, line)| {
            let path = machine_path(line).map(|path| format!("`{path}` is a path of one machine"));
            let host = registry(line).map(|host| format!("`{host}` is a registry's host: leave it to each machine"));
            path.into_iter().chain(host).map(move |message| Finding::new(file, number, message))
        })
        .collect()
}

/// An absolute path that only one machine has, if the line names one.
fn machine_path(line: &str) -> Option<String> {
    let folder = FOLDERS.iter().find(|folder| starts_a_path(line, folder));
    folder.map(|folder| (*folder).to_owned()).or_else(|| home(line))
}

/// Whether `folder` stands in the line as the beginning of an absolute path, not inside `a/work/b`.
fn starts_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| is_path_start(&line[..at]))
}

fn is_path_start(before: &str) -> bool {
    !before.ends_with(|letter: char| letter.is_alphanumeric() || "_.-}>".contains(letter))
}

/// `/home/somebody`, if the line names one.
fn home(line: &str) -> Option<String> {
    line.match_indices("/home/").find_map(|(at, folder)| {
        let rest = &line[at + folder.len()..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && !"_-".contains(letter));
        let somebody = &rest[..end.unwrap_or(rest.len())];
        (is_path_start(&line[..at]) && !somebody.is_empty()).then(|| format!("{folder}{somebody}"))
    })
}

fn registry(line: &str) -> Option<&'static str> {
    REGISTRIES.iter().find(|host| line.contains(**host)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Tree::made_up(&[("notes.md", text)])).iter().map(|found| found.line).collect()
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        assert_eq!(lines("see /work/main\nand `/root/x`\nor \"/home/jo/y\"\n"), [1, 2, 3]);
    }

    #[test]
    fn registry_hosts_are_found() {
        assert_eq!(lines("fine\ncurl https://static.crates.io/crates/x\n"), [2]);
    }

    #[test]
    fn paths_inside_others_and_image_registries_pass() {
        assert_eq!(
            lines("target/work/x $HOME/root/x scratch/home/x /home/ /rooted docker.io registry.k8s.io\n"),
            [0; 0]
        );
    }
}
