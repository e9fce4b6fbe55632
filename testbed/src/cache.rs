//! Where the test bed keeps what is dear to make, and how two runs at once share it.
use crate::error::file;
use crate::{Error, Result, digest};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What [`make_once`] makes, by folder.
const FOLDERS: &[&str] = &["programs", "bases", "layers", "images"];
/// How the name of what is half made ends.
const PARTIAL: &str = "partial";
/// What no run has used for this long belongs to a checkout that is gone.
const KEPT_FOR: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// The test bed's part of the user's cache: `${XDG_CACHE_HOME:-$HOME/.cache}/machineadm`.
pub fn directory() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let cache = cache.ok_or_else(|| Error::Missing {
        what: "a place for the cache".to_owned(),
        remedy: "set HOME or XDG_CACHE_HOME".to_owned(),
    })?;
    Ok(cache.join("machineadm"))
}

/// A short name for what is made of these parts; the same wherever the cache lies.
pub(crate) fn name_of(parts: &str) -> Result<String> {
    Ok(digest::short(parts.replace(&directory()?.display().to_string(), "")))
}

/// Makes a directory of the cache unless it is there: into a neighbour first, which then takes its name.
///
/// Whoever comes second waits for the first. What a killed run left half made is thrown away.
pub(crate) fn make_once(place: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let lock = beside(place, "lock");
    if place.exists() {
        note_use(&lock);
        return Ok(());
    }
    let _only_one = Lock::take(&lock)?;
    if place.exists() {
        return Ok(());
    }
    let partial = beside(place, PARTIAL);
    remove_tree(&partial)?;
    fs::create_dir_all(&partial).map_err(file("create", &partial))?;
    make(&partial)?;
    fs::rename(&partial, place).map_err(file("rename into", place))
}

/// Removes what no run of any checkout has used for two weeks, such as programs of older versions; returns their names.
///
/// Nothing is removed while a bed lives: its machines stand on bases and layers.
pub fn prune() -> Result<Vec<String>> {
    prune_below(&directory()?, SystemTime::now() - KEPT_FOR)
}

fn prune_below(cache: &Path, unused_since: SystemTime) -> Result<Vec<String>> {
    if !entries(&cache.join("beds"))?.is_empty() {
        return Ok(Vec::new());
    }
    let mut removed = Vec::new();
    for place in FOLDERS.iter().map(|folder| entries(&cache.join(folder))).collect::<Result<Vec<_>>>()?.concat() {
        // What is half made is beside its lock; whoever makes it, or makes it anew, looks after it.
        let is_made = place.is_dir() && place.extension().is_none_or(|suffix| suffix != PARTIAL);
        let lock = beside(&place, "lock");
        let last_use = || fs::metadata(&lock).and_then(|lock| lock.modified());
        if !is_made || last_use().is_ok_and(|used| used > unused_since) {
            continue;
        }
        // The file of the lock stays: another process may wait for it.
        let _only_one = Lock::take(&lock)?;
        remove_tree(&place)?;
        removed.push(place.file_name().unwrap_or_default().to_string_lossy().into_owned());
    }
    Ok(removed)
}

/// The lock's time is that of the last use. A cache that only others may write stays usable.
fn note_use(lock: &Path) {
    let _ = File::options().write(true).open(lock).and_then(|lock| lock.set_modified(SystemTime::now()));
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let found = match fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.and_then(|found| found.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()),
    };
    let mut found = found.map_err(file("list", directory))?;
    found.sort();
    Ok(found)
}

fn absent_is_fine(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Removes a directory and all below it; nothing there is as good.
pub(crate) fn remove_tree(place: &Path) -> Result<()> {
    fs::remove_dir_all(place).or_else(absent_is_fine).map_err(file("remove", place))
}

/// An exclusive lock on a file, held until dropped; the kernel drops it for a process that dies.
pub(crate) struct Lock {
    _held: File,
}

impl Lock {
    /// Waits for the lock.
    pub(crate) fn take(path: &Path) -> Result<Self> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(file("create", parent))?;
        }
        let held = File::create(path).map_err(file("create", path))?;
        flock(&held, FlockOperation::LockExclusive).map_err(|errno| file("lock", path)(errno.into()))?;
        Ok(Self { _held: held })
    }
}

fn beside(place: &Path, suffix: &str) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    place.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn place(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("testbed-cache-{name}-{}", std::process::id()))
    }

    #[test]
    fn what_two_runs_want_at_once_is_made_once() {
        let (root, made) = (place("once"), AtomicU32::new(0));
        let make = || {
            make_once(&root.join("thing"), |partial| {
                made.fetch_add(1, Ordering::Relaxed);
                fs::write(partial.join("whole"), "").map_err(file("write", partial))
            })
        };
        std::thread::scope(|scope| {
            let both = [scope.spawn(make), scope.spawn(make)];
            both.into_iter().for_each(|one| one.join().unwrap().unwrap());
        });
        assert_eq!(made.load(Ordering::Relaxed), 1);
        assert!(root.join("thing/whole").exists());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_failed_or_was_left_half_made_is_made_anew() {
        let root = place("anew");
        let failed = make_once(&root.join("thing"), |partial| {
            fs::write(partial.join("half"), "").unwrap();
            Err(Error::Misused("no".to_owned()))
        });
        assert!(failed.is_err() && !root.join("thing").exists());
        make_once(&root.join("thing"), |partial| {
            assert!(!partial.join("half").exists());
            Ok(())
        })
        .unwrap();
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_no_run_has_used_for_long_is_removed_unless_a_bed_lives() {
        let cache = place("prune");
        let make = |name: &str| make_once(&cache.join(name), |_| Ok(())).unwrap();
        let age = |name: &str| {
            let lock = File::options().write(true).open(cache.join(format!("{name}.lock"))).unwrap();
            lock.set_modified(SystemTime::now() - 2 * KEPT_FOR).unwrap();
        };
        for name in ["programs/old-1", "programs/new-2", "bases/old", "programs/used-again"] {
            make(name);
            age(name);
        }
        make("programs/used-again");
        note_use(&cache.join("programs/new-2.lock"));
        fs::create_dir_all(cache.join("programs/being-made-3.partial")).unwrap();
        fs::create_dir_all(cache.join("beds/alive")).unwrap();
        let limit = SystemTime::now() - KEPT_FOR;
        assert_eq!(prune_below(&cache, limit).unwrap(), [""; 0]);
        fs::remove_dir(cache.join("beds/alive")).unwrap();
        assert_eq!(prune_below(&cache, limit).unwrap(), ["old-1", "old"]);
        assert!(!cache.join("bases/old").exists() && cache.join("programs/being-made-3.partial").is_dir());
        assert!(cache.join("programs/new-2").is_dir() && cache.join("programs/used-again").is_dir());
        fs::remove_dir_all(cache).unwrap();
    }
}
