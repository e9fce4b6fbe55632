//! The certificate files of a control plane node on a machine: read for an upload, written after a download.
use crate::outcome::chain;
use certs::{CertificateSet, FileName, FileSet, Found, files::CertificateFile};
use host::{Change, DirectoryState, FileState, Host, Inspect, PathState};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// What a machine has of a set of files.
pub fn found(host: &dyn Inspect, files: &FileSet, directory: &Path) -> BTreeMap<FileName, Found> {
    let found = |file: &CertificateFile| {
        let path = plain(&file.location.path(directory));
        match path.to_str().map(|path| host.file(path)) {
            None => Found::Unreadable("its path is not UTF-8".to_owned()),
            Some(Ok(None)) => Found::Missing,
            Some(Ok(Some(file))) => Found::Content(file.contents),
            Some(Err(error)) => Found::Unreadable(chain(&error)),
        }
    };
    files.files().iter().map(|file| (file.name, found(file))).collect()
}

/// Each file with what it is and where it is, for a comparison: external etcd may have any of its files at a path.
pub(crate) fn compared(files: &FileSet, directory: &Path) -> Vec<String> {
    let line = |file: &CertificateFile| format!("{} {}", file.name.entry(), file.location.path(directory).display());
    files.files().iter().map(line).collect()
}

/// Where the files of a set are.
pub(crate) fn paths(files: &FileSet, directory: &Path) -> Vec<String> {
    files.files().iter().map(|file| shown(&plain(&file.location.path(directory)))).collect()
}

/// What to do about a file that has other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is written.
    Refused,
    /// It is replaced.
    Replaced,
}

/// What keeps a set from being written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// A file with other content.
    #[error("{0} exists with other content")]
    Different(String),
    /// Something that is no file; links are not followed.
    #[error("{path} is {noun}, not a regular file")]
    NotAFile {
        /// Its path.
        path: String,
        /// What it is.
        noun: &'static str,
    },
    /// A directory that is none, or that others can write: they could exchange the files.
    #[error("{path} {why}")]
    Directory {
        /// Its path.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The ClusterConfiguration names one file for two purposes.
    #[error("{0} is the path of two files: check etcd.external of the ClusterConfiguration")]
    Twice(String),
    /// Pods that run have the directory mounted as it was.
    #[error("{API_SERVER} exists: a control plane runs on this machine, and its certificates cannot be replaced")]
    ControlPlane,
}

const API_SERVER: &str = objects::kubernetes_paths::API_SERVER_MANIFEST;

/// A whole set, and what of it has to be written on a machine.
#[derive(Debug)]
pub struct Placement {
    directory: String,
    files: Vec<PlacedFile>,
}

/// A file of a set on a machine.
#[derive(Debug)]
pub struct PlacedFile {
    /// Its absolute path.
    pub path: String,
    /// Whether it has to be written: it is missing, or not as it shall be.
    pub is_written: bool,
    state: FileState,
}

impl Placement {
    /// What a machine needs of a set, or everything that is in the way. Nothing is changed.
    pub fn of(
        host: &dyn Inspect,
        set: &CertificateSet,
        directory: &Path,
        existing: Existing,
    ) -> host::Result<Result<Self, Vec<Obstacle>>> {
        let (uid, gid) = host.default_owner();
        let directory = &plain(directory);
        let mut placement = Self { directory: shown(directory), files: Vec::new() };
        let mut obstacles = Vec::new();
        for (file, contents) in set.files() {
            let path = shown(&plain(&file.location.path(directory)));
            let state = FileState { contents: contents.clone(), mode: file.name.mode(), uid, gid };
            let is_written = match host.state_at(&path)? {
                PathState::Absent => true,
                PathState::File(found) if found.contents == state.contents => found != state,
                PathState::File(_) | PathState::LargeFile { .. } => {
                    if existing == Existing::Refused {
                        obstacles.push(Obstacle::Different(path.clone()));
                    }
                    true
                }
                other => {
                    obstacles.push(Obstacle::NotAFile { path: path.clone(), noun: other.noun() });
                    true
                }
            };
            placement.files.push(PlacedFile { path, is_written, state });
        }
        let mut seen = BTreeSet::new();
        let twice = placement.files.iter().filter(|file| !seen.insert(&file.path));
        obstacles.extend(twice.map(|file| Obstacle::Twice(file.path.clone())));
        obstacles.extend(placement.directories_in_the_way(host)?);
        if placement.is_needed() && host.exists(API_SERVER)? {
            obstacles.push(Obstacle::ControlPlane);
        }
        Ok(if obstacles.is_empty() { Ok(placement) } else { Err(obstacles) })
    }

    /// All files of the set.
    pub fn files(&self) -> &[PlacedFile] {
        &self.files
    }

    /// Whether anything has to be written.
    pub fn is_needed(&self) -> bool {
        self.files.iter().any(|file| file.is_written)
    }

    /// Writes what has to be written: files of external etcd that lie elsewhere one by one, then the certificates
    /// directory at once.
    pub fn write(&self, host: &mut dyn Host) -> host::Result<()> {
        host.remove_together_drafts(&self.directory)?;
        let (inside, outside): (Vec<_>, Vec<_>) =
            self.files.iter().filter(|file| file.is_written).partition(|file| self.below(&file.path).is_some());
        for PlacedFile { path, state, .. } in outside {
            let (path, file) = (path.clone(), state.clone());
            host.ensure(&Change::WriteFile { path, block: None, was: None, file, confidential: true })?;
        }
        let files: Vec<_> =
            inside.iter().filter_map(|file| Some((self.below(&file.path)?.to_owned(), file.state.clone()))).collect();
        if files.is_empty() { Ok(()) } else { host.write_together(&self.directory, &files) }
    }

    /// The path of a file from the certificates directory on.
    fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(&self.directory)?.strip_prefix('/')
    }

    /// Directories above the certificates directory may be links; neither that directory nor what is below it may. Files
    /// of external etcd that lie elsewhere may be in a directory that is a link, but in none that others can write.
    fn directories_in_the_way(&self, host: &dyn Inspect) -> host::Result<Vec<Obstacle>> {
        let mut obstacles = Vec::new();
        let elsewhere = self.files.iter().filter(|file| self.below(&file.path).is_none());
        for path in elsewhere.filter_map(|file| Some(file.path.rsplit_once('/')?.0)).collect::<BTreeSet<_>>() {
            if let PathState::Directory { state, .. } = host.state_at(if path.is_empty() { "/" } else { path })?
                && let Some(why) = others_write(host, state)
            {
                obstacles.push(Obstacle::Directory { path: path.to_owned(), why });
            }
        }
        let below = self.files.iter().filter_map(|file| self.below(&file.path)?.rsplit_once('/'));
        let below = below.map(|(parent, _)| format!("{}/{parent}", self.directory));
        for path in below.chain([self.directory.clone()]).collect::<BTreeSet<_>>() {
            let why = match host.state_at(&path)? {
                PathState::Absent => None,
                PathState::Directory { state, .. } => others_write(host, state),
                other => Some(format!("is {}, not a directory", other.noun())),
            };
            obstacles.extend(why.map(|why| Obstacle::Directory { path, why }));
        }
        Ok(obstacles)
    }
}

/// Why other users could exchange the files of a directory: its mode, or an owner other than root and the caller.
fn others_write(host: &dyn Inspect, DirectoryState { mode, uid, .. }: DirectoryState) -> Option<String> {
    if mode & 0o022 != 0 {
        return Some(format!("has mode {mode:04o}: other users can write it"));
    }
    (![0, host.default_owner().0].contains(&uid)).then(|| format!("is owned by user {uid}, who can replace its files"))
}

/// The same path in its shortest form, without `//`, `/./` and a `/` at its end: files are found below a directory by it.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Paths of a layout are UTF-8.
fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
