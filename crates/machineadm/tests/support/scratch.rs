//! A directory of a test's own, gone when the test ends.
use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

static MADE: AtomicU32 = AtomicU32::new(0);

/// A directory that only this test uses.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes one in memory where there is such a place: what is proven here does not need a disk's slow fsync.
    pub(crate) fn new(name: &str) -> Self {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let memory = Path::new("/dev/shm");
        let above = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = above.join(format!("machineadm-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("a test can make a directory of its own");
        Self(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed stays; the test's own verdict is worth more.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
