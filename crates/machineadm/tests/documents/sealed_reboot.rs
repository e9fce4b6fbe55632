//! A bootstrap that a reboot cuts short finds its sealed configuration again, still sealed, and finishes.
use crate::support::{
    documents::document,
    paused_run::{HOLD, PausedRun, lay_out},
    scratch_machine::{PASSPHRASE, ScratchMachine},
    word_search::WordSearch,
};
use rustix::process::Signal;
use std::{fs, time::Duration};
use testbed::{Bed, Machine, Profile, Result, until};

const SECRET: &str = "canary-of-a-file-0f5c";
const SCRIPT: &str = "canary-of-a-script-7ab2";
const KEPT: &str = "var/lib/machineadm/configuration.yaml";
const PROGRAM: &str = "/usr/bin/machineadm";
const PLACE: &str = "/etc/machineadm/passphrase";

/// A file, and a command that is paused.
fn plain(hold: &str) -> String {
    let file = |name: &str| {
        document("FilesConfig", &format!("{{files: [{{path: /etc/{name}, mode: '0600', content: {SECRET}}}]}}"))
    };
    let script = serde_json::Value::from(format!("# {SCRIPT}\n{hold}\n"));
    let commands = format!("{{commands: [{{name: paused, shell: {script}, creates: /etc/done}}]}}");
    [file("before"), document("CommandsConfig", &commands)].concat()
}

#[test]
fn a_killed_run_goes_on_with_what_was_kept_sealed() {
    testbed::needs!(Root);
    let scratch = ScratchMachine::new();
    lay_out(&scratch.root());
    let sealed = scratch.seal(&plain(&format!("{HOLD}; : > /etc/done")), &["--for-hostname", "node-7"]);
    scratch.write("node.yaml", &sealed);
    let mut first = PausedRun::start(&scratch, &["bootstrap", "-f", &scratch.path("node.yaml")]);
    let [main, ..] = first.processes();
    let (status, _) = first.end_by(main, Signal::KILL);
    assert_eq!(status.code(), None);
    // As a reboot does: the given file and the runtime directory are gone.
    fs::remove_file(scratch.path("node.yaml")).unwrap();
    fs::remove_dir_all(scratch.root().join("run")).unwrap();
    let kept = fs::read_to_string(scratch.root().join(KEPT)).unwrap();
    assert_eq!(kept, sealed);
    let search = WordSearch::new([SECRET, SCRIPT, PASSPHRASE]);
    assert_eq!(search.found_below(&scratch.root()), [("/etc/before".to_owned(), SECRET)]);
    let (status, ran) = PausedRun::start(&scratch, &["bootstrap"]).go();
    assert_eq!(status.code(), Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(scratch.root().join("etc/done").exists() && !scratch.root().join(KEPT).exists());
    assert_eq!(scratch.bootstrap(&sealed).code, Some(0), "nothing is left to do");
    assert_eq!(scratch.run(&["bootstrap"]).code, Some(2), "nothing is left to go on with");
}

/// Runs machineadm in a unit of its own, as boot tools do; what it says goes to the journal.
fn start(machine: &Machine, unit: &str, words: &str) -> Result<()> {
    machine.shell(&format!("systemd-run --unit={unit} --collect {PROGRAM} {words}")).map(drop)
}

fn awaited(machine: &Machine, what: &str, script: &str) -> Result<String> {
    until(what, Duration::from_secs(120), || machine.shell(script).map_err(|error| error.to_string()))
}

/// Neither the journal of all boots nor the machine's own files tell a secret, except where it belongs.
fn search(machine: &Machine) -> Result<()> {
    machine.shell("journalctl --sync")?;
    let journal = machine.check(&["journalctl", "--no-pager", "-o", "export"])?;
    assert!(journal.contains("machineadm"), "the journal tells of the run");
    assert_eq!(WordSearch::new([SECRET, SCRIPT, PASSPHRASE]).found(journal.as_bytes()), Vec::<&str>::new());
    for (word, place) in [(SECRET, "/etc/before"), (SCRIPT, ""), (PASSPHRASE, PLACE)] {
        // Some files end while they are searched; a search that sees nothing at all misses the places that have it.
        let found = machine.shell(&format!("grep -rlsF -- '{word}' /etc /var /run /tmp /root /srv || true"))?;
        assert_eq!(found.trim(), place, "{word}");
    }
    Ok(())
}

#[test]
fn a_machine_that_loses_its_power_finishes_after_its_reboot() -> Result<()> {
    testbed::needs!(Machines);
    let scratch = ScratchMachine::new();
    let hold = "if test -e /srv/go; then : > /etc/done; else : > /run/ready; sleep infinity; fi";
    let sealed = scratch.seal(&plain(hold), &["--for-hostname", "node-7", "--valid-for", "1h"]);
    let sealed = sealed.replace(&scratch.uri("passphrase"), &format!("file://{PLACE}"));
    let bed = Bed::new()?;
    let machine = bed.machine("node-7", &Profile::default())?;
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    machine.boot()?;
    machine.write(PLACE, PASSPHRASE, 0o600)?;
    machine.write("/run/machineadm/config.yaml", &sealed, 0o600)?;
    start(&machine, "first", "--bootstrap --path /run/machineadm/config.yaml")?;
    awaited(&machine, "the command", "test -e /run/ready")?;
    search(&machine)?;
    let boot = || machine.shell("cat /proc/sys/kernel/random/boot_id");
    let before = boot()?;
    machine.kill()?;
    machine.boot()?;
    assert_ne!(boot()?, before, "it is another boot");
    assert_ne!(machine.run(&["test", "-e", "/run/machineadm/config.yaml"])?.code, 0, "a reboot takes it away");
    assert!(machine.check(&[PROGRAM, "status"]).is_err(), "a run that was cut short is no success");
    assert_eq!(machine.read(&format!("/{KEPT}"))?, sealed);
    machine.shell(": > /srv/go")?;
    start(&machine, "second", "bootstrap")?;
    awaited(&machine, "success", "test -e /run/cluster-api/bootstrap-success.complete")?;
    awaited(&machine, "the end", "! test -e /var/lib/machineadm/configuration.yaml")?;
    machine.shell("test -e /etc/done")?;
    let status = machine.check(&[PROGRAM, "status"])?;
    assert!(status.starts_with("node-7  SUCCEEDED"), "{status}");
    search(&machine)?;
    bed.down()
}
