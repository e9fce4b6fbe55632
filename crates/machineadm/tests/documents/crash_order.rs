//! Every state that a power cut could leave in our model of a disk, from the recorded order of the program's writes, syncs
//! and renames: none breaks a guarantee, and the program makes the same machine of each.
use crate::support::{
    binary::{command, run},
    comparable_tree::comparable,
    differences::differences,
    disk_model::Disk,
    file_tree::{Entry, Tree, look},
    power_cut_guarantees::Guarantees,
    scratch::Scratch,
    shell, small_machine,
    strace::{Op, record},
};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::Path,
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// An undisturbed run, recorded once for all tests.
static RECORDED: LazyLock<Recorded> = LazyLock::new(Recorded::new);

struct Recorded {
    before: Tree,
    after: Tree,
    ops: Vec<Op>,
}

impl Recorded {
    fn new() -> Self {
        let dir = Scratch::new("recorded");
        let (root, configuration) = small_machine::lay_out(dir.path());
        let before = without_shell(look(&root));
        let ops = record(&command(arguments(&root, &configuration)), &root, &dir.path().join("strace.log"));
        Self { before, after: without_shell(look(&root)), ops }
    }

    /// What states of some order of these calls break, each broken guarantee once.
    fn broken(&self, ops: &[Op], states: impl Fn(&Disk) -> BTreeSet<Tree>) -> Vec<String> {
        let disk = Disk::new(&self.before, ops);
        let guarantees = Guarantees {
            before: &self.before,
            after: &self.after,
            whole: &disk.whole,
            command: ("unseen", "/var/lib/unseen"),
        };
        let mut broken: Vec<String> = states(&disk).iter().flat_map(|state| guarantees.broken(state)).collect();
        broken.sort();
        broken.dedup();
        broken
    }
}

#[test]
fn the_model_comes_to_the_same_tree_as_the_kernel() {
    testbed::needs!(Root, Judge("strace"));
    let states = Disk::new(&RECORDED.before, &RECORDED.ops).states_that_differ_in_one_effect();
    assert!(states.contains(&RECORDED.after), "the whole order, replayed, is not what the run left");
    assert!(states.contains(&RECORDED.before));
}

/// Counted by hand: a new name, bytes and a mode that nothing has made durable; then the file is, its name is not.
#[test]
fn the_model_builds_every_state() {
    let entry = |kind, mode| Entry { kind, mode, owner: (0, 0), body: Vec::new() };
    let before = Tree::from([(String::new(), entry("directory", 0o755))]);
    let path = || "/new".to_owned();
    let mut ops = vec![
        Op::Open { path: path(), mode: 0o600, cut: false },
        Op::Write { path: path(), bytes: b"12".to_vec() },
        Op::Write { path: path(), bytes: b"34".to_vec() },
        Op::Mode { path: path(), mode: 0o644 },
    ];
    let built = |ops: &[Op]| {
        let disk = Disk::new(&before, ops);
        let choices: Vec<usize> = (0..=disk.calls).map(|call| disk.choices(call).len()).collect();
        (choices, disk.every_state().len())
    };
    // Without its name it is nothing; with it each write is there, half there or lost, and it has one of two modes.
    assert_eq!(built(&ops), (vec![1, 2, 6, 18, 36], 1 + 3 * 3 * 2));
    ops.extend([Op::Sync { path: path() }, Op::Sync { path: String::new() }]);
    assert_eq!(built(&ops), (vec![1, 2, 6, 18, 36, 2, 1], 1 + 3 * 3 * 2));
}

#[test]
fn no_power_cut_leaves_a_half_written_file_or_a_false_success() {
    testbed::needs!(Root, Judge("strace"));
    assert_eq!(RECORDED.broken(&RECORDED.ops, Disk::every_state), Vec::<String>::new());
}

#[test]
fn the_checker_finds_what_is_wrong_with_an_order_without_syncs() {
    testbed::needs!(Root, Judge("strace"));
    let without = |is_synced: &dyn Fn(&str) -> bool| {
        let kept = |op: &&Op| !matches!(op, Op::SyncAll) && !matches!(op, Op::Sync { path } if is_synced(path));
        let ops: Vec<Op> = RECORDED.ops.iter().filter(kept).cloned().collect();
        // Without syncs nearly everything stays open, and every state would be too many.
        RECORDED.broken(&ops, Disk::states_that_differ_in_one_effect).join("\n")
    };
    let is_dir = |path: &str| RECORDED.after.get(path).is_some_and(|entry| entry.kind == "directory");
    let of_files = without(&|path| !is_dir(path));
    assert!(of_files.contains("/etc/hosts is half-written"), "{of_files}");
    let of_directories = without(&is_dir);
    for found in ["success is told", "finds no configuration", "unseen has run, but"] {
        assert!(of_directories.contains(found), "{of_directories}");
    }
}

#[test]
fn every_eighth_state_that_a_power_cut_leaves_is_recovered_from() {
    testbed::needs!(Root, Judge("strace"));
    recover_all(&states_to_recover_from().into_iter().step_by(8).collect::<Vec<_>>());
}

#[test]
#[ignore = "long tier: seven eighths of the states that a power cut leaves"]
fn every_state_that_a_power_cut_leaves_is_recovered_from() {
    testbed::needs!(Root, Judge("strace"));
    recover_all(&states_to_recover_from());
}

/// Every state of the model, with and without what a boot takes with it.
fn states_to_recover_from() -> Vec<Tree> {
    let disk = Disk::new(&RECORDED.before, &RECORDED.ops);
    let mut states = disk.every_state();
    let choices: usize = (0..=disk.calls).map(|call| disk.choices(call).len()).sum();
    assert!(states.is_superset(&disk.states_that_differ_in_one_effect()), "not every state was built");
    assert!(choices > states.len() && states.len() > disk.calls, "too few states to mean anything");
    states.extend(states.iter().map(rebooted).collect::<Vec<_>>());
    states.into_iter().collect()
}

fn recover_all(states: &[Tree]) {
    let wanted = comparable(RECORDED.after.clone());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(state) = states.get(next.fetch_add(1, Ordering::Relaxed)) {
                    recover(state, &wanted);
                }
            });
        }
    });
}

/// The same without what a boot takes with it.
fn rebooted(state: &Tree) -> Tree {
    let kept = state.iter().filter(|(name, _)| !name.starts_with("/run/"));
    kept.map(|(name, entry)| (name.clone(), entry.clone())).collect()
}

/// Runs the program on a state; the tree must come out as wanted.
fn recover(state: &Tree, wanted: &Tree) {
    let dir = Scratch::new("recover");
    let (root, configuration) = (dir.path().join("root"), dir.path().join("configuration.yaml"));
    lay_out(state, &root);
    shell::install(&root);
    fs::write(&configuration, small_machine::CONFIGURATION).expect("a file can be written");
    let again = run(arguments(&root, &configuration));
    let context = || format!("{}{}\nthe state was {:#?}", again.stdout, again.stderr, state);
    assert_eq!(again.code, Some(0), "{}", context());
    let found = comparable(without_shell(look(&root)));
    assert_eq!(differences(wanted, &found), Vec::<String>::new(), "{}", context());
}

fn lay_out(tree: &Tree, root: &Path) {
    for (name, entry) in tree {
        let path = root.join(name.trim_start_matches('/'));
        match entry.kind {
            "directory" => fs::create_dir(&path).expect("a directory can be made"),
            "file" => fs::write(&path, &entry.body).expect("a file can be written"),
            "link" => {
                symlink(String::from_utf8_lossy(&entry.body).as_ref(), &path).expect("a link can be made");
                continue;
            }
            other => panic!("a {other} was not expected"),
        }
        chown(&path, Some(entry.owner.0), Some(entry.owner.1)).expect("root may give files away");
        fs::set_permissions(&path, fs::Permissions::from_mode(entry.mode)).expect("a mode can be set");
    }
}

/// The shell is large and nobody writes to it.
fn without_shell(mut tree: Tree) -> Tree {
    tree.retain(|name, _| !["/bin", "/lib", "/lib64"].iter().any(|dir| name.starts_with(dir)));
    tree
}

fn arguments<'a>(root: &'a Path, configuration: &'a Path) -> [&'a std::ffi::OsStr; 5] {
    ["--root".as_ref(), root.as_ref(), "bootstrap".as_ref(), "-f".as_ref(), configuration.as_ref()]
}
