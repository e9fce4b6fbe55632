//! A whole run of a sealed configuration from elsewhere: neither the passphrase nor what was sealed is found on the wire,
//! on disk, in outputs, arguments, environments or core dumps, except where the configuration itself puts it.
use crate::support::{
    documents::document,
    paused_run::{HOLD, PausedRun, WITH_CORES, lay_out},
    run_output::RunOutput,
    scratch_machine::{PASSPHRASE, ScratchMachine},
    word_search::WordSearch,
};
use rustix::process::Signal;
use std::{
    fs,
    os::unix::process::ExitStatusExt,
    process::{Command, ExitStatus},
    sync::{Arc, OnceLock},
};
use testbed::fake::{Authority, FakeServer, Wiretap, answer};

const FILE: &str = "canary-of-a-file-0f5c";
const INNER: &str = "canary-of-an-inner-file-93d1";
const SCRIPT: &str = "canary-of-a-script-7ab2";
const VARIABLE: &str = "canary-of-a-variable-c64e";
const PASSWORD: &str = "canary-of-a-password-51f8";
const QUERY: &str = "canary-of-a-query-e07d";
const ALL: [&str; 7] = [PASSPHRASE, FILE, INNER, SCRIPT, VARIABLE, PASSWORD, QUERY];

/// A machine, a storage that is also the place of the passphrase, and the wire between them.
struct Watched {
    scratch: ScratchMachine,
    server: FakeServer,
    wire: Wiretap,
    search: WordSearch,
}

impl Watched {
    fn new() -> Self {
        let scratch = ScratchMachine::new();
        lay_out(&scratch.root());
        let authority = Arc::new(Authority::new());
        let sealed = Arc::new(OnceLock::<String>::new());
        let served = Arc::clone(&sealed);
        let server = FakeServer::of(Arc::clone(&authority), move |seen, tls| match seen.path() {
            "/sealed" => answer(tls, "200 OK", "", served.get().expect("it is sealed before anybody asks")),
            "/passphrase" => answer(tls, "200 OK", "", PASSPHRASE),
            _ => answer(tls, "200 OK", "", &file("/etc/inner", INNER)),
        });
        let wire = Wiretap::before(server.port());
        let watched = Self { scratch, server, wire, search: WordSearch::new(ALL) };
        sealed.set(watched.sealed()).expect("nobody else does");
        // From here on it is to be found nowhere.
        fs::remove_file(watched.scratch.path("passphrase")).expect("a file can be removed");
        let more = ", require: encrypted, allow: [loopback]";
        let more = format!("{more}, passphraseURIs: ['https://127.0.0.1:{}/passphrase']", watched.wire.port());
        let more = format!("{more}, passphraseCertificateAuthority: {}", watched.authority());
        watched.scratch.write("node.yaml", &watched.remote("", "/sealed", &more));
        watched
    }

    fn authority(&self) -> String {
        serde_json::Value::from(self.server.authority().pem()).to_string()
    }

    fn remote(&self, user: &str, path: &str, more: &str) -> String {
        let (port, authority) = (self.wire.port(), self.authority());
        let uri = format!("https://{user}127.0.0.1:{port}{path}");
        document("RemoteConfig", &format!("{{provider: https, uri: '{uri}', certificateAuthority: {authority}{more}}}"))
    }

    /// What the storage holds: a file, a script that prints its own secret, a variable, and a place with credentials.
    fn sealed(&self) -> String {
        let script = format!("echo {SCRIPT}; {HOLD}");
        let command = format!("{{name: paused, shell: '{script}', environment: {{WORD: {VARIABLE}}}}}");
        let commands = document("CommandsConfig", &format!("{{commands: [{command}]}}"));
        let inner = self.remote(&format!("user:{PASSWORD}@"), &format!("/inner?token={QUERY}"), "");
        let plain = [file("/etc/file", FILE), commands, inner].concat();
        let local = format!("passphraseURI: \"{}\"", self.scratch.uri("passphrase"));
        let there = format!("passphraseURI: 'https://127.0.0.1:{}/passphrase'", self.wire.port());
        let there = format!("{there}\n  certificateAuthority: {}", self.authority());
        let sealed = self.scratch.seal(&plain, &["--for-hostname", "node-7", "--valid-for", "1h"]);
        sealed.replace(&local, &there).replace("provider: \"file\"", "provider: https")
    }

    /// What a command or a run has printed holds no secret.
    fn said(&self, ran: &RunOutput) {
        for text in [&ran.stdout, &ran.stderr] {
            assert_eq!(self.search.found(text.as_bytes()), Vec::<&str>::new(), "{text}");
        }
    }

    /// Everything that this test has on disk: root, journal, outcome, kept configuration, plan, dumps. Secrets lie only
    /// in the files that the configuration asked for.
    fn search_disk(&self) {
        let asked = [("/etc/file", FILE), ("/etc/inner", INNER)].map(|(path, name)| (format!("/root{path}"), name));
        let found = self.search.found_below(self.scratch.path("").trim_end_matches('/').as_ref());
        let strays: Vec<_> = found.iter().filter(|found| !asked.contains(found)).collect();
        assert!(strays.is_empty(), "{strays:?}");
        // Where the kernel puts the dump of a process: its own directory, which is the root for commands.
        let [beside, inside] = [self.scratch.path("cores").into(), self.scratch.root()].map(fs::read_dir);
        let names = beside.into_iter().chain(inside).flatten().flatten().map(|entry| entry.file_name());
        let dumps: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("core")).collect();
        assert!(dumps.is_empty(), "{dumps:?}");
    }

    /// Arguments hold no secret; environments only the variable, and only those of the command and its guard.
    fn search_processes(&self, paused: &mut PausedRun) {
        let [main, guard, command] = paused.processes();
        for process in [main, guard, command] {
            let of = |what: &str| fs::read(format!("/proc/{process}/{what}")).expect("root reads of every process");
            assert!(!of("cmdline").is_empty() && !of("environ").is_empty());
            assert_eq!(self.search.found(&of("cmdline")), Vec::<&str>::new());
            let limits = String::from_utf8_lossy(&of("limits")).into_owned();
            let core = limits.lines().find_map(|line| line.strip_prefix("Max core file size"));
            assert_eq!(core.map(|core| core.split_whitespace().collect()), Some(vec!["1", "1", "bytes"]));
            let asked = if process == main { &[][..] } else { &[VARIABLE] };
            assert_eq!(self.search.found(&of("environ")), asked, "{process}");
        }
    }

    /// The wire has carried everything, and nothing to be read.
    fn search_wire(&self) {
        let [sent, answered] = self.wire.passed();
        let seen: Vec<String> = self.server.seen().iter().map(|seen| seen.path().to_owned()).collect();
        assert!(["/sealed", "/passphrase"].iter().all(|path| seen.iter().any(|seen| seen == path)), "{seen:?}");
        assert!(seen.iter().any(|path| path.contains(QUERY)), "{seen:?}");
        assert!(sent.len() > 1000 && answered.len() > 3000, "{} {}", sent.len(), answered.len());
        for bytes in [sent, answered] {
            assert_eq!(self.search.found(&bytes), Vec::<&str>::new());
        }
    }

    fn check(&self, (status, ran): (ExitStatus, RunOutput)) -> ExitStatus {
        self.said(&ran);
        self.search_disk();
        assert!(!status.core_dumped(), "machineadm was dumped");
        status
    }
}

fn file(path: &str, content: &str) -> String {
    document("FilesConfig", &format!("{{files: [{{path: {path}, content: {content}}}]}}"))
}

/// What the kernel writes for a process that is allowed to dump: whether that works here at all.
fn dumps_elsewhere(scratch: &ScratchMachine) -> bool {
    let mut command = Command::new("sh");
    command.args(["-c", WITH_CORES, "sh", &scratch.path("cores"), "sh", "-c", "kill -SEGV $$"]);
    command.status().expect("sh runs").core_dumped()
}

#[test]
fn the_search_finds_what_is_there() {
    let search = WordSearch::new(["hunter22", "other"]);
    for text in ["a hunter22 b", "68756e7465723232", "aHVudGVyMjI", "eGh1bnRlcjIyeA", "eHhodW50ZXIyMnh4"] {
        assert_eq!(search.found(text.as_bytes()), ["hunter22"], "{text}");
    }
    assert_eq!(search.found(b"hunter2"), Vec::<&str>::new());
}

#[test]
fn a_whole_run_leaves_no_passphrase_and_no_plaintext() {
    testbed::needs!(Root);
    let watched = Watched::new();
    let plan = |words: &[&str]| {
        let ran = watched.scratch.run(&[&["plan", "-f", "@node.yaml"], words].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        watched.said(&ran);
    };
    plan(&[]);
    plan(&["-o", "json", "--out", &watched.scratch.path("plan")]);
    let mut paused = PausedRun::start(&watched.scratch, &["bootstrap", "-f", &watched.scratch.path("node.yaml")]);
    watched.search_processes(&mut paused);
    watched.search_disk();
    watched.said(&watched.scratch.run(&["status"]));
    let status = watched.check(paused.go());
    assert_eq!(status.code(), Some(0));
    for (name, content) in [("etc/file", FILE), ("etc/inner", INNER)] {
        assert_eq!(fs::read_to_string(watched.scratch.root().join(name)).unwrap(), content);
    }
    for output in [&["status"][..], &["status", "-o", "json"], &["plan", "-f", "@node.yaml", "-o", "yaml"]] {
        watched.said(&watched.scratch.run(output));
    }
    watched.search_wire();
}

#[test]
fn a_run_that_is_refused_leaves_nothing_either() {
    let watched = Watched::new();
    fs::write(watched.scratch.root().join("etc/hostname"), "node-8\n").unwrap();
    let configuration = fs::read_to_string(watched.scratch.path("node.yaml")).unwrap();
    let ran = watched.scratch.bootstrap(&configuration);
    assert!(ran.code == Some(2) && ran.stderr.contains("for other machines, not for node-8"), "{ran:?}");
    watched.said(&ran);
    assert_eq!(watched.search.found_below(watched.scratch.path("").trim_end_matches('/').as_ref()), []);
}

#[test]
fn no_core_dump_can_be_forced_from_any_process_of_a_run() {
    testbed::needs!(Root);
    let control = ScratchMachine::new();
    fs::create_dir(control.path("cores")).unwrap();
    assert!(dumps_elsewhere(&control), "this test needs a system that dumps core: see /proc/sys/kernel/core_pattern");
    let watched = Watched::new();
    let first = ["bootstrap", "-f", &watched.scratch.path("node.yaml")].map(str::to_owned);
    let again = vec!["bootstrap".to_owned()];
    let runs = [first.to_vec(), again.clone(), again.clone(), again.clone()];
    // The command, its guard, and machineadm itself.
    for (words, (who, signal)) in
        runs.iter().zip([(2, Signal::SEGV), (1, Signal::SEGV), (0, Signal::ABORT), (0, Signal::SEGV)])
    {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut paused = PausedRun::start(&watched.scratch, &words);
        let process = paused.processes()[who];
        let status = watched.check(paused.end_by(process, signal));
        assert!(status.signal().is_some() == (who == 0) && !status.success(), "{who}: {status:?}");
        let kept = fs::read(watched.scratch.root().join("var/lib/machineadm/configuration.yaml")).unwrap();
        assert_eq!(kept, fs::read(watched.scratch.path("node.yaml")).unwrap(), "what is kept is what came");
    }
    assert_eq!(watched.check(PausedRun::start(&watched.scratch, &["bootstrap"]).go()).code(), Some(0));
}
