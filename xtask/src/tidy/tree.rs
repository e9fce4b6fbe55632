//! The files of the repository as the checks see them: paths and texts, already read.
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{fs, str};

/// Paths relative to the repository's top, with `/` between their parts, and what the files contain.
pub(super) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// What git tracks below `root`, and what it would track next: new files that are not ignored.
    pub(super) fn tracked(root: &Path) -> Result<Tree, String> {
        let mut files = BTreeMap::new();
        for path in list(root)? {
            if let Some(text) = read(&root.join(&path))? {
                files.insert(path, text);
            }
        }
        Ok(Tree { files })
    }

    /// A small tree for a test.
    #[cfg(test)]
    pub(super) fn made_up(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files whose name ends so: `.rs`, `Cargo.toml`.
    pub(super) fn ending(&self, end: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(move |(path, _)| path.ends_with(end))
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether a file or a folder with files stands at this path; the empty path is the top.
    pub(super) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.text(path).is_some() || self.has_folder(path)
    }

    fn has_folder(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.files.range(folder.clone()..).next().is_some_and(|(found, _)| found.starts_with(&folder))
    }
}

fn list(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git cannot list the files: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = str::from_utf8(&output.stdout).map_err(|_| "a file's name is not UTF-8".to_owned())?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

/// A file's text; nothing of a link, and none at all where a tracked file was deleted.
fn read(path: &Path) -> Result<Option<String>, String> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(None) };
    if !metadata.is_file() {
        return Ok(Some(String::new()));
    }
    let bytes = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The first line, counted from 1, that contains `part`; 0 if none does.
pub(super) fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).map_or(0, |index| index + 1)
}

/// The line, counted from 1, in which the byte at `offset` stands.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(root: &Path, args: &[&str]) {
        assert!(Command::new("git").args(args).current_dir(root).output().unwrap().status.success());
    }

    #[test]
    fn tracked_and_new_files_are_read_ignored_and_deleted_ones_are_not() {
        let root = std::env::temp_dir().join(format!("xtask-tree-{}", std::process::id()));
        fs::create_dir_all(root.join("docs")).unwrap();
        git(&root, &["init", "--quiet"]);
        for (name, text) in [(".gitignore", "/secret\n"), ("docs/kept", "a"), ("gone", "b"), ("secret", "c")] {
            fs::write(root.join(name), text).unwrap();
        }
        git(&root, &["add", "gone"]);
        fs::remove_file(root.join("gone")).unwrap();
        let tree = Tree::tracked(&root).unwrap();
        fs::remove_dir_all(&root).unwrap();

        assert_eq!(tree.files().map(|(path, _)| path).collect::<Vec<_>>(), [".gitignore", "docs/kept"]);
        assert_eq!(tree.text("docs/kept"), Some("a"));
        assert!(tree.has("docs") && tree.has("") && !tree.has("doc"));
    }

    #[test]
    fn a_folder_that_git_cannot_list_is_an_error() {
        assert!(Tree::tracked(Path::new("/nowhere/at/all")).is_err());
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!(line_of("a\nb\n", "b"), 2);
        assert_eq!(line_of("a\n", "b"), 0);
        assert_eq!(line_at("a\nb", 2), 2);
    }
}
