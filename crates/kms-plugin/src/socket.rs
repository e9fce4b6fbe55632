//! A unix socket for one owner: created with its mode before anybody can find it, and never taken from who answers.
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    /// Another process has it.
    #[error("another process serves {path}: stop it, or give this key another socket")]
    Taken { path: String },
    /// Something else is there.
    #[error("{path} exists and is not a socket: remove it, or give this key another socket")]
    NoSocket { path: String },
    /// The system refuses.
    #[error("cannot create the socket {path}: {source}. Its directory must exist and be writable for this process")]
    Create { path: String, source: io::Error },
}

/// A socket that listens; its file is removed when dropped, if it still is this one.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
    inode: u64,
    /// Held as long as the socket: no second plugin takes the path while this one lives.
    _lock: OwnedFd,
}

impl Socket {
    /// Creates the socket with mode 0600 and its owner. A stale one is replaced, one that answers is not.
    pub(crate) fn open(path: &Path, owner: Option<(u32, u32)>) -> Result<(Self, UnixListener), SocketError> {
        let shown = || path.display().to_string();
        let failed = |source: io::Error| SocketError::Create { path: shown(), source };
        let lock = lock(path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => SocketError::Taken { path: shown() },
            _ => failed(error),
        })?;
        refuse_taken(path)?;
        let beside = with_end(path, ".new");
        remove_if_there(&beside).map_err(failed)?;
        let listener = UnixListener::bind(&beside).map_err(failed)?;
        let prepared = fs::set_permissions(&beside, fs::Permissions::from_mode(0o600)).and_then(|()| {
            owner.map_or(Ok(()), |(user, group)| std::os::unix::fs::lchown(&beside, Some(user), Some(group)))
        });
        let inode = prepared.and_then(|()| Ok(fs::symlink_metadata(&beside)?.ino())).map_err(failed)?;
        fs::rename(&beside, path).and_then(|()| listener.set_nonblocking(true)).map_err(failed)?;
        Ok((Self { path: path.to_owned(), inode, _lock: lock }, listener))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            // A file that stays is replaced by the next process, since nobody answers on it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn lock(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = open(with_end(path, ".lock"), flags, Mode::from_raw_mode(0o600))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// A program that knows nothing of our lock may serve the path.
fn refuse_taken(path: &Path) -> Result<(), SocketError> {
    let shown = path.display().to_string();
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(SocketError::Create { path: shown, source }),
        Ok(found) if !found.file_type().is_socket() => Err(SocketError::NoSocket { path: shown }),
        Ok(_) => match UnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            // It answers, or is too busy to.
            _ => Err(SocketError::Taken { path: shown }),
        },
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    fs::remove_file(path).or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn a_socket_is_for_its_owner_alone_and_goes_with_its_process() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("kms.sock");
        let (socket, _listener) = Socket::open(&path, None).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert!(matches!(Socket::open(&path, None), Err(SocketError::Taken { .. })));
        drop(socket);
        assert!(!path.exists());
    }

    #[test]
    fn a_stale_socket_is_replaced_and_one_that_answers_is_not() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("kms.sock");
        let other = UnixListener::bind(&path).unwrap();
        assert!(matches!(Socket::open(&path, None), Err(SocketError::Taken { .. })));
        drop(other);
        assert!(path.exists());
        let (_socket, _listener) = Socket::open(&path, None).unwrap();
        assert!(UnixStream::connect(&path).is_ok());
    }

    #[test]
    fn what_is_no_socket_stays() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("kms.sock");
        fs::write(&path, "mine").unwrap();
        assert!(matches!(Socket::open(&path, None), Err(SocketError::NoSocket { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }
}
