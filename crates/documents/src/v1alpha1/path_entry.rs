//! What shall be at a path: the checked form of an entry of FilesConfig.
use super::{
    EntryType, FileEntry,
    absolute_path::{is_virtual, path_problem},
    contents::contents,
    owner::{Owner, mode, owner},
    reserved::Reserved,
};
use crate::{Secret, findings::Findings, path};

/// What shall be at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathEntry {
    /// A file, or a managed block of one.
    File(File),
    /// A directory, whatever is in it.
    Directory(Directory),
    /// A symbolic link.
    Link(Link),
    /// Nothing.
    Absent {
        /// Absolute, without `.`, `..` or doubled slashes.
        path: String,
    },
}

/// A file that shall be on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Absolute, without `.`, `..` or doubled slashes.
    pub path: String,
    /// What it holds, or what its block holds.
    pub contents: Secret<Vec<u8>>,
    /// Permission bits; a new file without them gets 0644.
    pub mode: Option<u32>,
    /// Who owns it; a new file without it belongs to root:root.
    pub owner: Option<Owner>,
    /// The name of the managed block; without it the whole file is ours.
    pub block: Option<String>,
    /// Whether it came encrypted, so that its contents are never shown.
    pub confidential: bool,
}

impl File {
    /// Whether every user of the machine may read it, as far as this document says.
    pub fn is_public(&self) -> bool {
        !self.confidential && self.mode.is_none_or(|mode| mode & 0o004 != 0)
    }
}

/// A directory that shall be on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Absolute, without `.`, `..` or doubled slashes.
    pub path: String,
    /// Permission bits; a new directory without them gets 0755.
    pub mode: Option<u32>,
    /// Who owns it; a new directory without it belongs to root:root.
    pub owner: Option<Owner>,
}

/// A symbolic link that shall be on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Absolute, without `.`, `..` or doubled slashes.
    pub path: String,
    /// Where it points, absolute or relative to its directory; nothing has to be there.
    pub target: String,
}

impl PathEntry {
    /// The path.
    pub fn path(&self) -> &str {
        match self {
            Self::File(File { path, .. })
            | Self::Directory(Directory { path, .. })
            | Self::Link(Link { path, .. })
            | Self::Absent { path } => path,
        }
    }

    /// The file, if it is one.
    pub const fn file(&self) -> Option<&File> {
        match self {
            Self::File(file) => Some(file),
            Self::Directory(_) | Self::Link(_) | Self::Absent { .. } => None,
        }
    }
}

/// Reads an entry and reports every problem of it.
pub(super) fn path_entry(entry: FileEntry, here: &str, findings: &mut Findings<'_>) -> PathEntry {
    check_path(&entry.path, &path::member(here, "path"), findings);
    check_members(&entry, here, findings);
    let FileEntry { path, entry_type, content, encoding, owner: owned_by, mode: bits, block, target } = entry;
    let field = |name: &str| path::member(here, name);
    let bits = bits.and_then(|text| mode(&text, &field("mode"), findings));
    let owned_by = owned_by.and_then(|text| owner(&text, &field("owner"), findings));
    match entry_type {
        EntryType::File => {
            let content = content.unwrap_or_else(|| Secret::new(String::new()));
            let contents = contents(&content, encoding.unwrap_or_default(), &field("content"), findings);
            if let Some(name) = &block {
                check_block(name, contents.as_ref(), here, findings);
            }
            let contents = contents.unwrap_or_else(|| Secret::new(Vec::new()));
            PathEntry::File(File { path, contents, mode: bits, owner: owned_by, block, confidential: false })
        }
        EntryType::Directory => PathEntry::Directory(Directory { path, mode: bits, owner: owned_by }),
        EntryType::Link => {
            let target = target.unwrap_or_default();
            PathEntry::Link(Link { path, target })
        }
        EntryType::Absent => PathEntry::Absent { path },
    }
}

fn check_path(path: &str, here: &str, findings: &mut Findings<'_>) {
    if let Some(problem) = path_problem(path) {
        findings.error(here, problem);
    } else if is_virtual(path) {
        findings.error(here, "must not be below /proc, /sys or /dev").hint("for parameters use SysctlConfig");
    } else if let Some(reserved) = Reserved::of(path) {
        findings.error(here, reserved.message()).hint(reserved.hint());
    }
}

/// Reports members that the entry's type requires or does not take.
fn check_members(entry: &FileEntry, here: &str, findings: &mut Findings<'_>) {
    use EntryType::{Directory, File, Link};
    let members: [(&str, bool, &[EntryType]); 6] = [
        ("content", entry.content.is_some(), &[File]),
        ("encoding", entry.encoding.is_some(), &[File]),
        ("block", entry.block.is_some(), &[File]),
        ("mode", entry.mode.is_some(), &[File, Directory]),
        ("owner", entry.owner.is_some(), &[File, Directory]),
        ("target", entry.target.is_some(), &[Link]),
    ];
    for (name, is_set, types) in members {
        if is_set && !types.contains(&entry.entry_type) {
            let message = format!("is not allowed with type `{}`", entry.entry_type.name());
            findings.error(&path::member(here, name), message);
        }
    }
    match entry {
        FileEntry { entry_type: File, content: None, .. } => {
            findings.error(&path::member(here, "content"), "required, but missing");
        }
        FileEntry { entry_type: Link, target: None, .. } => {
            findings.error(&path::member(here, "target"), "required, but missing");
        }
        FileEntry { entry_type: Link, target: Some(target), .. } if !is_target(target) => {
            findings
                .error(&path::member(here, "target"), "must be a path of 1 to 4095 bytes without control characters");
        }
        _ => {}
    }
}

fn check_block(name: &str, contents: Option<&Secret<Vec<u8>>>, here: &str, findings: &mut Findings<'_>) {
    if !is_block_name(name) {
        findings.error(&path::member(here, "block"), "must be letters, digits, `.`, `_` and `-`, at most 64");
    } else if contents.is_some_and(|contents| holds_markers(contents.expose(), name)) {
        findings.error(&path::member(here, "content"), "must not hold the lines that mark its own block");
    }
}

fn is_target(target: &str) -> bool {
    (1..=4095).contains(&target.len()) && !target.chars().any(char::is_control)
}

fn is_block_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    first && name.len() <= 64 && name.bytes().all(allowed)
}

fn holds_markers(contents: &[u8], block: &str) -> bool {
    let markers = [format!("# BEGIN machineadm {block}"), format!("# END machineadm {block}")];
    contents
        .split(|byte| *byte == b'\n')
        .any(|line| markers.iter().any(|marker| line.trim_ascii() == marker.as_bytes()))
}
