//! Files that are written together on a played machine.
use super::Memory;
use crate::{
    FileState, Inspect, PathState, Result,
    file_set::{FileSet, refuse_all},
};
use std::path::Path;

impl Memory {
    /// Refuses what a real machine refuses: links, and anything but files and directories, where files are written.
    pub(super) fn check_together(&self, directory: &str, files: &[(String, FileState)]) -> Result<()> {
        FileSet::new(directory, files)?;
        let mut problems = Vec::new();
        for (path, _) in files {
            match self.state_at(&format!("{directory}/{path}"))? {
                PathState::Absent | PathState::File(_) | PathState::LargeFile { .. } => {}
                PathState::Link { .. } => problems.push(format!("{path} is a symbolic link")),
                PathState::Directory { .. } => problems.push(format!("{path} is a directory")),
                PathState::Special => problems.push(format!("{path} is a FIFO, a socket or a device")),
            }
            for parent in Path::new(path).ancestors().skip(1).filter(|parent| *parent != Path::new("")) {
                let parent = parent.display();
                match self.state_at(&format!("{directory}/{parent}"))? {
                    PathState::Absent | PathState::Directory { .. } => {}
                    _ => problems.push(format!("{parent} is not a directory")),
                }
            }
        }
        problems.sort();
        problems.dedup();
        refuse_all(directory, problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Host};
    use secret::Secret;

    fn file(contents: &str) -> FileState {
        FileState { contents: Secret::new(contents.as_bytes().to_vec()), mode: 0o600, uid: 0, gid: 0 }
    }

    fn set() -> [(String, FileState); 2] {
        [("ca.key".into(), file("new")), ("etcd/ca.key".into(), file("new"))]
    }

    #[test]
    fn a_power_cut_leaves_none_or_all_of_the_files_new() {
        for power in [0, 1] {
            let mut memory = Memory { power: Some(power), ..Memory::default() };
            memory.files.insert("/pki/ca.key".into(), file("old"));
            let before = memory.files.clone();
            let written = memory.write_together("/pki", &set());
            match power {
                0 => {
                    assert!(matches!(written, Err(Error::PowerFailed)));
                    assert_eq!(memory.files, before);
                }
                _ => {
                    written.unwrap();
                    let wanted = set().map(|(path, file)| (format!("/pki/{path}"), file));
                    assert_eq!(memory.files, wanted.into());
                }
            }
        }
    }

    #[test]
    fn links_where_files_are_written_are_all_named_and_nothing_changes() {
        let mut memory = Memory::default();
        memory.links.insert("/pki/ca.key".into(), "elsewhere".into());
        memory.links.insert("/pki/etcd".into(), "elsewhere".into());
        let before = memory.clone();
        let refused = memory.write_together("/pki", &set()).unwrap_err();
        assert_eq!(refused.to_string(), "/pki: ca.key is a symbolic link; etcd is not a directory");
        assert_eq!(memory, before);
    }
}
