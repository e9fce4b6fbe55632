//! Files that are written together are all there, nothing else changes, and what is not safe is refused before anything
//! is written.
mod support {
    pub(crate) mod pki;
}

use machineadm_host::Host;
use objects::hex;
use rustix::fs::{XattrFlags, setxattr};
use sha2::{Digest, Sha256};
use std::{
    env,
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::Path,
    process::Command,
};
use support::pki::{
    PKI, SCRATCH, Tree, USER, assert_others_unchanged, assert_written, attribute, beside, itself, look, machine, pki,
    root, root_with_pki, set, write,
};

/// The name under which a copy of the directory is created.
fn draft() -> String {
    format!(".machineadm-{}", hex::encode(&Sha256::digest("pki")[..8]))
}

#[test]
fn a_missing_directory_is_created_with_all_files_and_its_parents() {
    testbed::needs!(Root);
    let root = root();
    machine(root.path()).write_together(PKI, &set()).unwrap();
    let tree = look(&pki(root.path()));
    assert_written(&tree);
    assert_eq!(tree.len(), set().len() + 2, "the files, the directory and etcd");
    for (path, entry) in ["", "etcd"].map(|path| (path, &tree[path])) {
        assert_eq!((entry.mode, entry.owner), (0o040_755, (0, 0)), "{path}");
    }
    assert_eq!(beside(root.path()), ["pki"]);
}

/// A tree without the inodes of the files of the set, which are new after each write.
fn without_new_inodes(mut tree: Tree) -> Tree {
    for (path, _) in set() {
        tree.entry(path).and_modify(|entry| entry.inode = None);
    }
    tree
}

#[test]
fn files_are_replaced_with_their_own_modes_and_all_other_entries_stay() {
    testbed::needs!(Root);
    let root = root_with_pki();
    let before = look(&pki(root.path()));
    machine(root.path()).write_together(PKI, &set()).unwrap();
    let after = look(&pki(root.path()));
    assert_written(&after);
    assert_others_unchanged(&before, &after);
    assert_eq!(after["ca.key"].label, before["ca.key"].label, "the label of a replaced file stays");
    assert_eq!(beside(root.path()), ["pki"]);
    machine(root.path()).write_together(PKI, &set()).unwrap();
    assert_eq!(without_new_inodes(look(&pki(root.path()))), without_new_inodes(after), "twice is once");
}

#[test]
fn another_name_of_a_replaced_file_keeps_the_old_content() {
    testbed::needs!(Root);
    let root = root_with_pki();
    let other = root.path().join("backup.key");
    fs::hard_link(pki(root.path()).join("ca.key"), &other).unwrap();
    machine(root.path()).write_together(PKI, &set()).unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "old");
    assert_eq!(fs::metadata(&other).unwrap().mode() & 0o7777, 0o666);
}

#[test]
fn no_copied_directory_inherits_an_acl_from_the_parent() {
    testbed::needs!(Root);
    let root = root_with_pki();
    // An ACL that lets user 1234 read; see acl(5).
    let entries: [(u16, u16, u32); 5] =
        [(1, 7, u32::MAX), (2, 4, USER), (4, 5, u32::MAX), (16, 5, u32::MAX), (32, 5, u32::MAX)];
    let mut acl = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        acl.extend(tag.to_le_bytes().into_iter().chain(permissions.to_le_bytes()).chain(id.to_le_bytes()));
    }
    let (parent, default) = (root.path().join("etc/kubernetes"), "system.posix_acl_default");
    setxattr(&parent, default, &acl, XattrFlags::empty()).unwrap();
    machine(root.path()).write_together(PKI, &set()).unwrap();
    for path in ["", "etcd", "extra", "extra/deep"].map(|path| pki(root.path()).join(path)) {
        for name in ["system.posix_acl_access", default] {
            assert_eq!(attribute(&path, name), None, "{name} of {}", path.display());
        }
    }
    assert_eq!(attribute(&parent, default), Some(acl));
}

#[test]
fn everything_that_is_not_safe_is_named_and_nothing_changes() {
    testbed::needs!(Root);
    let root = root_with_pki();
    let pki = pki(root.path());
    write(&root.path().join("outside.key"), "outside", 0o600);
    fs::remove_file(pki.join("ca.key")).unwrap();
    symlink("../../../outside.key", pki.join("ca.key")).unwrap();
    fs::rename(pki.join("etcd"), root.path().join("etcd")).unwrap();
    symlink("../../../etcd", pki.join("etcd")).unwrap();
    fs::create_dir(pki.join("sa.pub")).unwrap();
    let made = Command::new("mkfifo").arg(pki.join("extra/pipe")).status().unwrap();
    assert!(made.success());
    let before = look(root.path());
    let refused = machine(root.path()).write_together(PKI, &set()).unwrap_err().to_string();
    let reasons = [
        "ca.key is a symbolic link",
        "etcd is not a directory",
        "sa.pub is a directory",
        "extra/pipe is a FIFO, a socket or a device",
    ];
    assert_eq!(refused, format!("{PKI}: {}", reasons.join("; ")));
    assert_eq!(look(root.path()), before);
}

#[test]
fn a_directory_that_is_a_file_or_a_set_that_leaves_it_is_refused() {
    testbed::needs!(Root);
    let root = root();
    fs::create_dir_all(root.path().join("etc/kubernetes")).unwrap();
    write(&pki(root.path()), "a file", 0o600);
    let before = look(root.path());
    let refused = machine(root.path()).write_together(PKI, &set()).unwrap_err().to_string();
    assert_eq!(refused, format!("{PKI}: is not a directory"));
    let leaving = [("../admin.conf".to_owned(), set().remove(0).1)];
    let refused = machine(root.path()).write_together("/etc/missing/pki", &leaving).unwrap_err().to_string();
    assert_eq!(refused, "/etc/missing/pki: \"../admin.conf\" is not a path below it");
    assert_eq!(look(root.path()), before);
}

#[test]
fn a_directory_behind_a_trusted_link_is_written_where_it_is() {
    testbed::needs!(Root);
    let root = root_with_pki();
    let (real, link) = (root.path().join("data/certs"), pki(root.path()));
    fs::create_dir(root.path().join("data")).unwrap();
    fs::rename(&link, &real).unwrap();
    symlink("/data/certs", &link).unwrap();
    let before = look(&real);
    machine(root.path()).write_together(PKI, &set()).unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("/data/certs"));
    assert_written(&look(&real));
    assert_others_unchanged(&before, &look(&real));
    assert_eq!(fs::read_dir(root.path().join("data")).unwrap().count(), 1, "no draft is left");
}

/// Leaves drafts as an interrupted write does, beside the directory and, of a mount point, in it.
fn leave_drafts(root: &Path) {
    for parent in [root.join("etc/kubernetes"), pki(root)] {
        let draft = parent.join(draft());
        fs::create_dir_all(draft.join("etcd")).expect("a directory can be created");
        write(&draft.join("etcd/ca.key"), "secret", 0o600);
        symlink(pki(root).join("extra"), draft.join("link")).expect("a link can be created");
    }
}

#[test]
fn drafts_of_an_interrupted_write_are_deleted_and_links_in_them_not_followed() {
    testbed::needs!(Root);
    let root = root_with_pki();
    let before = look(root.path());
    leave_drafts(root.path());
    machine(root.path()).remove_together_drafts(PKI).unwrap();
    assert_eq!(look(root.path()), before);
    machine(root.path()).remove_together_drafts("/etc/missing/pki").unwrap();
    assert_eq!(look(root.path()), before);
}

#[test]
fn the_next_write_deletes_the_drafts_of_an_interrupted_one() {
    testbed::needs!(Root);
    let root = root_with_pki();
    let before = look(&pki(root.path()));
    leave_drafts(root.path());
    machine(root.path()).write_together(PKI, &set()).unwrap();
    assert_written(&look(&pki(root.path())));
    assert_others_unchanged(&before, &look(&pki(root.path())));
    assert_eq!(beside(root.path()), ["pki"]);
}

#[test]
fn nothing_is_deleted_where_another_user_could_have_given_it_the_name_of_a_draft() {
    testbed::needs!(Root);
    let root = root_with_pki();
    let parent = root.path().join("etc/kubernetes");
    let draft = parent.join(draft());
    fs::create_dir(&draft).unwrap();
    write(&draft.join("precious"), "precious", 0o600);
    chown(&draft, Some(USER), Some(USER)).unwrap();
    for (mode, reason) in [(0o777, "can be written by everybody"), (0o1777, "is owned by another user")] {
        fs::set_permissions(&parent, Permissions::from_mode(mode)).unwrap();
        let before = look(root.path());
        let written = machine(root.path()).write_together(PKI, &set()).unwrap_err().to_string();
        let removed = machine(root.path()).remove_together_drafts(PKI).unwrap_err().to_string();
        assert!(written.contains(reason) && removed.contains(reason), "{written}\n{removed}");
        assert_eq!(look(root.path()), before);
    }
}

/// Whether this is a process with mounts of its own; otherwise runs the test in one.
fn has_own_mounts(test: &str) -> bool {
    if env::var_os(SCRATCH).is_some() {
        return true;
    }
    let scratch = root();
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--propagation", "private"]).args(itself(test)).env(SCRATCH, scratch.path());
    let ran = unshare.output().expect("unshare is missing: run scripts/setup");
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && printed.contains("1 passed"), "{printed}");
    false
}

fn mount(arguments: &[&str], target: &Path) {
    let mounted = Command::new("mount").args(arguments).arg(target).status().expect("mount runs");
    assert!(mounted.success(), "mount {arguments:?}");
}

#[test]
fn a_mount_point_and_a_directory_below_an_overlay_get_all_files_one_by_one() {
    testbed::needs!(Root);
    if !has_own_mounts("a_mount_point_and_a_directory_below_an_overlay_get_all_files_one_by_one") {
        return;
    }
    let lower = root_with_pki();
    let (layers, overlay, mounted) = (root(), root(), root_with_pki());
    let [upper, work] = ["upper", "work"].map(|name| layers.path().join(name));
    fs::create_dir(&upper).and_then(|()| fs::create_dir(&work)).unwrap();
    let [lower, upper, work] = [lower.path(), &upper, &work].map(|path| path.display().to_string());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work},redirect_dir=off");
    mount(&["-t", "overlay", "overlay", "-o", &options], overlay.path());
    let directory = pki(mounted.path());
    mount(&["--bind", &directory.display().to_string()], &directory);
    for root in [overlay.path(), mounted.path()] {
        let (before, inode) = (look(&pki(root)), fs::metadata(pki(root)).unwrap().ino());
        machine(root).write_together(PKI, &set()).unwrap();
        let after = look(&pki(root));
        assert_written(&after);
        assert_others_unchanged(&before, &after);
        assert_eq!(after["ca.key"].label, before["ca.key"].label);
        assert_eq!(fs::metadata(pki(root)).unwrap().ino(), inode, "the directory was not exchanged");
        assert_eq!(beside(root), ["pki"]);
    }
}

#[test]
fn nothing_in_a_mount_below_the_directory_is_deleted() {
    testbed::needs!(Root);
    if !has_own_mounts("nothing_in_a_mount_below_the_directory_is_deleted") {
        return;
    }
    let root = root_with_pki();
    let directory = pki(root.path());
    let extra = directory.join("extra");
    mount(&["--bind", &extra.display().to_string()], &extra);
    let before = look(&directory);
    machine(root.path()).write_together(PKI, &set()).unwrap();
    assert_written(&look(&directory));
    assert_others_unchanged(&before, &look(&directory));
    // Files of the set cannot be renamed into another mount.
    mount(&["-t", "tmpfs", "tmpfs"], &directory.join("etcd"));
    let before = look(&directory);
    let refused = machine(root.path()).write_together(PKI, &set()).unwrap_err().to_string();
    assert_eq!(refused, format!("{PKI}: etcd is a mount point"));
    assert_eq!(look(&directory), before);
}
