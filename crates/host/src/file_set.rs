//! A set of files that is written together, as a tree of names.
use crate::{Error, FileState, Result};
use std::{collections::BTreeMap, ffi::OsStr};

/// The files of one directory and of those below it.
#[derive(Debug, Default)]
pub(crate) struct FileSet<'a> {
    pub(crate) files: BTreeMap<&'a OsStr, &'a FileState>,
    pub(crate) directories: BTreeMap<&'a OsStr, FileSet<'a>>,
}

impl<'a> FileSet<'a> {
    /// Parses paths below a directory; every invalid one is named.
    pub(crate) fn new(directory: &str, files: &'a [(String, FileState)]) -> Result<Self> {
        let mut set = Self::default();
        let problems = files.iter().filter_map(|(path, file)| set.add(path, file).err());
        refuse_all(directory, problems.collect())?;
        Ok(set)
    }

    fn add(&mut self, path: &'a str, file: &'a FileState) -> std::result::Result<(), String> {
        if path.split('/').any(|name| ["", ".", ".."].contains(&name) || name.contains('\0')) {
            return Err(format!("{path:?} is not a path below it"));
        }
        let (parents, last) = path.rsplit_once('/').map_or((None, path), |(parents, last)| (Some(parents), last));
        let mut set = self;
        for parent in parents.into_iter().flat_map(|parents| parents.split('/')).map(OsStr::new) {
            if set.files.contains_key(parent) {
                return Err(format!("{path} is below another file of the set"));
            }
            set = set.directories.entry(parent).or_default();
        }
        let last = OsStr::new(last);
        if set.directories.contains_key(last) || set.files.insert(last, file).is_some() {
            return Err(format!("{path} is in the set twice"));
        }
        Ok(())
    }
}

/// Refuses to write below a directory for all of these reasons, if there are any.
pub(crate) fn refuse_all(directory: &str, problems: Vec<String>) -> Result<()> {
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Error::Refused { what: directory.to_owned(), why: problems.join("; ") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secret::Secret;

    fn problems_of(paths: &[&str]) -> String {
        let file = FileState { contents: Secret::new(Vec::new()), mode: 0o600, uid: 0, gid: 0 };
        let files: Vec<_> = paths.iter().map(|path| ((*path).to_owned(), file.clone())).collect();
        FileSet::new("/pki", &files).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn files_in_several_directories_are_a_set() {
        assert_eq!(problems_of(&["ca.crt", "etcd/ca.crt", "etcd/ca.key", "a/b/c"]), "");
    }

    #[test]
    fn every_path_that_leaves_the_directory_is_named() {
        let found = problems_of(&["/ca.crt", "../ca.crt", "a/../b", "./a", "a//b", "", "a/", "fine"]);
        for path in ["/ca.crt", "../ca.crt", "a/../b", "./a", "a//b", "", "a/"] {
            assert!(found.contains(&format!("{path:?} is not a path below it")), "{path}: {found}");
        }
        assert!(!found.contains("fine"), "{found}");
    }

    #[test]
    fn a_name_cannot_be_two_files_or_a_file_and_a_directory() {
        assert_eq!(problems_of(&["a", "a"]), "/pki: a is in the set twice");
        assert_eq!(problems_of(&["a", "a/b"]), "/pki: a/b is below another file of the set");
        assert_eq!(problems_of(&["a/b", "a"]), "/pki: a is in the set twice");
    }
}
