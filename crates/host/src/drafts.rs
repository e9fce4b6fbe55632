//! Files on their way to a machine: received into drafts that only root can read, verified, then installed.
use crate::Result;
use objects::Sha256Sum;

/// The drafts of a machine, each named by the SHA-256 that its file must have ([`crate::contract::DOWNLOADS_DIR`]).
pub trait Drafts {
    /// Opens a draft; what an interrupted run has received is in it.
    fn open_draft(&mut self, wanted: Sha256Sum) -> Result<Box<dyn Draft>>;
    /// Copies a file of the machine into its draft, in place of what is there.
    fn copy_to_draft(&mut self, wanted: Sha256Sum, path: &str) -> Result<()>;
    /// The SHA-256 of what is in a draft.
    fn draft_sum(&self, wanted: Sha256Sum) -> Result<Sha256Sum>;
    /// What installing a verified draft writes. An archive is read to its end, and nothing is written.
    fn contents_of_draft(&self, wanted: Sha256Sum, packing: &Packing) -> Result<Vec<InstalledFile>>;
    /// Installs the files of a draft. All are written beside their paths before the first gets its name.
    fn install(&mut self, wanted: Sha256Sum, packing: &Packing, files: &[InstalledFile]) -> Result<()>;
    /// Deletes a draft.
    fn delete_draft(&mut self, wanted: Sha256Sum) -> Result<()>;
    /// Deletes every draft but these.
    fn delete_drafts_except(&mut self, wanted: &[Sha256Sum]) -> Result<()>;
}

/// A file that is being received.
pub trait Draft {
    /// How many bytes it has.
    fn size(&self) -> u64;
    /// Adds bytes to its end.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;
    /// Removes every byte.
    fn clear(&mut self) -> Result<()>;
}

/// What a draft holds, and where that belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packing {
    /// One file.
    File {
        /// Its absolute path.
        path: String,
    },
    /// A compressed archive.
    Archive {
        /// The directory for its files.
        directory: String,
        /// Where in the archive they are.
        inside: ArchiveRoot,
    },
}

/// The directory of an archive that has all of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveRoot {
    /// The topmost.
    Top,
    /// `bin`.
    Bin,
}

/// A file that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledFile {
    /// Absolute path.
    pub path: String,
    /// Of its content.
    pub sum: Sha256Sum,
    /// Permission bits.
    pub mode: u32,
}

/// A regular file of any size, by its SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSum {
    /// Of its content.
    pub sum: Sha256Sum,
    /// Its size in bytes.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// User.
    pub uid: u32,
    /// Whether no user but root could have written it.
    pub is_trusted: bool,
}

/// The mode of a program.
pub const PROGRAM_MODE: u32 = 0o755;
