//! A certificates directory below a root of a test's own, and how it looks.
use machineadm_host::{FileState, Linux};
use rustix::{
    fs::{XattrFlags, getxattr, setxattr},
    io::Errno,
};
use secret::Secret;
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsString,
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// The directory, as the machine knows it.
pub(crate) const PKI: &str = "/etc/kubernetes/pki";
/// The SELinux label of an entry. Without SELinux the kernel stores it like any other attribute.
pub(crate) const LABEL: &str = "security.selinux";
const KUBERNETES_FILE: &[u8] = b"system_u:object_r:kubernetes_file_t:s0\0";
/// A user who is not root.
pub(crate) const USER: u32 = 1234;

/// What an entry is, apart from its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    /// A file's contents, a link's target.
    pub(crate) body: Vec<u8>,
    pub(crate) label: Option<Vec<u8>>,
    /// Of a directory none: it may be created anew.
    pub(crate) inode: Option<u64>,
}

/// Everything below a directory, by its path from there, with the directory itself under the empty path.
pub(crate) type Tree = BTreeMap<String, Entry>;

/// Where a process that a test starts creates its roots; what it leaves mounted there, the test deletes.
pub(crate) const SCRATCH: &str = "MACHINEADM_TEST_SCRATCH";

/// An empty root, in memory where there is such a place: what is shown here does not need a disk's slow fsync.
pub(crate) fn root() -> TempDir {
    let memory = Some(PathBuf::from("/dev/shm")).filter(|memory| memory.is_dir());
    let above = env::var_os(SCRATCH).map(PathBuf::from).or(memory).unwrap_or_else(env::temp_dir);
    tempfile::tempdir_in(above).expect("a directory can be created")
}

/// A root whose certificates directory has files of a set, with wrong content and mode, and other entries.
pub(crate) fn root_with_pki() -> TempDir {
    let root = root();
    let pki = pki(root.path());
    fs::create_dir_all(pki.join("etcd")).expect("a directory can be created");
    fs::create_dir_all(pki.join("extra/deep")).expect("a directory can be created");
    for (path, mode) in
        [("ca.key", 0o666), ("etcd/ca.crt", 0o600), ("apiserver.crt", 0o640), ("etcd/server.key", 0o400)]
    {
        write(&pki.join(path), "old", mode);
    }
    write(&pki.join("extra/deep/notes"), "old", 0o4711);
    symlink("apiserver.crt", pki.join("current")).expect("a link can be created");
    for path in ["apiserver.crt", "etcd", "extra/deep"] {
        chown(pki.join(path), Some(USER), Some(USER)).expect("root changes owners");
    }
    for (path, mode) in [("", 0o751), ("etcd", 0o710), ("extra/deep", 0o2775)] {
        fs::set_permissions(pki.join(path), Permissions::from_mode(mode)).expect("root changes modes");
    }
    for path in ["", "ca.key", "etcd", "etcd/server.key", "extra/deep"] {
        setxattr(pki.join(path), LABEL, KUBERNETES_FILE, XattrFlags::empty()).expect("root labels files");
    }
    root
}

/// The files that a joining control plane gets; one of them is not root's.
pub(crate) fn set() -> Vec<(String, FileState)> {
    let names = ["ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.pub", "sa.key"];
    let paths = names.into_iter().chain(["etcd/ca.crt", "etcd/ca.key"]);
    let file = |path: &str| FileState {
        contents: Secret::new(format!("new {path}").into_bytes()),
        mode: if path.ends_with(".key") { 0o600 } else { 0o644 },
        uid: if path == "sa.pub" { USER } else { 0 },
        gid: 0,
    };
    paths.map(|path| (path.to_owned(), file(path))).collect()
}

/// The machine below a root.
pub(crate) fn machine(root: &Path) -> Linux {
    Linux::new(root, PathBuf::new(), Box::new(|_| {})).expect("a root can be opened")
}

/// Where the certificates directory is.
pub(crate) fn pki(root: &Path) -> PathBuf {
    root.join(PKI.trim_start_matches('/'))
}

/// Writes a file with a mode.
pub(crate) fn write(path: &Path, contents: &str, mode: u32) {
    fs::write(path, contents).expect("a file can be written");
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode can be changed");
}

/// Looks at a tree; links are not followed.
pub(crate) fn look(top: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut ahead = vec![(String::new(), top.to_owned())];
    while let Some((name, path)) = ahead.pop() {
        let found = fs::symlink_metadata(&path).expect("what a listing names is there");
        let mut body = Vec::new();
        if found.is_dir() {
            for entry in fs::read_dir(&path).expect("a directory can be listed") {
                let entry = entry.expect("a directory can be listed to its end").file_name();
                let entry = entry.to_str().expect("names of a test are text");
                ahead.push((format!("{name}/{entry}").trim_start_matches('/').to_owned(), path.join(entry)));
            }
        } else if found.is_symlink() {
            body = fs::read_link(&path).expect("a link can be read").into_os_string().into_encoded_bytes();
        } else if found.is_file() {
            body = fs::read(&path).expect("root reads every file");
        }
        let label = (!found.is_symlink()).then(|| attribute(&path, LABEL)).flatten();
        let inode = (!found.is_dir()).then(|| found.ino());
        tree.insert(name, Entry { mode: found.mode(), owner: (found.uid(), found.gid()), body, label, inode });
    }
    tree
}

/// An extended attribute.
pub(crate) fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 4096];
    match getxattr(path, name, &mut value[..]) {
        Ok(length) => Some(value[..length].to_vec()),
        Err(Errno::NODATA) => None,
        Err(errno) => panic!("{name} of {}: {errno}", path.display()),
    }
}

/// Asserts that all files of the set are there, as they were given.
pub(crate) fn assert_written(tree: &Tree) {
    for (path, file) in set() {
        let found = tree.get(&path).unwrap_or_else(|| panic!("{path} is missing"));
        assert_eq!(&found.body, file.contents.expose(), "{path}");
        assert_eq!(found.mode, 0o100_000 | file.mode, "{path}");
        assert_eq!(found.owner, (file.uid, file.gid), "{path}");
    }
}

/// Asserts that everything but the files of the set is as before, with the same inodes.
pub(crate) fn assert_others_unchanged(before: &Tree, after: &Tree) {
    let written: BTreeSet<String> = set().into_iter().map(|(path, _)| path).collect();
    let others = |tree: &Tree| tree.clone().into_iter().filter(|(path, _)| !written.contains(path)).collect::<Tree>();
    assert_eq!(others(after), others(before));
}

/// The names beside the certificates directory.
pub(crate) fn beside(root: &Path) -> Vec<String> {
    let listed = fs::read_dir(root.join("etc/kubernetes")).expect("the parent can be listed");
    listed.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect()
}

/// This program again, for one test.
pub(crate) fn itself(test: &str) -> [OsString; 3] {
    [env::current_exe().expect("this program").into(), "--exact".into(), test.into()]
}
