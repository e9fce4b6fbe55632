//! The PIN of a token's user: read from its file, and never tried twice once the token has refused it.
use crate::{Failure, FailureKind};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use secret::Secret;
use std::{fs::File, io::Read, path::Path};
use zeroize::Zeroizing;

/// What a PIN may have, in bytes.
const LIMIT: usize = 256;
/// Bits of a mode that let others than the owner read or write.
const OTHERS: u32 = 0o077;

/// Reads a PIN: the file's text without the end of its line.
pub(super) fn read(path: &Path) -> Result<Secret<String>, Failure> {
    let shown = path.display();
    let denied = |message: String| Failure::new(FailureKind::AccessDenied, message);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = open(path, flags, Mode::empty())
        .map_err(|errno| denied(format!("cannot open the PIN file {shown}: {errno}")))?;
    let found = fstat(&file).map_err(|errno| denied(format!("cannot look at the PIN file {shown}: {errno}")))?;
    let mode = found.st_mode & 0o7777;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(denied(format!("the PIN file {shown} is not a regular file")));
    }
    if mode & OTHERS != 0 {
        let message = format!("the PIN file {shown} has mode {mode:04o}: other users may read or write it; use 0600");
        return Err(denied(message));
    }
    let mut text = Zeroizing::new(String::with_capacity(LIMIT + 1));
    File::from(file)
        .take(LIMIT as u64 + 1)
        .read_to_string(&mut text)
        .map_err(|error| denied(format!("cannot read the PIN file {shown}: {error}")))?;
    let pin = text.trim_end_matches(['\r', '\n']);
    if pin.is_empty() || text.len() > LIMIT {
        return Err(denied(format!("the PIN file {shown} is empty, or larger than {LIMIT} bytes")));
    }
    Ok(Secret::new(pin.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_pin_is_the_text_of_a_file_that_nobody_else_may_read() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("pin");
        fs::write(&path, "12 34\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let loose = read(&path).unwrap_err();
        assert_eq!(loose.kind, FailureKind::AccessDenied);
        assert!(loose.message.ends_with("has mode 0640: other users may read or write it; use 0600"), "{loose}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read(&path).unwrap().expose(), "12 34");
        for text in ["", "\n", &"1".repeat(LIMIT + 1)] {
            fs::write(&path, text).unwrap();
            assert_eq!(read(&path).unwrap_err().kind, FailureKind::AccessDenied);
        }
        assert_eq!(read(directory.path()).unwrap_err().kind, FailureKind::AccessDenied);
        assert_eq!(read(&directory.path().join("none")).unwrap_err().kind, FailureKind::AccessDenied);
    }
}
