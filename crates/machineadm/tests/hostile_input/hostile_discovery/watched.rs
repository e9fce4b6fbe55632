//! Runs of `machineadm discover` whose words, files and traffic are searched.
use super::stage::{Cluster, PASSWORD, SECRET, Stage, TOKEN};
use crate::support::partial_run::{PartialRun, run_until};
use base64::{Engine, prelude::BASE64_STANDARD};
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A machine: a folder that `--root` names.
pub(crate) struct Machine(tempfile::TempDir);

impl Machine {
    pub(crate) fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir(scratch.path().join("etc")).unwrap();
        Self(scratch)
    }

    pub(crate) fn discover(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
        command.arg("--root").arg(self.0.path()).arg("discover").args(words);
        command
    }

    /// What it keeps of a cluster.
    pub(crate) fn kept(&self) -> Option<Vec<u8>> {
        std::fs::read(self.0.path().join("var/lib/machineadm/cluster-info.json")).ok()
    }

    /// A file on it.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let file = self.0.path().join("etc").join(name);
        std::fs::write(&file, content).unwrap();
        file
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// How long somebody is asked who is not to be trusted in the end, whatever the reason.
pub(crate) const SHORT: &str = "2s";

/// How long somebody is asked whose answer is what the test is about: it comes in time on a busy machine too.
pub(crate) const ANSWERED: &str = "5s";

/// A run by token with a pin, which would keep what it finds.
pub(crate) fn by_token(machine: &Machine, cluster: &Cluster, timeout: &str) -> Command {
    let (place, pin) = (cluster.tap.place(), cluster.pin());
    let words = [&place[..], "--token", TOKEN, "--discovery-token-ca-cert-hash", &pin, "--store"];
    machine.discover(&[&words[..], &["--timeout", timeout]].concat())
}

/// The line in which a run says this, without what differs from run to run. It is asked until it does.
pub(crate) fn told(name: &str, command: &mut Command, says: &str) -> String {
    let has_it = |line: &str| masked(line).contains(says);
    let PartialRun { said, printed, code } = run_until(command, |said| said.lines().any(has_it));
    harmless(name, &said, &printed);
    assert!(matches!(code, None | Some(1)), "{name}: {said}");
    let line = said.lines().find(|line| has_it(line)).unwrap_or_else(|| panic!("{name}: {says} is not in {said}"));
    masked(line)
}

/// It prints nothing, says nothing secret, and nothing that a terminal would obey.
fn harmless(name: &str, said: &str, printed: &[u8]) {
    assert!(printed.is_empty(), "{name}: {}", String::from_utf8_lossy(printed));
    for secret in [TOKEN, SECRET, PASSWORD] {
        assert!(!said.contains(secret), "{name}: {said}");
    }
    assert!(!said.chars().any(|letter| letter.is_control() && letter != '\n'), "{name}: {said:?}");
}

/// The refusal of a run that must refuse, without what differs from run to run.
pub(crate) fn refusal(name: &str, output: &Output) -> String {
    said(name, output, 1)
}

/// The same of a run that finds its input wrong.
pub(crate) fn wrong_input(name: &str, output: &Output) -> String {
    said(name, output, 2)
}

fn said(name: &str, output: &Output, exit: i32) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(exit), "{name}: {complaint}");
    harmless(name, &complaint, &output.stdout);
    let (_, error) = complaint.split_once("error: ").unwrap_or_else(|| panic!("{name}: {complaint}"));
    let said = match error.strip_prefix("cannot discover the cluster from ") {
        Some(attempt) => attempt.split_once(": ").unwrap_or_else(|| panic!("{name}: {complaint}")).1,
        None => error,
    };
    masked(said.lines().next().unwrap_or_default())
}

/// The same words for every port and every key.
fn masked(text: &str) -> String {
    let number = |rest: &str| rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    let masked = parts.fold(first, |text, rest| format!("{text}SERVER{}", &rest[number(rest)..]));
    let mut parts = masked.split("sha256:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, rest| format!("{text}KEY{}", rest.get(64..).unwrap_or_default()))
}

/// Nothing secret went over the wire, neither in clear nor to whom the connection was encrypted for, nobody was asked
/// anything but for cluster-info, and nobody came where nobody may.
pub(crate) fn nothing_was_told(name: &str, cluster: &Cluster, stage: &Stage) {
    searched(name, &cluster.tap.passed().concat());
    for seen in stage.servers.iter().flat_map(testbed::fake::FakeServer::seen) {
        searched(name, &[seen.head.as_bytes(), &seen.body].concat());
        assert!(!seen.identified && seen.body.is_empty(), "{name}: {seen:?}");
        assert!(seen.head.starts_with("GET "), "{name}: {seen:?}");
    }
    assert!(!stage.is_trespassed(), "{name}: somebody came where nobody may");
}

fn searched(name: &str, bytes: &[u8]) {
    let base64 = [TOKEN, SECRET].map(|secret| BASE64_STANDARD.encode(secret));
    let lower = bytes.to_ascii_lowercase();
    for secret in [TOKEN, SECRET, PASSWORD, "authorization", "bearer", "cookie"] {
        assert!(!has(&lower, secret), "{name}: {secret} was sent");
    }
    for secret in base64 {
        assert!(!has(bytes, secret.trim_end_matches('=')), "{name}: {secret} was sent");
    }
}

#[test]
fn the_search_finds_a_secret_in_every_form() {
    let basic = format!("x {} x", BASE64_STANDARD.encode(SECRET));
    for sent in [TOKEN, SECRET, "aUTHORIZATION: x", "bearer", &basic, &PASSWORD.to_uppercase()] {
        let found = std::panic::catch_unwind(|| searched("a test of the search", sent.as_bytes()));
        assert!(found.is_err(), "{sent} was not found");
    }
    searched("a test of the search", b"GET / HTTP/1.1\r\nAccept: application/json\r\n\r\n");
}

pub(crate) fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Does the same to each of these, some at a time: they mostly wait. The results keep their order.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                while let Some((number, item)) = items.iter().enumerate().nth(next.fetch_add(1, Ordering::SeqCst)) {
                    let result = act(item);
                    done.lock().unwrap().push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Every refusal has its own words, except where a row says which other it is like.
pub(crate) fn told_apart(rows: &[(&str, Option<&str>, String)]) {
    // How much time is left depends on how busy the machine is.
    let words =
        |said: &str| said.lines().filter_map(|line| line.split(", gives up in ").next()).collect::<Vec<_>>().join("\n");
    for (index, (name, like, said)) in rows.iter().enumerate() {
        let is_alike = |other: &str| words(other) == words(said);
        let own = rows[..index].iter().find(|(_, other, other_said)| other.is_none() && is_alike(other_said));
        match like {
            None => assert!(own.is_none(), "{name} and {:?} are told in the same words: {said}", own.map(|own| own.0)),
            Some(like) => assert_eq!(own.map(|own| own.0), Some(*like), "{name}: {said}"),
        }
    }
}
