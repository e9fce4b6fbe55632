//! A unix socket for one owner: created with its mode before anybody can find it, and never taken from who answers.
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
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
    #[error(
        "cannot create the socket {path}: {source}. Its directory must exist and be writable for this process; if it was created again since the start of the plugin, restart the plugin"
    )]
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
        let [beside, _] = files_beside(path);
        remove_if_there(&beside).map_err(failed)?;
        let listener = UnixListener::bind(&beside).map_err(failed)?;
        let prepared = fs::set_permissions(&beside, fs::Permissions::from_mode(0o600)).and_then(|()| {
            owner.map_or(Ok(()), |(user, group)| std::os::unix::fs::lchown(&beside, Some(user), Some(group)))
        });
        let inode = prepared.and_then(|()| Ok(fs::symlink_metadata(&beside)?.ino())).map_err(failed)?;
        fs::rename(&beside, path).and_then(|()| listener.set_nonblocking(true)).map_err(failed)?;
        Ok((Self { path: path.to_owned(), inode, _lock: lock }, listener))
    }

    /// What has become of its file.
    pub(crate) fn file(&self) -> SocketFile {
        // As long as the socket listens, no other file has its number.
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            return SocketFile::Ours;
        }
        refuse_taken(&self.path).map_or_else(SocketFile::Taken, |()| SocketFile::Lost)
    }
}

/// What a socket's path leads to.
#[derive(Debug)]
pub(crate) enum SocketFile {
    /// The socket.
    Ours,
    /// Nothing, or what nobody answers on: nobody can connect before the socket is created again.
    Lost,
    /// Another process, or no socket. Who has connected before is still served.
    Taken(SocketError),
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
    let [_, lock] = files_beside(path);
    let file = open(lock, flags, Mode::from_raw_mode(0o600))?;
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
        Ok(_) => match knock(path) {
            Err(Errno::CONNREFUSED) => Ok(()),
            // It answers, or is too busy to.
            _ => Err(SocketError::Taken { path: shown }),
        },
    }
}

/// Connects without waiting: a process that accepts nothing any more, with its queue full, must not stop all other keys.
fn knock(path: &Path) -> Result<(), Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    fs::remove_file(path).or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// What a socket needs beside it: its name while it is created, and its lock.
pub(crate) fn files_beside(path: &Path) -> [PathBuf; 2] {
    [".new", ".lock"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        name.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use tempfile::TempDir;

    /// A program that another test starts just then has a closed listener until it is executed.
    const LIMIT: std::time::Duration = std::time::Duration::from_secs(20);

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
        let opened =
            testbed::until("it is stale", LIMIT, || Socket::open(&path, None).map_err(|error| error.to_string()));
        let (_socket, _listener) = opened.unwrap();
        assert!(UnixStream::connect(&path).is_ok());
    }

    #[test]
    fn a_socket_whose_process_accepts_nothing_is_not_waited_for() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("kms.sock");
        let stuck = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        rustix::net::bind(&stuck, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        rustix::net::listen(&stuck, 0).unwrap();
        let _queued = UnixStream::connect(&path).unwrap();
        let (done, opened) = std::sync::mpsc::channel();
        // On a thread, since a connect that waits would wait for ever.
        std::thread::spawn(move || done.send(Socket::open(&path, None).map(drop)));
        let opened = opened.recv_timeout(std::time::Duration::from_secs(20)).expect("it does not wait");
        assert!(matches!(opened, Err(SocketError::Taken { .. })));
    }

    #[test]
    fn a_file_that_was_removed_or_replaced_is_noticed_and_left_to_who_has_it() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("kms.sock");
        let (socket, _listener) = Socket::open(&path, None).unwrap();
        assert!(matches!(socket.file(), SocketFile::Ours));
        let beside = directory.path().join("other.sock");
        let other = UnixListener::bind(&beside).unwrap();
        fs::rename(&beside, &path).unwrap();
        assert!(matches!(socket.file(), SocketFile::Taken(SocketError::Taken { .. })));
        drop(other);
        let lost =
            || matches!(socket.file(), SocketFile::Lost).then_some(()).ok_or_else(|| "it is not lost".to_owned());
        testbed::until("nobody has it", LIMIT, lost).unwrap();
        drop(socket);
        assert!(path.exists(), "it is not ours to remove");
        let (socket, _listener) = Socket::open(&path, None).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(matches!(socket.file(), SocketFile::Lost));
        fs::write(&path, "mine").unwrap();
        assert!(matches!(socket.file(), SocketFile::Taken(SocketError::NoSocket { .. })));
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
