//! Whose files a configuration may lie in: one's own group is no stranger, except to root.
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
    process::Command,
};

const DOCUMENT: &str = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig\n\
                        spec: {files: [{path: /etc/a, content: x}]}\n";
/// A user and a group that exist everywhere and own nothing.
const NOBODY: u32 = 65534;
const OTHERS: u32 = 4242;

/// A file that its group can write, in a place that everybody can enter, and the program beside it.
fn laid_out(dir: &Path, owner: u32, group: u32) {
    fs::set_permissions(dir, Permissions::from_mode(0o755)).expect("a mode");
    testbed::copy_program(env!("CARGO_BIN_EXE_machineadm").as_ref(), &dir.join("machineadm")).expect("a copy");
    fs::write(dir.join("node.yaml"), DOCUMENT).expect("a file");
    fs::create_dir_all(dir.join("root/etc")).expect("a directory");
    for path in ["node.yaml", "root", "root/etc"] {
        chown(dir.join(path), Some(owner), Some(group)).expect("an owner");
    }
    fs::set_permissions(dir.join("node.yaml"), Permissions::from_mode(0o664)).expect("a mode");
}

fn bootstrapped(dir: &Path, user: u32) -> (Option<i32>, String) {
    let ids = [format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()];
    let mut command = Command::new("setpriv");
    command.args(ids).arg(dir.join("machineadm")).arg("--root").arg(dir.join("root"));
    let ran = command.arg("bootstrap").arg("-f").arg(dir.join("node.yaml")).output().expect("setpriv runs");
    (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
}

#[test]
fn a_user_s_own_group_may_write_their_file_and_no_other_may() {
    testbed::needs!(Root);
    for (user, group, code) in [(NOBODY, NOBODY, 0), (NOBODY, OTHERS, 2), (0, NOBODY, 2), (0, 0, 0)] {
        let dir = tempfile::tempdir().expect("a directory");
        laid_out(dir.path(), user, group);
        let (ended, said) = bootstrapped(dir.path(), user);
        assert_eq!(ended, Some(code), "user {user}, group {group}: {said}");
        assert!(code == 0 || said.contains("can be written by its group"), "{said}");
    }
}
