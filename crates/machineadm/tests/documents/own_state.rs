//! machineadm's own records: what a run does when they are damaged, of another version, or of an unknown machine.
use crate::support::{
    binary,
    documents::document,
    file_tree::{self, Tree},
    run_output::RunOutput,
    scratch::Scratch,
    shell,
};
use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, mknodat};
use std::{
    fs::{self, File, Permissions},
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
};

const JOURNAL: &str = "var/lib/machineadm/journal.json";
const OWNERSHIP: &str = "var/lib/machineadm/ownership.json";
const STATE: &str = "var/lib/machineadm";
const CONFIGURATION: &str = "var/lib/machineadm/configuration.yaml";
const LOCK: &str = "run/machineadm/lock";
const FAILURE: &str = "run/cluster-api/bootstrap-failure.json";
/// A user who owns nothing.
const NOBODY: u32 = 65534;
const MACHINE_ID: &str = "etc/machine-id";

/// A machine on which a command has run that runs once, and its configuration beside it.
struct Machine {
    dir: Scratch,
    root: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let dir = Scratch::new("own-state");
        let root = dir.path().join("root");
        shell::install(&root);
        let machine = Self { dir, root };
        fs::create_dir(machine.at("etc")).expect("a directory can be made");
        fs::write(machine.at(MACHINE_ID), "0123456789abcdef0123456789abcdef\n").expect("a file can be written");
        let once = "{commands: [{name: once, argv: [/bin/sh, -c, 'echo ran >> /runs']}]}";
        let file = "{files: [{path: /etc/motd, content: hello}]}";
        let documents = [document("CommandsConfig", once), document("FilesConfig", file)].concat();
        fs::write(machine.dir.path().join("node.yaml"), documents).expect("a file can be written");
        assert_eq!(machine.run("bootstrap", &["-f"]).code, Some(0));
        assert_eq!(machine.runs(), "ran\n");
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn runs(&self) -> String {
        fs::read_to_string(self.at("runs")).unwrap_or_default()
    }

    fn machineadm(&self, words: &[&str]) -> RunOutput {
        let root = self.root.to_str().expect("a plain name");
        binary::run([&["--root", root], words].concat())
    }

    /// A command with the configuration as its last argument.
    fn run(&self, command: &str, options: &[&str]) -> RunOutput {
        let file = self.dir.path().join("node.yaml");
        self.machineadm(&[&[command], options, &[file.to_str().expect("a plain name")]].concat())
    }

    /// The tree without what every run writes before it looks: the lock.
    fn tree(&self) -> Tree {
        let mut tree = file_tree::look(&self.root);
        tree.retain(|path, _| !path.starts_with("/run"));
        tree
    }
}

/// A file of the machine that is changed, and what the message then contains.
struct Cause {
    path: &'static str,
    content: Option<&'static str>,
    message: &'static [&'static str],
}

const CAUSES: &[Cause] = &[
    Cause {
        path: JOURNAL,
        content: Some(""),
        message: &["/var/lib/machineadm/journal.json", "damaged", "backup", "runs again"],
    },
    Cause { path: JOURNAL, content: Some("{\"version\": 1, \"mach"), message: &["journal.json", "damaged"] },
    Cause {
        path: JOURNAL,
        content: Some("{\"version\": 2}"),
        message: &["version 2", "reads version 1", "runs again"],
    },
    Cause { path: MACHINE_ID, content: None, message: &["/etc/machine-id", "systemd-machine-id-setup", "runs again"] },
    Cause { path: MACHINE_ID, content: Some(""), message: &["/etc/machine-id", "systemd-machine-id-setup"] },
    Cause { path: MACHINE_ID, content: Some("uninitialized\n"), message: &["/etc/machine-id"] },
    Cause {
        path: OWNERSHIP,
        content: Some("{"),
        message: &["/var/lib/machineadm/ownership.json", "damaged", "backup", "/var/lib/machineadm/previous"],
    },
    Cause { path: OWNERSHIP, content: Some("{\"version\": 7}"), message: &["version 7", "ownership.json"] },
];

/// Puts a content at a path; `None` deletes the file.
fn put(path: &Path, content: Option<&str>) {
    match content {
        Some(content) => fs::write(path, content).expect("a file can be written"),
        None => fs::remove_file(path).expect("a file can be deleted"),
    }
}

#[test]
fn a_run_with_unusable_records_runs_no_command_again_and_changes_nothing() {
    testbed::needs!(Root);
    let machine = Machine::new();
    for Cause { path, content, message } in CAUSES {
        let before = fs::read_to_string(machine.at(path)).unwrap();
        put(&machine.at(path), *content);
        let tree = machine.tree();
        for ran in [machine.run("bootstrap", &["-f"]), machine.run("plan", &["-f"])] {
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(6), ""), "{path} {content:?}: {}", ran.stderr);
            message.iter().for_each(|part| assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr));
        }
        assert_eq!(machine.tree(), tree, "{path} {content:?}");
        put(&machine.at(path), Some(&before));
    }
    assert_eq!(machine.run("bootstrap", &["-f"]).code, Some(0));
    assert_eq!(machine.runs(), "ran\n");
}

#[test]
fn a_reviewed_plan_is_not_applied_with_a_damaged_journal() {
    testbed::needs!(Root);
    let machine = Machine::new();
    fs::write(machine.at("etc/motd"), "changed").unwrap();
    let plan = machine.dir.path().join("plan.json");
    let plan = plan.to_str().unwrap();
    assert_eq!(machine.run("plan", &["--out", plan, "-f"]).code, Some(0));
    put(&machine.at(JOURNAL), Some("{"));
    let tree = machine.tree();
    let ran = machine.machineadm(&["apply", plan]);
    assert!(ran.code == Some(6) && ran.stderr.contains("journal.json"), "{}", ran.stderr);
    assert_eq!(machine.tree(), tree);
}

#[test]
fn the_journal_of_another_machine_and_an_image_without_machine_id_start_fresh() {
    testbed::needs!(Root);
    let machine = Machine::new();
    put(&machine.at(MACHINE_ID), Some("fedcba9876543210fedcba9876543210\n"));
    assert_eq!(machine.run("bootstrap", &["-f"]).code, Some(0));
    assert_eq!(machine.runs(), "ran\nran\n");
    put(&machine.at(MACHINE_ID), None);
    put(&machine.at(JOURNAL), None);
    for _ in 0..2 {
        assert_eq!(machine.run("bootstrap", &["-f"]).code, Some(0));
    }
    assert_eq!(machine.runs(), "ran\nran\nran\n");
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode can be set");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn a_saved_configuration_that_another_user_wrote_is_not_continued_with() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let hostile = document("FilesConfig", "{files: [{path: /etc/hostile, content: x}]}");
    let saved = machine.at(CONFIGURATION);
    let elsewhere = machine.at("etc/elsewhere.yaml");
    let planted: &[(&str, Planted)] = &[
        ("is owned by another user", |saved, _| chown(saved, Some(NOBODY), None).unwrap()),
        ("can be written by everybody", |saved, _| set_mode(saved, 0o646)),
        ("can be written by its group", |saved, _| {
            chown(saved, None, Some(NOBODY)).unwrap();
            set_mode(saved, 0o660);
        }),
        ("is a symbolic link", |saved, elsewhere| {
            fs::rename(saved, elsewhere).unwrap();
            symlink("/etc/elsewhere.yaml", saved).unwrap();
        }),
    ];
    for (reason, plant) in planted {
        set_mode(&machine.at(STATE), 0o777);
        fs::write(&saved, &hostile).unwrap();
        plant(&saved, &elsewhere);
        let ran = machine.machineadm(&["bootstrap"]);
        assert_eq!(ran.code, Some(2), "{reason}: {}", ran.stderr);
        for part in ["/var/lib/machineadm/configuration.yaml", *reason, "remedy: "] {
            assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
        }
        assert!(!machine.at("etc/hostile").exists());
        assert_eq!(mode(&machine.at(STATE)), 0o700);
        fs::remove_file(&saved).unwrap();
    }
}

#[test]
fn no_record_that_another_user_could_have_written_is_acted_on() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let previous = fs::read_dir(machine.at("var/lib/machineadm")).unwrap().count();
    assert!(previous > 2, "the run has left records");
    for name in ["fetched.json", "journal.json", "ownership.json", "cluster-info.json", "previous/a", "services/a.json"]
    {
        let path = machine.at(STATE).join(name);
        let before = fs::read(&path).ok();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, before.clone().unwrap_or_default()).unwrap();
        chown(&path, Some(NOBODY), None).unwrap();
        for ran in [machine.run("bootstrap", &["-f"]), machine.run("plan", &["-f"])] {
            assert_eq!(ran.code, Some(2), "{name}: {}", ran.stderr);
            assert!(ran.stderr.contains(name) && ran.stderr.contains("is owned by another user"), "{}", ran.stderr);
        }
        fs::remove_file(&path).unwrap();
        before.into_iter().for_each(|before| fs::write(&path, before).unwrap());
    }
    assert_eq!(machine.run("bootstrap", &["-f"]).code, Some(0));
}

#[test]
fn a_state_directory_of_another_user_is_refused_and_its_mode_is_restored_by_runs_alone() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let state = machine.at(STATE);
    set_mode(&state, 0o777);
    for ran in [machine.run("plan", &["-f"]), machine.machineadm(&["status"])] {
        assert_eq!((ran.code, mode(&state)), (Some(0), 0o777), "{}", ran.stderr);
    }
    assert_eq!((machine.run("bootstrap", &["-f"]).code, mode(&state)), (Some(0), 0o700));
    chown(&state, Some(NOBODY), None).unwrap();
    for command in ["plan", "bootstrap"] {
        let ran = machine.run(command, &["-f"]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("/var/lib/machineadm is owned by another user"), "{}", ran.stderr);
    }
}

#[test]
fn a_failed_later_run_keeps_the_success_marks_of_a_node_and_reports_its_failure_beside_them() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let marks = || {
        let durable = "var/lib/machineadm/bootstrap-success.complete";
        [durable, "run/cluster-api/bootstrap-success.complete", FAILURE].map(|mark| machine.at(mark).exists())
    };
    assert_eq!(marks(), [true, true, false]);
    // What a kubelet has once the machine is a node.
    fs::create_dir_all(machine.at("etc/kubernetes")).unwrap();
    fs::write(machine.at("etc/kubernetes/kubelet.conf"), "").unwrap();
    let fails = document("CommandsConfig", "{commands: [{name: fails, argv: [/bin/sh, -c, 'exit 3']}]}");
    let good = fs::read_to_string(machine.dir.path().join("node.yaml")).unwrap();
    fs::write(machine.dir.path().join("node.yaml"), fails).unwrap();
    assert_eq!(machine.run("bootstrap", &["-f"]).code, Some(1));
    assert_eq!(marks(), [true, true, true]);
    let failure = fs::read_to_string(machine.at(FAILURE)).unwrap();
    assert!(failure.contains("fails ended with exit code 3"), "{failure}");
    assert!(machine.machineadm(&["status"]).stdout.contains("FAILED at CommandsConfig"));
    fs::write(machine.dir.path().join("node.yaml"), good).unwrap();
    assert_eq!(machine.run("bootstrap", &["-f"]).code, Some(0));
    assert_eq!(marks(), [true, true, false]);
}

/// A run without an InitConfig succeeds too. Whoever polls for a node must not take its mark for one later.
#[test]
fn a_machine_that_never_became_a_node_loses_its_success_marks_when_a_later_run_fails() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let fails = document("CommandsConfig", "{commands: [{name: fails, argv: [/bin/sh, -c, 'exit 3']}]}");
    fs::write(machine.dir.path().join("node.yaml"), fails).unwrap();
    assert_eq!(machine.run("bootstrap", &["-f"]).code, Some(1));
    let marks =
        ["var/lib/machineadm/bootstrap-success.complete", "run/cluster-api/bootstrap-success.complete", FAILURE];
    assert_eq!(marks.map(|mark| machine.at(mark).exists()), [false, false, true]);
}

/// The names are not reserved; where they lead is.
#[test]
fn a_document_cannot_write_the_lock_or_the_journal_through_a_link() {
    testbed::needs!(Root);
    for (link, target, path) in [
        ("srv/l", "../run", "/srv/l/machineadm/lock"),
        ("srv/l", "/run/machineadm", "/srv/l/lock"),
        ("srv/l", "/var/lib/machineadm", "/srv/l/journal.json"),
        ("srv/l", "/var/lib/machineadm", "/srv/l/new/file"),
        ("srv/l", "/run/cluster-api", "/srv/l/bootstrap-success.complete"),
        // A link at the end, and what is no file.
        ("srv/l", "/run/machineadm/lock", "/srv/l"),
        ("srv/l", "/var/lib/machineadm/journal.json", "/srv/l"),
        ("srv/l", "/var/lib", "/srv/l/machineadm directory"),
        ("srv/l", "/run/machineadm", "/srv/l/lock absent"),
        ("srv/l", "/proc", "/srv/l/sys/kernel/x"),
    ] {
        let machine = Machine::new();
        fs::create_dir_all(machine.at("srv")).unwrap();
        fs::create_dir_all(machine.at("proc")).unwrap();
        std::os::unix::fs::symlink(target, machine.at(link)).unwrap();
        let journal = fs::read(machine.at(JOURNAL)).unwrap();
        let (path, kind) = path.split_once(' ').unwrap_or((path, "file"));
        let entry = match kind {
            "file" => "content: forged",
            "directory" => "type: directory, mode: '0777', owner: '1000:1000'",
            _ => "type: absent",
        };
        let spec = format!("{{files: [{{path: {path}, {entry}}}]}}");
        fs::write(machine.dir.path().join("node.yaml"), document("FilesConfig", &spec)).unwrap();
        let ran = machine.run("bootstrap", &["-f"]);
        assert_eq!(ran.code, Some(1), "{path}: {}", ran.stderr);
        assert!(ran.stderr.contains("is reached through a symbolic link that leads to"), "{path}: {}", ran.stderr);
        let mode = fs::metadata(machine.at("var/lib/machineadm")).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode, machine.at("run/cluster-api").exists()), (0o700, true), "{path}");
        assert_eq!(fs::read(machine.at(JOURNAL)).unwrap(), journal, "{path}");
        assert_ne!(fs::read(machine.at(LOCK)).unwrap(), b"forged", "{path}");
        assert!(!machine.at("var/lib/machineadm/new").exists());
    }
}

/// The directories are the same under every name, also where a system has linked them.
#[test]
fn a_document_cannot_write_the_journal_where_var_lib_is_a_link() {
    testbed::needs!(Root);
    let machine = Machine::new();
    fs::create_dir(machine.at("data")).unwrap();
    fs::rename(machine.at("var/lib"), machine.at("data/lib")).unwrap();
    std::os::unix::fs::symlink("/data/lib", machine.at("var/lib")).unwrap();
    let spec = "{files: [{path: /data/lib/machineadm/journal.json, content: forged}]}";
    fs::write(machine.dir.path().join("node.yaml"), document("FilesConfig", spec)).unwrap();
    let ran = machine.run("bootstrap", &["-f"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("the directory of machineadm itself"), "{}", ran.stderr);
}

#[test]
fn a_machine_id_that_is_damaged_does_not_empty_the_journal() {
    testbed::needs!(Root);
    let machine = Machine::new();
    fs::write(machine.at(MACHINE_ID), "garbage\n").unwrap();
    let ran = machine.run("bootstrap", &["-f"]);
    assert_eq!(ran.code, Some(6), "{}", ran.stderr);
    assert_eq!(machine.runs(), "ran\n");
}

#[test]
fn status_names_a_damaged_a_newer_and_an_unreadable_outcome_instead_of_no_run() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let outcome = machine.at("var/lib/machineadm/outcome.json");
    let newer = r#"{"apiVersion": "machineadm.cluster.x-k8s.io/v9", "kind": "Outcome"}"#;
    let check = |parts: &[&str]| {
        for words in [&["status"][..], &["status", "-o", "json"]] {
            let ran = machine.machineadm(words);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
            for part in [&["error: ", "/var/lib/machineadm/outcome.json", "remedy: "], parts].concat() {
                assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
            }
        }
    };
    for damaged in ["", "{", "[]", r#"{"apiVersion": "machineadm.cluster.x-k8s.io/v1alpha1", "kind": "Outcome"}"#] {
        fs::write(&outcome, damaged).unwrap();
        check(&["the file is damaged: "]);
    }
    fs::write(&outcome, newer).unwrap();
    check(&["machineadm.cluster.x-k8s.io/v9", "v1alpha1", "use the machineadm that wrote the file"]);
    chown(&outcome, Some(NOBODY), None).unwrap();
    check(&["is owned by another user"]);
    fs::remove_file(&outcome).unwrap();
    symlink("/etc/motd", &outcome).unwrap();
    check(&["is a symbolic link"]);
    fs::remove_file(&outcome).unwrap();
    let none = machine.machineadm(&["status"]);
    assert!(none.code == Some(1) && none.stderr.contains("has not run here yet"), "{}", none.stderr);
}

/// How a name becomes what machineadm must not lock; the second path is a file of the machine.
type Planted = fn(&Path, &Path);

#[test]
fn a_lock_that_is_a_link_or_another_user_s_is_refused_and_its_target_is_unchanged() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let (lock, victim) = (machine.at(LOCK), machine.at("etc/victim"));
    fs::write(&victim, "important").unwrap();
    let planted: &[(&str, Planted)] = &[
        ("is a symbolic link", |lock, victim| symlink(victim, lock).unwrap()),
        ("has a second name", |lock, victim| fs::hard_link(victim, lock).unwrap()),
        ("is not a regular file", |lock, _| {
            mknodat(CWD, lock, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        }),
        ("is owned by another user", |lock, _| {
            fs::write(lock, "").unwrap();
            chown(lock, Some(NOBODY), None).unwrap();
        }),
    ];
    for (reason, plant) in planted {
        fs::remove_file(&lock).unwrap();
        plant(&lock, &victim);
        let before = machine.tree();
        let ran = machine.run("bootstrap", &["-f"]);
        assert_eq!(ran.code, Some(1), "{reason}: {}", ran.stderr);
        for part in ["/run/machineadm/lock", *reason, "remedy: ", &format!("rm {}", machine.at(LOCK).display())] {
            assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "important");
        assert_eq!(machine.tree(), before);
    }
}

#[test]
fn the_text_of_a_lock_that_another_process_wrote_is_shown_in_one_short_line() {
    testbed::needs!(Root);
    let machine = Machine::new();
    fs::write(machine.at(LOCK), format!("other\x1b[2J\nprocess {}", "x".repeat(1 << 20))).unwrap();
    let held = File::open(machine.at(LOCK)).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let ran = machine.run("bootstrap", &["-f"]);
    assert!(ran.code == Some(4) && ran.stderr.contains("other"), "{}", ran.stderr);
    assert!(ran.stderr.len() < 1000, "{} bytes", ran.stderr.len());
}
