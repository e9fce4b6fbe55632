//! A process that writes files together is killed at each of its system calls, and one undisturbed run makes up for it.
mod support {
    pub(crate) mod pki;
}

use machineadm_host::Host;
use std::{collections::BTreeMap, env, os::unix::process::ExitStatusExt, path::Path};
use support::pki::{
    PKI, Tree, assert_others_unchanged, assert_written, beside, itself, look, machine, pki, root, root_with_pki, set,
};
use tempfile::TempDir;

/// The calls that change the file system or make it durable, but those that create or write a file: after each of those
/// comes one of these before the next change. A process is killed before the call takes place.
const CALLS: [&str; 11] = [
    "mkdirat",
    "linkat",
    "symlinkat",
    "renameat",
    "renameat2",
    "unlinkat",
    "fchmod",
    "fchown",
    "fsetxattr",
    "fremovexattr",
    "fsync",
];
/// The root that a process that will be killed works on.
const VICTIM: &str = "MACHINEADM_TEST_VICTIM";

/// How often a kill at a call left the old directory, and how often the new one.
type Kills = BTreeMap<&'static str, (usize, usize)>;

/// In a process that will be killed, writes; otherwise kills one such process at each of its calls, and finishes its work.
fn kill_at_every_call(test: &str, new_root: fn() -> TempDir) -> Option<Kills> {
    if let Some(root) = env::var_os(VICTIM) {
        machine(Path::new(&root)).write_together(PKI, &set()).expect("nothing but the kill stops it");
        return None;
    }
    let mut kills = Kills::new();
    for call in CALLS {
        for time in 1.. {
            let root = new_root();
            let before = look_if_there(&pki(root.path()));
            if !killed(test, root.path(), &format!("{call}:signal=SIGKILL:when={time}")) {
                break;
            }
            let (old, new) = kills.entry(call).or_default();
            let after = look_if_there(&pki(root.path()));
            if after == before {
                *old += 1;
            } else {
                assert_complete(before.as_ref(), &after.expect("the directory is not gone"));
                *new += 1;
            }
            machine(root.path()).write_together(PKI, &set()).expect("the next run completes");
            assert_complete(before.as_ref(), &look(&pki(root.path())));
            assert_eq!(beside(root.path()), ["pki"], "{call} {time}: no draft is left");
        }
    }
    Some(kills)
}

/// Whether strace killed the test in another process; if not, it succeeded.
fn killed(test: &str, root: &Path, injection: &str) -> bool {
    let mut strace = testbed::judges::command("strace").expect("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e"]).arg(format!("inject={injection}"));
    let ended = strace.args(itself(test)).env(VICTIM, root).output().expect("strace runs");
    let printed = String::from_utf8_lossy(&ended.stdout);
    let succeeded = ended.status.success() && printed.contains("1 passed");
    assert!(succeeded || ended.status.signal() == Some(9), "{injection}: {printed}");
    !succeeded
}

fn look_if_there(directory: &Path) -> Option<Tree> {
    directory.exists().then(|| look(directory))
}

/// Asserts that the whole set is there and that nothing else changed.
fn assert_complete(before: Option<&Tree>, after: &Tree) {
    assert_written(after);
    match before {
        Some(before) => assert_others_unchanged(before, after),
        None => assert_eq!(after.len(), set().len() + 2, "the files, the directory and etcd"),
    }
}

#[test]
fn a_kill_at_any_call_leaves_a_new_directory_absent_or_complete() {
    testbed::needs!(Root, Judge("strace"));
    let test = "a_kill_at_any_call_leaves_a_new_directory_absent_or_complete";
    let Some(kills) = kill_at_every_call(test, root) else { return };
    assert_eq!(kills["mkdirat"], (4, 0), "two parents, the draft and etcd: {kills:?}");
    assert_eq!(kills["renameat"], (1, 0), "the directory gets its name in one call: {kills:?}");
    assert_eq!(kills["fsync"].1, 1, "the name is made durable: {kills:?}");
}

#[test]
fn a_kill_at_any_call_leaves_all_files_old_or_all_new() {
    testbed::needs!(Root, Judge("strace"));
    let test = "a_kill_at_any_call_leaves_all_files_old_or_all_new";
    let Some(kills) = kill_at_every_call(test, root_with_pki) else { return };
    assert_eq!(kills["linkat"], (4, 0), "what stays is linked before the exchange: {kills:?}");
    assert_eq!(kills["renameat2"], (1, 0), "one call exchanges the directories: {kills:?}");
    let (old, new) = kills["unlinkat"];
    assert!(old == 0 && new > 4, "the old directory is deleted after the exchange: {kills:?}");
}
