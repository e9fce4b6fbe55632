//! A file that is replaced keeps its extended attributes and its ACL.
use crate::support::{binary, documents::document, run_output::RunOutput};
use rustix::{
    fs::{XattrFlags, getxattr, setxattr},
    io::Errno,
};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
    process::Command,
};
use tempfile::TempDir;

const NOTE: &str = "user.note";
const ACL: &str = "system.posix_acl_access";
const CAPABILITY: &str = "security.capability";
/// `cap_net_bind_service=p`, as the kernel stores it.
const BIND: [u8; 20] = [0, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// An ACL that lets user 1234 read and write, as far as the mask does; see acl(5).
fn acl(mask: u16) -> Vec<u8> {
    const NO_ID: u32 = u32::MAX;
    let entries: [(u16, u16, u32); 5] =
        [(0x01, 6, NO_ID), (0x02, 6, 1234), (0x04, 4, NO_ID), (0x10, mask, NO_ID), (0x20, 4, NO_ID)];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes().into_iter().chain(permissions.to_le_bytes()).chain(id.to_le_bytes()));
    }
    bytes
}

fn set(path: &Path, name: &str, value: &[u8]) -> rustix::io::Result<()> {
    setxattr(path, name, value, XattrFlags::empty())
}

fn get(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 4096];
    match getxattr(path, name, &mut value[..]) {
        Ok(length) => Some(value[..length].to_vec()),
        Err(Errno::NODATA) => None,
        Err(errno) => panic!("{name} of {}: {errno}", path.display()),
    }
}

/// A root with a file that has all of these, on the first file system that has them.
fn machine() -> TempDir {
    let mut tried = Vec::new();
    for dir in ["/var/tmp", "/tmp", "/dev/shm", env!("CARGO_TARGET_TMPDIR")] {
        let root = tempfile::tempdir_in(dir).expect("a directory can be made");
        let file = root.path().join("etc/motd");
        fs::create_dir(root.path().join("etc")).expect("a directory can be made");
        fs::write(&file, "old").expect("a file can be written");
        let all = [(NOTE, &b"important"[..]), (ACL, &acl(6)), (CAPABILITY, &BIND)];
        match all.iter().try_for_each(|(name, value)| set(&file, name, value)) {
            Ok(()) => return root,
            Err(errno) => tried.push(format!("{dir}: {errno}")),
        }
    }
    panic!("this test needs root and a file system with ACLs and extended attributes; tried {tried:?}");
}

fn bootstrap(root: &Path, file: &str) {
    let configuration = root.join("node.yaml");
    fs::write(&configuration, document("FilesConfig", &format!("{{files: [{file}]}}"))).expect("a file can be written");
    let words = ["--root".as_ref(), root.as_os_str(), "bootstrap".as_ref(), "-f".as_ref(), configuration.as_os_str()];
    let ran = binary::run(words);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn replacing_a_file_drops_neither_its_acl_nor_its_extended_attributes() {
    testbed::needs!(Root);
    let root = machine();
    let file = root.path().join("etc/motd");
    bootstrap(root.path(), "{path: /etc/motd, content: new}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(get(&file, NOTE).as_deref(), Some(&b"important"[..]));
    assert_eq!(get(&file, ACL), Some(acl(6)));
}

#[test]
fn the_acl_of_a_replaced_file_is_limited_by_its_new_mode() {
    testbed::needs!(Root);
    let root = machine();
    let file = root.path().join("etc/motd");
    bootstrap(root.path(), "{path: /etc/motd, content: new, mode: '0644'}");
    assert_eq!(get(&file, ACL), Some(acl(4)));
}

#[test]
fn new_content_does_not_get_the_capabilities_of_the_old() {
    testbed::needs!(Root);
    let root = machine();
    let file = root.path().join("etc/motd");
    assert_eq!(get(&file, CAPABILITY).as_deref(), Some(&BIND[..]));
    bootstrap(root.path(), "{path: /etc/motd, content: new}");
    assert_eq!(get(&file, CAPABILITY), None);
}

#[test]
fn a_replaced_file_without_acl_does_not_inherit_one_from_its_directory() {
    testbed::needs!(Root);
    let root = machine();
    let file = root.path().join("etc/motd");
    rustix::fs::removexattr(&file, ACL).unwrap();
    set(&root.path().join("etc"), "system.posix_acl_default", &acl(6)).unwrap();
    bootstrap(root.path(), "{path: /etc/motd, content: new}");
    assert_eq!(get(&file, ACL), None);
}

#[test]
fn an_attribute_that_cannot_be_copied_is_named_and_the_file_stays() {
    testbed::needs!(Root);
    const NOBODY: u32 = 65534;
    let root = machine();
    let file = root.path().join("etc/motd");
    // Every user can read it, and only an administrator can set it.
    set(&file, "security.machineadm-test", b"x").unwrap();
    testbed::copy_program(env!("CARGO_BIN_EXE_machineadm").as_ref(), &root.path().join("machineadm")).unwrap();
    let configuration = root.path().join("node.yaml");
    fs::write(&configuration, document("FilesConfig", "{files: [{path: /etc/motd, content: new}]}")).unwrap();
    for path in ["", "etc", "etc/motd", "node.yaml"] {
        chown(root.path().join(path), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"), "--clear-groups".to_owned()]);
    command.arg(root.path().join("machineadm")).arg("--root").arg(root.path()).args(["bootstrap", "-f"]);
    let ran = RunOutput::of(command.arg(&configuration).output().expect("setpriv is missing: run scripts/setup"));
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("cannot copy the extended attribute security.machineadm-test"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(fs::read_dir(root.path().join("etc")).unwrap().count(), 1, "no draft is left");
}
