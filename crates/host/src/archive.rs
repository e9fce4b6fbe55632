//! Compressed archives of programs: regular files with plain names in one directory, and nothing else.
//!
//! An archive is verified by its SHA-256 before it is read; these rules hold all the same, so that one with other
//! contents than programs is refused as a whole.
use crate::{ArchiveRoot, Error, Result, drafts::PROGRAM_MODE};
use flate2::read::MultiGzDecoder;
use std::{collections::BTreeSet, io::Read};
use tar::EntryType;

/// Releases of containerd and of the CNI plugins have about 20 files.
const MOST_FILES: usize = 1000;
/// What all files of an archive have at most. Today's releases have 150 MB.
const MOST_BYTES: u64 = 4 << 30;
/// The mode of a file that is no program, such as a licence.
const OTHER_MODE: u32 = 0o644;

/// Gives each file of an archive: its name, its mode and its content.
pub(crate) fn read(
    archive: impl Read,
    inside: ArchiveRoot,
    each: &mut dyn FnMut(&str, u32, &mut dyn Read) -> Result<()>,
) -> Result<()> {
    let refused = |why: String| Error::Refused { what: "the archive".to_owned(), why };
    let unreadable = |error: std::io::Error| refused(format!("cannot be read as a compressed archive: {error}"));
    let mut archive = tar::Archive::new(MultiGzDecoder::new(archive));
    let (mut names, mut left) = (BTreeSet::new(), MOST_BYTES);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let shown = objects::printable(&path, 200);
        let name = match entry.header().entry_type() {
            // What tools write about the archive itself.
            EntryType::XGlobalHeader => continue,
            EntryType::Directory if is_directory(&path, inside) => continue,
            EntryType::Regular => file_name(&path, inside),
            _ => None,
        };
        let Some(name) = name.map(str::to_owned) else {
            let allowed = match inside {
                ArchiveRoot::Top => "only files at its top",
                ArchiveRoot::Bin => "only files in `bin`",
            };
            return Err(refused(format!("contains `{shown}`, and {allowed} with plain names are allowed")));
        };
        left = left.checked_sub(entry.size()).ok_or_else(|| refused("has more than 4 GiB of files".to_owned()))?;
        if names.len() == MOST_FILES || !names.insert(name.clone()) {
            return Err(refused(format!("contains `{shown}` twice, or has more than {MOST_FILES} files")));
        }
        let mode = match entry.header().mode() {
            Ok(mode) if mode & 0o111 == 0 => OTHER_MODE,
            _ => PROGRAM_MODE,
        };
        each(&name, mode, &mut entry)?;
    }
    match names.is_empty() {
        true => Err(refused("contains no file".to_owned())),
        false => Ok(()),
    }
}

fn is_directory(path: &str, inside: ArchiveRoot) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    match inside {
        ArchiveRoot::Top => ["", "."].contains(&path),
        ArchiveRoot::Bin => ["", ".", "bin"].contains(&path),
    }
}

/// The plain name of a file; `None` where it has another.
fn file_name(path: &str, inside: ArchiveRoot) -> Option<&str> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let name = match inside {
        ArchiveRoot::Top => path,
        ArchiveRoot::Bin => path.strip_prefix("bin/")?,
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._+".contains(&byte);
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    (starts_well && name.len() <= 255 && name.bytes().all(is_plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    fn packed(entries: &[(&str, EntryType, u32, &[u8])]) -> Vec<u8> {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, sort, mode, content) in entries {
            let mut header = tar::Header::new_gnu();
            // Names that the writer itself would refuse.
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_entry_type(*sort);
            header.set_mode(*mode);
            header.set_size(content.len() as u64);
            if matches!(sort, EntryType::Link | EntryType::Symlink) {
                header.set_link_name("/etc/passwd").unwrap();
            }
            header.set_cksum();
            archive.append(&header, *content).unwrap();
        }
        archive.into_inner().unwrap().finish().unwrap()
    }

    fn files(bytes: &[u8], inside: ArchiveRoot) -> Result<Vec<(String, u32, String)>> {
        let mut files = Vec::new();
        read(bytes, inside, &mut |name, mode, content| {
            let mut text = String::new();
            content.read_to_string(&mut text).unwrap();
            files.push((name.to_owned(), mode, text));
            Ok(())
        })?;
        Ok(files)
    }

    #[test]
    fn archives_as_their_projects_release_them_are_read() {
        let containerd =
            packed(&[("bin/", EntryType::Directory, 0o755, b""), ("bin/ctr", EntryType::Regular, 0o755, b"c")]);
        assert_eq!(files(&containerd, ArchiveRoot::Bin).unwrap(), [("ctr".to_owned(), 0o755, "c".to_owned())]);
        let plugins = packed(&[
            ("./", EntryType::Directory, 0o755, b""),
            ("./bridge", EntryType::Regular, 0o775, b"b"),
            ("./LICENSE", EntryType::Regular, 0o664, b"l"),
        ]);
        let expected = [("bridge".to_owned(), 0o755, "b".to_owned()), ("LICENSE".to_owned(), 0o644, "l".to_owned())];
        assert_eq!(files(&plugins, ArchiveRoot::Top).unwrap(), expected);
    }

    #[test]
    fn an_archive_that_was_compressed_in_several_parts_is_read_to_its_end() {
        let (mut archive, mut parts) = (tar::Builder::new(Vec::new()), Vec::new());
        for name in ["bridge", "loopback"] {
            let mut header = tar::Header::new_gnu();
            header.set_size(1);
            header.set_mode(0o755);
            archive.append_data(&mut header, name, &b"x"[..]).unwrap();
        }
        // One part for each file, as tools that compress in parallel write them.
        for part in archive.into_inner().unwrap().chunks(1024) {
            let mut compressed = GzEncoder::new(Vec::new(), Compression::fast());
            std::io::Write::write_all(&mut compressed, part).unwrap();
            parts.extend(compressed.finish().unwrap());
        }
        let names: Vec<_> = files(&parts, ArchiveRoot::Top).unwrap().into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["bridge", "loopback"]);
    }

    #[test]
    fn everything_else_is_refused_with_its_name() {
        for (path, sort) in [
            ("bin/../../etc/passwd", EntryType::Regular),
            ("/bin/ctr", EntryType::Regular),
            ("../ctr", EntryType::Regular),
            ("bin/a/b", EntryType::Regular),
            ("bin/.ctr", EntryType::Regular),
            ("bin/a b", EntryType::Regular),
            ("etc/crictl.yaml", EntryType::Regular),
            ("etc/", EntryType::Directory),
            ("bin/ctr", EntryType::Symlink),
            ("bin/ctr", EntryType::Link),
            ("bin/ctr", EntryType::Char),
            ("bin/ctr", EntryType::Block),
            ("bin/ctr", EntryType::Fifo),
        ] {
            let archive = packed(&[("bin/good", EntryType::Regular, 0o755, b"x"), (path, sort, 0o755, b"")]);
            let error = files(&archive, ArchiveRoot::Bin).unwrap_err().to_string();
            assert!(error.contains(path), "{sort:?} {path}: {error}");
        }
    }

    #[test]
    fn an_archive_that_is_empty_cut_or_none_is_refused() {
        let good = packed(&[("a", EntryType::Regular, 0o755, &[7; 5000])]);
        for bytes in [&packed(&[])[..], &good[..good.len() / 2], b"no archive", b""] {
            assert!(files(bytes, ArchiveRoot::Top).is_err());
        }
        let twice = packed(&[("a", EntryType::Regular, 0o755, b""), ("./a", EntryType::Regular, 0o755, b"")]);
        assert!(files(&twice, ArchiveRoot::Top).unwrap_err().to_string().contains("twice"));
    }
}
