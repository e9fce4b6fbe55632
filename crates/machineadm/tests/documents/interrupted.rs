//! A run that is cut short, and a second one beside the first: what each is told, and what comes after.
use crate::support::{binary, documents::document, run_output::RunOutput, scratch::Scratch, shell};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::{
    fs,
    path::PathBuf,
    process::{Child, Stdio},
    sync::atomic::{AtomicBool, Ordering},
};

/// A tree whose configuration stops in a command until it is told to go on.
struct Machine {
    dir: Scratch,
    root: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let dir = Scratch::new("interrupted");
        let root = dir.path().join("root");
        shell::install(&root);
        for name in ["ready", "go"] {
            mknodat(CWD, root.join(name), FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a FIFO can be made");
        }
        let waits = "{commands: [{name: wait, argv: [/bin/sh, -c, 'echo now > /ready; read go < /go; : > /done']}]}";
        let file = "{files: [{path: /etc/motd, content: hello}]}";
        let documents = [document("FilesConfig", file), document("CommandsConfig", waits)].concat();
        fs::write(dir.path().join("configuration.yaml"), documents).expect("a file can be written");
        Self { dir, root }
    }

    fn arguments(&self, words: &[&str]) -> Vec<String> {
        let root = self.root.to_str().expect("a plain name");
        ["--root", root].iter().chain(words).map(|&word| word.to_owned()).collect()
    }

    fn run(&self, words: &[&str]) -> RunOutput {
        binary::run(self.arguments(words))
    }

    fn configuration(&self) -> String {
        self.dir.path().join("configuration.yaml").to_str().expect("a plain name").to_owned()
    }

    /// A run that has come to its command and stays there.
    fn at_work(&self, words: &[&str]) -> Child {
        let mut command = binary::command(self.arguments(words));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        // Opening waits for the command to open the other end.
        assert_eq!(fs::read_to_string(self.root.join("ready")).ok().as_deref(), Some("now\n"));
        child
    }

    /// Lets the command go on; waits until it listens.
    fn go(&self) {
        fs::write(self.root.join("go"), "go\n").expect("a FIFO can be written");
    }
}

#[test]
fn a_killed_run_is_reported_as_interrupted_and_goes_on_without_its_file() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let mut first = machine.at_work(&["bootstrap", "-f", &machine.configuration()]);
    let status = machine.run(&["status"]);
    assert!(status.code == Some(0) && status.stdout.contains("RUNNING"), "{}", status.stdout);
    first.kill().unwrap();
    first.wait().unwrap();
    let status = machine.run(&["status"]);
    assert_eq!(status.code, Some(1));
    for word in ["INTERRUPTED at CommandsConfig", "Then:    machineadm bootstrap"] {
        assert!(status.stdout.contains(word), "{}", status.stdout);
    }
    fs::remove_file(machine.configuration()).unwrap();
    let mut second = machine.at_work(&["bootstrap"]);
    machine.go();
    assert_eq!(second.wait().unwrap().code(), Some(0));
    let status = machine.run(&["status"]);
    assert!(status.code == Some(0) && status.stdout.contains("SUCCEEDED"), "{}", status.stdout);
    let third = machine.run(&["bootstrap"]);
    assert_eq!(third.code, Some(2), "{}", third.stderr);
    assert!(third.stderr.contains("-f FILE"), "{}", third.stderr);
}

#[test]
fn of_two_runs_at_once_the_second_is_told_who_holds_the_machine() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let file = machine.configuration();
    let plan = machine.dir.path().join("plan").to_str().unwrap().to_owned();
    assert_eq!(machine.run(&["plan", "-f", &file, "--out", &plan]).code, Some(0));
    let mut first = machine.at_work(&["bootstrap", "-f", &file]);
    for words in [&["bootstrap", "-f", &file][..], &["bootstrap"], &["apply", &plan]] {
        let second = machine.run(words);
        assert_eq!(second.code, Some(4), "{}", second.stderr);
        let holder = format!("machineadm bootstrap, process {}, since 20", first.id());
        assert!(second.stderr.contains(&holder), "{}", second.stderr);
    }
    let status = machine.run(&["status"]);
    assert!(status.stdout.contains(&format!("process {}", first.id())), "{}", status.stdout);
    machine.go();
    assert_eq!(first.wait().unwrap().code(), Some(0));
}

/// `status` takes the lock for a moment to see whether it is held; this asks without a pause.
#[test]
fn whoever_asks_for_the_status_all_the_time_keeps_no_run_from_starting() {
    let machine = Machine::new();
    let file = document("FilesConfig", "{files: [{path: /etc/motd, content: hello}]}");
    fs::write(machine.configuration(), file).unwrap();
    assert_eq!(machine.run(&["bootstrap", "-f", &machine.configuration()]).code, Some(0));
    let over = AtomicBool::new(false);
    let codes: Vec<_> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let lock = fs::File::open(machine.root.join("run/machineadm/lock")).expect("a run has made it");
                let _held = lock.try_lock_shared();
            }
        });
        let codes = (0..50).map(|_| machine.run(&["bootstrap", "-f", &machine.configuration()]).code).collect();
        over.store(true, Ordering::Relaxed);
        codes
    });
    assert_eq!(codes.iter().filter(|&&code| code != Some(0)).count(), 0, "{codes:?}");
}

#[test]
fn an_interrupted_command_that_the_configuration_no_longer_has_stops_the_run_until_it_is_abandoned() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let mut first = machine.at_work(&["bootstrap", "-f", &machine.configuration()]);
    first.kill().unwrap();
    first.wait().unwrap();
    let saved = machine.root.join("var/lib/machineadm/configuration.yaml");
    let before = fs::read(&saved).unwrap();
    let other = machine.root.parent().unwrap().join("other.yaml");
    let files = "{files: [{path: /etc/other, content: x}]}";
    let head = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig";
    fs::write(&other, format!("{head}\nspec: {files}\n")).unwrap();
    let other = other.to_str().unwrap();
    for words in [&["bootstrap", "-f", other][..], &["plan", "-f", other]] {
        let refused = machine.run(words);
        assert_eq!(refused.code, Some(6), "{}{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.contains("pass --abandon"), "{}", refused.stderr);
        assert!(!machine.root.join("etc/other").exists());
        assert_eq!(fs::read(&saved).unwrap(), before, "the saved configuration was overwritten");
    }
    let name = machine.run(&["plan", "-f", other]).stderr;
    let name = name.split("--abandon ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().to_owned();
    let unknown = machine.run(&["bootstrap", "-f", other, "--abandon", "no-such-command"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    let both = machine.run(&["bootstrap", "-f", other, "--abandon", &name, "--abandon", "no-such-command"]);
    assert_eq!((both.code, machine.run(&["plan", "-f", other]).code), (Some(2), Some(6)), "{}", both.stderr);
    let forgotten = machine.run(&["bootstrap", "-f", other, "--abandon", &name]);
    assert_eq!(forgotten.code, Some(0), "{}{}", forgotten.stdout, forgotten.stderr);
    assert!(machine.root.join("etc/other").exists());
}

#[test]
fn without_a_file_only_provision_continues_and_a_fresh_machine_is_not_marked_as_failed() {
    let machine = Machine::new();
    for words in [&["bootstrap"][..], &["bootstrap", "--mode", "post"], &["bootstrap", "--mode", "prepare"]] {
        let ran = machine.run(words);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("-f FILE"), "{}", ran.stderr);
    }
    assert!(!machine.root.join("run/cluster-api").exists());
}

#[test]
fn prune_says_what_it_leaves_alone() {
    let machine = Machine::new();
    let dir = machine.root.parent().unwrap();
    let head = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig";
    let [first, second] = ["gone", "stays"].map(|name| {
        let path = dir.join(format!("{name}.yaml"));
        let spec = format!("{{files: [{{path: /etc/{name}, content: x}}]}}");
        fs::write(&path, format!("{head}\nmetadata: {{name: {name}}}\nspec: {spec}\n")).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let all = machine.run(&["bootstrap", "--mode", "post", "-f", &first, "-f", &second]);
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    fs::write(machine.root.join("etc/gone"), "the operator's").unwrap();
    let pruned = machine.run(&["bootstrap", "--mode", "post", "--prune", "-f", &second]);
    assert_eq!(pruned.code, Some(0), "{}", pruned.stderr);
    assert!(pruned.stderr.contains("/etc/gone was written by FilesConfig gone"), "{}", pruned.stderr);
    assert!(pruned.stderr.contains("it was changed since, so it stays"), "{}", pruned.stderr);
    let wrong = machine.run(&["bootstrap", "--prune", "-f", &second]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("--mode post"), "{}", wrong.stderr);
}

#[test]
fn drafts_of_an_interrupted_run_do_not_stay_when_the_next_configuration_writes_other_files() {
    testbed::needs!(Root);
    let machine = Machine::new();
    let mut first = machine.at_work(&["bootstrap", "-f", &machine.configuration()]);
    first.kill().unwrap();
    first.wait().unwrap();
    // Where its writes of /etc/motd and of the saved configuration are before they are renamed.
    let drafts = ["etc/.machineadm-5faab372d8fe1b00", "var/lib/machineadm/.machineadm-4100aa6a34f3a281"];
    for draft in drafts {
        fs::write(machine.root.join(draft), "half of a secr").unwrap();
    }
    let other = document("FilesConfig", "{files: [{path: /srv/other, content: x}]}");
    fs::write(machine.configuration(), other).unwrap();
    let second = machine.run(&["bootstrap", "--mode", "post", "-f", &machine.configuration()]);
    assert_eq!(second.code, Some(6), "{}", second.stderr);
    let second = machine.run(&["bootstrap", "--mode", "post", "--abandon", "wait", "-f", &machine.configuration()]);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert_eq!(drafts.map(|draft| machine.root.join(draft).exists()), [false, false]);
}
