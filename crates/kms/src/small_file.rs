//! Files with certificates and credentials, which others write.
use std::path::Path;
use std::{fs, io};

/// Reads a file of at most 1 MiB. Reading from a FIFO would hold the call, and its place among the calls of the key, for
/// ever; reading from a device would take all memory.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    let is_small = found.is_file() && found.len() <= objects::SMALL_FILE_LIMIT as u64;
    if is_small { fs::read(path) } else { Err(io::Error::other("not a file of at most 1 MiB")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn what_is_no_small_file_is_refused_at_once() {
        let directory = tempfile::TempDir::new().unwrap();
        let [good, fifo] = ["good", "fifo"].map(|name| directory.path().join(name));
        fs::write(&good, "text").unwrap();
        mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        assert_eq!(read(&good).unwrap(), b"text");
        for path in [fifo.as_path(), Path::new("/dev/zero"), directory.path()] {
            assert_eq!(read(path).unwrap_err().to_string(), "not a file of at most 1 MiB");
        }
        fs::File::create(&good).unwrap().set_len(objects::SMALL_FILE_LIMIT as u64 + 1).unwrap();
        assert!(read(&good).is_err());
    }
}
