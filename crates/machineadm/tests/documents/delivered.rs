//! The configuration that a first-boot tool delivered: which run takes it, and which success deletes it.
use crate::support::{binary::run, documents::document, run_output::RunOutput, scratch::Scratch};
use flate2::{Compression, write::GzEncoder};
use host::contract::{CONFIGURATION, DELIVERED, SUCCESS_KEPT};
use std::{fs, io::Write, os::unix::fs::PermissionsExt, path::PathBuf};

/// A machine below a root.
struct Machine(Scratch);

impl Machine {
    fn new() -> Self {
        let machine = Self(Scratch::new("delivered"));
        fs::create_dir_all(machine.at("/etc/machineadm")).expect("a directory");
        fs::write(machine.at("/etc/machine-id"), "0123456789abcdef0123456789abcdef\n").expect("a file");
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path.trim_start_matches('/'))
    }

    fn has(&self, path: &str) -> bool {
        self.at(path).exists()
    }

    fn deliver(&self, bytes: impl AsRef<[u8]>) {
        fs::write(self.at(DELIVERED), bytes).expect("a file");
        fs::set_permissions(self.at(DELIVERED), fs::Permissions::from_mode(0o600)).expect("a mode");
    }

    /// Runs `bootstrap`; `@` stands for the root.
    fn bootstrap(&self, words: &[&str]) -> RunOutput {
        let root = self.0.path().to_string_lossy();
        run(["bootstrap", "--root", "@"].iter().chain(words).map(|word| word.replace('@', &root)))
    }

    fn succeeds(&self, words: &[&str]) -> RunOutput {
        let ran = self.bootstrap(words);
        assert_eq!(ran.code, Some(0), "{words:?}: {}{}", ran.stdout, ran.stderr);
        ran
    }

    fn motd(&self) -> String {
        fs::read_to_string(self.at("/etc/motd")).expect("a file")
    }
}

fn motd(text: &str) -> String {
    document("FilesConfig", &format!("{{files: [{{path: /etc/motd, content: {text}}}]}}"))
}

/// Fails while a file is where its directory has to be.
fn blocked(text: &str) -> String {
    motd(text) + &document("FilesConfig", "{files: [{path: /etc/blocked/file, content: free}]}")
}

#[test]
fn a_delivered_configuration_runs_without_a_flag_and_is_deleted_on_success() {
    let machine = Machine::new();
    machine.deliver(motd("delivered"));
    machine.succeeds(&[]);
    assert_eq!(machine.motd(), "delivered");
    assert!(machine.has(SUCCESS_KEPT) && !machine.has(DELIVERED) && !machine.has(CONFIGURATION));
    let nothing = machine.bootstrap(&[]);
    assert_eq!(nothing.code, Some(2), "{}", nothing.stderr);
    assert!(nothing.stderr.contains("/etc/machineadm/config.yaml does not exist"), "{}", nothing.stderr);
}

#[test]
fn a_flag_with_exactly_its_path_deletes_it_too_and_no_other_does() {
    let machine = Machine::new();
    machine.deliver(motd("delivered"));
    fs::copy(machine.at(DELIVERED), machine.at("/etc/machineadm/node.yaml")).expect("a copy");
    machine.succeeds(&["-f", "@/etc/machineadm/node.yaml"]);
    assert!(machine.has(DELIVERED), "it was not taken");
    machine.succeeds(&["-f", "@/etc/../etc/machineadm/config.yaml"]);
    assert!(machine.has(DELIVERED), "another path");
    machine.succeeds(&["-f", "@/etc/machineadm/config.yaml", "--mode", "prepare"]);
    machine.succeeds(&["-f", "@/etc/machineadm/config.yaml", "--mode", "post"]);
    assert!(machine.has(DELIVERED), "only mode provision is first boot");
    let more = document("SysctlConfig", "{parameters: {vm.swappiness: 10}}");
    fs::write(machine.at("/etc/machineadm/more.yaml"), more).expect("a file");
    machine.succeeds(&["-f", "@/etc/machineadm/more.yaml", "-f", "@/etc/machineadm/config.yaml"]);
    assert!(!machine.has(DELIVERED) && machine.has("/etc/machineadm/more.yaml"));
}

#[test]
fn a_failed_run_leaves_it_and_the_run_that_continues_deletes_it() {
    let compressed = |text: String| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(text.as_bytes()).expect("memory takes it");
        gzip.finish().expect("memory takes it")
    };
    for bytes in [blocked("first").into_bytes(), compressed(blocked("first"))] {
        let machine = Machine::new();
        machine.deliver(bytes);
        fs::write(machine.at("/etc/blocked"), "a file").expect("a file");
        let failed = machine.bootstrap(&[]);
        assert_eq!(failed.code, Some(1), "{}", failed.stderr);
        assert!(machine.has(DELIVERED) && machine.has(CONFIGURATION) && !machine.has(SUCCESS_KEPT));
        fs::remove_file(machine.at("/etc/blocked")).expect("it is there");
        let ran = machine.succeeds(&[]);
        assert!(!ran.stderr.contains("differs"), "{}", ran.stderr);
        assert!(!machine.has(DELIVERED) && !machine.has(CONFIGURATION));
    }
}

#[test]
fn an_interrupted_run_continues_before_what_is_delivered_later_which_stays() {
    let machine = Machine::new();
    machine.deliver(blocked("first"));
    fs::write(machine.at("/etc/blocked"), "a file").expect("a file");
    assert_eq!(machine.bootstrap(&[]).code, Some(1));
    machine.deliver(motd("second"));
    fs::remove_file(machine.at("/etc/blocked")).expect("it is there");
    let ran = machine.succeeds(&[]);
    assert_eq!(machine.motd(), "first");
    let warning = "config.yaml differs from";
    assert!(ran.stderr.contains("warning: ") && ran.stderr.contains(warning), "{}", ran.stderr);
    assert!(machine.has(DELIVERED), "no run took it");
    machine.succeeds(&[]);
    assert!(machine.motd() == "second" && !machine.has(DELIVERED));
}

#[test]
fn a_delivered_configuration_that_is_invalid_or_of_everybodys_is_refused_and_stays() {
    let machine = Machine::new();
    machine.deliver("kind: Nothing\n");
    assert_eq!(machine.bootstrap(&[]).code, Some(2));
    machine.deliver(motd("delivered"));
    fs::set_permissions(machine.at(DELIVERED), fs::Permissions::from_mode(0o666)).expect("a mode");
    let refused = machine.bootstrap(&[]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(machine.has(DELIVERED) && !machine.has(CONFIGURATION) && !machine.has("/etc/motd"), "{}", refused.stderr);
}
