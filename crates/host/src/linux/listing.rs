//! What is below a directory, without reading any file: names, modes, owners and sizes.
use super::{
    root::{Missing, Root, Spot, open_dir},
    state::real_path,
};
use crate::{Error, Result};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, FileType, statat},
};

/// How deep a listing goes, and how many entries it has at most.
const DEPTH: usize = 8;
const MOST: usize = 2000;

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its path below the directory.
    pub path: String,
    /// `d`, `-`, `l` or `?`, as `ls` prints it.
    pub sort: char,
    /// Its mode.
    pub mode: u32,
    /// User and group.
    pub owner: (u32, u32),
    /// Its size in bytes.
    pub size: u64,
}

/// Everything below a directory, sorted by path; links are listed and not followed. `None` when there is none.
pub(super) fn below(root: &Root, path: &str) -> Result<Option<Vec<Listed>>> {
    let Some(Spot { dir, name, found: Some(_) }) = root.walk(path, Missing::Report)? else { return Ok(None) };
    let directory = open_dir(&dir, &name).map_err(Error::system(format!("open the directory {path}")))?;
    let mut listed = Vec::new();
    list(&directory, "", 0, &mut listed)?;
    listed.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Some(listed))
}

fn list(directory: &OwnedFd, prefix: &str, depth: usize, listed: &mut Vec<Listed>) -> Result<()> {
    let place = real_path(directory)?;
    let doing = || format!("list {}", place.display());
    for entry in Dir::read_from(directory).map_err(Error::system(doing()))? {
        let name = entry.map_err(Error::system(doing()))?.file_name().to_owned();
        if [&b"."[..], b".."].contains(&name.to_bytes()) || listed.len() >= MOST {
            continue;
        }
        // One that has gone meanwhile is not listed.
        let Ok(stat) = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let path = format!("{prefix}{}", name.to_string_lossy());
        let sort = FileType::from_raw_mode(stat.st_mode);
        listed.push(Listed {
            path: path.clone(),
            sort: match sort {
                FileType::Directory => 'd',
                FileType::RegularFile => '-',
                FileType::Symlink => 'l',
                _ => '?',
            },
            mode: stat.st_mode & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
            size: stat.st_size.try_into().unwrap_or_default(),
        });
        if sort == FileType::Directory && depth < DEPTH {
            use std::os::unix::ffi::OsStrExt;
            let inner = open_dir(directory, std::ffi::OsStr::from_bytes(name.to_bytes()));
            let inner = inner.map_err(Error::system(doing()))?;
            list(&inner, &format!("{path}/"), depth + 1, listed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_listing_has_names_modes_and_sizes_and_follows_no_link() {
        let dir = tempfile::tempdir().expect("a directory");
        let inner = dir.path().join("etc/kubernetes");
        fs::create_dir_all(inner.join("pki")).expect("a directory");
        fs::write(inner.join("pki/ca.key"), "12345").expect("a file");
        fs::set_permissions(inner.join("pki/ca.key"), fs::Permissions::from_mode(0o600)).expect("a mode");
        std::os::unix::fs::symlink("/", inner.join("all")).expect("a link");
        let root = Root::open(dir.path()).expect("a root");
        let listed = below(&root, "/etc/kubernetes").expect("it is read").expect("it is there");
        let shown: Vec<_> = listed.iter().map(|one| (one.path.as_str(), one.sort)).collect();
        assert_eq!(shown, [("all", 'l'), ("pki", 'd'), ("pki/ca.key", '-')]);
        assert_eq!((listed[2].mode, listed[2].size), (0o600, 5));
        assert_eq!(below(&root, "/etc/none").expect("it is read"), None);
    }
}
