//! Reading a kubeconfig and the files that it names: files and pipes, and no more of them than any has.
use objects::SMALL_FILE_LIMIT;
use std::{
    fs::{File, Metadata},
    io::{self, ErrorKind, Read},
    os::unix::fs::FileTypeExt,
    path::Path,
};
use zeroize::Zeroizing;

/// All of a file or pipe.
pub(super) fn read(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    // A look comes first, since merely opening a device may do something.
    allowed(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    allowed(&metadata)?;
    // All at once, since a vector that grows leaves copies behind.
    let length =
        if metadata.is_file() { usize::try_from(metadata.len()).unwrap_or(SMALL_FILE_LIMIT) } else { SMALL_FILE_LIMIT };
    let mut bytes = Zeroizing::new(Vec::with_capacity(length.min(SMALL_FILE_LIMIT) + 64));
    file.take(SMALL_FILE_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    check(&bytes)?;
    Ok(bytes)
}

/// Refuses more than any such file has.
pub(super) fn check(bytes: &[u8]) -> io::Result<()> {
    match bytes.len() > SMALL_FILE_LIMIT {
        true => Err(io::Error::new(ErrorKind::FileTooLarge, "it is larger than 1 MiB")),
        false => Ok(()),
    }
}

fn allowed(metadata: &Metadata) -> io::Result<()> {
    match metadata.is_file() || metadata.file_type().is_fifo() {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "it is neither a file nor a pipe")),
    }
}

/// What is wrong, without the system's numbers.
pub(super) fn in_words(error: &io::Error) -> String {
    error.get_ref().map_or_else(|| error.kind().to_string(), ToString::to_string)
}
