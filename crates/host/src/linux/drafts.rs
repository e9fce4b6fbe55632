//! Drafts below the state directory, and how their files get to their paths.
use super::{
    Linux, attributes,
    files::{self, draft_of, new_draft, remove_at},
    root::{Missing, Root, Spot},
    state::{self, LastLink},
    trusted::{self, Care},
};
use crate::{
    Draft, Drafts, Error, FileSum, InstalledFile, Packing, Result, archive, contract::DOWNLOADS_DIR,
    drafts::PROGRAM_MODE,
};
use objects::Sha256Sum;
use rustix::{
    fs::{Dir, Mode, OFlags, fchmod, fstat, fsync, openat, renameat},
    io::Errno,
};
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::{Read, Write},
};

/// How much is read at once.
const CHUNK: usize = 256 << 10;
/// Only root may see what is not verified yet.
const DIRECTORY_MODE: u32 = 0o700;
const DRAFT_MODE: u32 = 0o600;

/// The path of a draft.
pub(super) fn draft_path(wanted: Sha256Sum) -> String {
    format!("{DOWNLOADS_DIR}/{wanted}")
}

/// The SHA-256 of a regular file, with what else a look needs of it.
pub(super) fn sum_of(root: &Root, path: &str) -> Result<Option<FileSum>> {
    let Some(spot) = root.walk(path, Missing::Report)? else { return Ok(None) };
    let Some((mut file, stat)) = trusted::open(root, &spot, path, Care::Reading)? else { return Ok(None) };
    let sum = copied(&mut file, &mut std::io::sink()).map_err(Error::io(format!("read {path}")))?;
    Ok(Some(FileSum {
        sum,
        size: stat.st_size as u64,
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        is_trusted: !root.others_write(&stat),
    }))
}

impl Drafts for Linux {
    fn open_draft(&mut self, wanted: Sha256Sum) -> Result<Box<dyn Draft>> {
        let path = draft_path(wanted);
        let file = self.draft(&path)?;
        let size = file.metadata().map_err(Error::io(format!("open {path}")))?.len();
        Ok(Box::new(DraftFile { file, path, size }))
    }

    fn copy_to_draft(&mut self, wanted: Sha256Sum, path: &str) -> Result<()> {
        let spot = self.root.walk(path, Missing::Report)?;
        let found = match &spot {
            Some(spot) => trusted::open(&self.root, spot, path, Care::Reading)?,
            None => None,
        };
        let Some((mut from, _)) = found else {
            let advice = "correct the location in the ProgramsConfig, or put the file there".to_owned();
            return Err(Error::Unfit { what: path.to_owned(), why: "does not exist".to_owned(), advice });
        };
        let mut to = self.draft(&draft_path(wanted))?;
        let doing = || format!("copy {path}");
        to.set_len(0).map_err(Error::io(doing()))?;
        copied(&mut from, &mut to).map(drop).map_err(Error::io(doing()))
    }

    fn draft_sum(&self, wanted: Sha256Sum) -> Result<Sha256Sum> {
        let path = draft_path(wanted);
        copied(&mut self.read_draft(wanted)?, &mut std::io::sink()).map_err(Error::io(format!("read {path}")))
    }

    fn contents_of_draft(&self, wanted: Sha256Sum, packing: &Packing) -> Result<Vec<InstalledFile>> {
        let (directory, inside) = match packing {
            Packing::File { path } => {
                return Ok(vec![InstalledFile { path: path.clone(), sum: wanted, mode: PROGRAM_MODE }]);
            }
            Packing::Archive { directory, inside } => (directory, *inside),
        };
        let mut files = Vec::new();
        archive::read(self.read_draft(wanted)?, inside, &mut |name, mode, content| {
            let path = format!("{directory}/{name}");
            let sum = copied(content, &mut std::io::sink()).map_err(Error::io(format!("unpack {path}")))?;
            files.push(InstalledFile { path, sum, mode });
            Ok(())
        })?;
        Ok(files)
    }

    fn install(&mut self, wanted: Sha256Sum, packing: &Packing, files: &[InstalledFile]) -> Result<()> {
        let mut written = Vec::new();
        let filled = self.write_beside(wanted, packing, files, &mut written);
        let placed = filled.and_then(|()| written.iter().try_for_each(Beside::place));
        if placed.is_err() {
            // Best effort: the reason of the failure is worth more than that of a failed clean-up.
            written.iter().for_each(|beside| _ = remove_at(&beside.spot.dir, &beside.name));
        }
        placed
    }

    fn delete_draft(&mut self, wanted: Sha256Sum) -> Result<()> {
        files::remove(&self.root, &draft_path(wanted))
    }

    fn delete_drafts_except(&mut self, wanted: &[Sha256Sum]) -> Result<()> {
        let doing = || format!("clean up {DOWNLOADS_DIR}");
        let Some(directory) = self.state().directory_at(DOWNLOADS_DIR, Care::Applying)? else { return Ok(()) };
        for entry in Dir::read_from(&directory).map_err(Error::system(doing()))? {
            let name = entry.map_err(Error::system(doing()))?.file_name().to_string_lossy().into_owned();
            let is_wanted = Sha256Sum::parse(&name).is_some_and(|sum| wanted.contains(&sum));
            if !is_wanted && ![".", ".."].contains(&name.as_str()) {
                remove_at(&directory, &name).map_err(Error::system(doing()))?;
            }
        }
        fsync(&directory).map_err(Error::system(doing()))
    }
}

impl Linux {
    /// Opens a draft for writing at its end; creates it, and its directory.
    fn draft(&self, path: &str) -> Result<File> {
        state::make_state_dir(&self.root, path)?;
        files::make_dir(&self.root, DOWNLOADS_DIR, DIRECTORY_MODE)?;
        let doing = || format!("create {path}");
        let gone = || Error::Refused { what: path.to_owned(), why: "its directory was deleted meanwhile".to_owned() };
        let spot = self.root.walk_unfollowed(path, Missing::Report)?.ok_or_else(gone)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&spot.dir, &spot.name, flags, Mode::from_raw_mode(DRAFT_MODE));
        Ok(File::from(file.map_err(Error::system(doing()))?))
    }

    fn read_draft(&self, wanted: Sha256Sum) -> Result<File> {
        let path = draft_path(wanted);
        let opened = match self.root.walk_unfollowed(&path, Missing::Report)? {
            Some(spot) => trusted::open(&self.root, &spot, &path, Care::Applying)?,
            None => None,
        };
        let gone = || Error::System { doing: format!("open {path}"), source: Errno::NOENT.into() };
        opened.map(|(file, _)| file).ok_or_else(gone)
    }

    /// Writes every file beside its path; what was written so far is in `written`, also after a failure.
    fn write_beside(
        &self,
        wanted: Sha256Sum,
        packing: &Packing,
        files: &[InstalledFile],
        written: &mut Vec<Beside>,
    ) -> Result<()> {
        let mut draft = self.read_draft(wanted)?;
        let directory = match packing {
            Packing::File { .. } => {
                return files.iter().try_for_each(|file| {
                    written.push(Beside::new(&self.root, file)?);
                    written.last().map_or(Ok(()), |beside| beside.fill(&self.root, file, &mut draft))
                });
            }
            Packing::Archive { directory, inside } => (directory, *inside),
        };
        let (directory, inside) = directory;
        archive::read(draft, inside, &mut |name, _, content| {
            let path = format!("{directory}/{name}");
            let unknown = || changed(&path);
            let file = files.iter().find(|file| file.path == path).ok_or_else(unknown)?;
            written.push(Beside::new(&self.root, file)?);
            written.last().map_or(Ok(()), |beside| beside.fill(&self.root, file, content))
        })
    }
}

/// A file that is written beside its path, and gets its name when it is whole.
struct Beside {
    spot: Spot,
    name: String,
    path: String,
}

impl Beside {
    fn new(root: &Root, file: &InstalledFile) -> Result<Self> {
        state::check_foreign(root, &file.path, LastLink::Followed)?;
        let spot = files::spot_for(root, &file.path)?;
        check_directory(root, &spot, &file.path)?;
        let name = draft_of(&spot.name);
        Ok(Self { spot, name, path: file.path.clone() })
    }

    /// Only its owner can read it, and nobody can execute it, until its content has the wanted SHA-256.
    fn fill(&self, root: &Root, file: &InstalledFile, content: &mut dyn Read) -> Result<()> {
        let doing = || format!("write {}", self.path);
        remove_at(&self.spot.dir, &self.name).map_err(Error::system(doing()))?;
        let mut new = File::from(new_draft(&self.spot.dir, &self.name).map_err(Error::system(doing()))?);
        if let Some((old, _)) = trusted::open(root, &self.spot, &self.path, Care::Reading)? {
            attributes::copy(&old, &new, &self.path)?;
            fchmod(&new, Mode::from_raw_mode(DRAFT_MODE)).map_err(Error::system(doing()))?;
        }
        let sum = copied(content, &mut new).map_err(Error::io(doing()))?;
        if sum != file.sum {
            return Err(changed(&self.path));
        }
        fchmod(&new, Mode::from_raw_mode(file.mode)).map_err(Error::system(doing()))?;
        fsync(&new).map_err(Error::system(doing()))
    }

    fn place(&self) -> Result<()> {
        let Self { spot, name, path } = self;
        let renamed = renameat(&spot.dir, name, &spot.dir, &spot.name).and_then(|()| fsync(&spot.dir));
        renamed.map_err(Error::system(format!("install {path}")))
    }
}

/// Root executes what is in it: nobody else may be able to exchange a program there after it was verified. A group that
/// may write is accepted, since some distributions have one for `/usr/local`.
fn check_directory(root: &Root, spot: &Spot, path: &str) -> Result<()> {
    let stat = fstat(&spot.dir).map_err(Error::system(format!("look at the directory of {path}")))?;
    let (why, change) = match (root.trusts(stat.st_uid), stat.st_mode & 0o002) {
        (true, 0) => return Ok(()),
        (false, _) => ("is owned by another user, who can exchange programs in it", "chown root"),
        (true, _) => ("can be written by everybody", "chmod o-w"),
    };
    let directory = path.rsplit_once('/').map_or("/", |(directory, _)| directory).to_owned();
    let advice = format!("check its content, then run: {change} {directory}");
    Err(Error::Untrusted { what: directory, why: why.to_owned(), advice })
}

/// Nothing but machineadm can write a draft.
fn changed(path: &str) -> Error {
    Error::Refused { what: path.to_owned(), why: "the verified download changed while it was installed".to_owned() }
}

/// A draft that is being filled.
struct DraftFile {
    file: File,
    path: String,
    size: u64,
}

impl Draft for DraftFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Error::io(format!("write {}", self.path)))?;
        self.size += bytes.len() as u64;
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.file.set_len(0).map_err(Error::io(format!("empty {}", self.path)))?;
        self.size = 0;
        Ok(())
    }
}

/// Copies to the end and gives the SHA-256 of what was copied.
fn copied(from: &mut dyn Read, to: &mut dyn Write) -> std::io::Result<Sha256Sum> {
    let (mut digest, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(Sha256Sum(digest.finalize().into())),
            Ok(read) => {
                digest.update(&chunk[..read]);
                to.write_all(&chunk[..read])?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
