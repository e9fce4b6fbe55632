//! Programs that the real program downloads below a root: from servers that are honest, slow, broken or elsewhere.
use crate::support::{documents::document, scratch_machine::ScratchMachine};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    fs,
    io::Write,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use testbed::fake::{Authority, FakeServer, answer};

const PROGRAM: &str = "#!/bin/sh\necho kubeadm\n";
const QUERY: &str = "signature=canarysignature77";

fn sum(bytes: &[u8]) -> String {
    objects::hex::encode(&Sha256::digest(bytes))
}

fn kubeadm_from(server: &FakeServer, more: &str) -> String {
    let pem = server.authority().pem().replace('\n', "\\n");
    let (uri, sum) = (server.url(&format!("/kubeadm?{QUERY}")), sum(PROGRAM.as_bytes()));
    document(
        "ProgramsConfig",
        &format!("{{certificateAuthority: \"{pem}\", programs: {{kubeadm: {{uri: '{uri}', sha256: '{sum}'}}}}{more}}}"),
    )
}

const LOOPBACK: &str = ", allow: [loopback]";

fn installed(scratch: &ScratchMachine) -> Option<(String, u32)> {
    let path = scratch.root().join("opt/bin/kubeadm");
    Some((fs::read_to_string(&path).ok()?, fs::metadata(&path).ok()?.mode() & 0o7777))
}

fn drafts(scratch: &ScratchMachine) -> Vec<PathBuf> {
    let directory = fs::read_dir(scratch.root().join("var/lib/machineadm/downloads"));
    directory.into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn a_program_is_downloaded_with_its_query_which_is_shown_nowhere() {
    testbed::needs!(Root);
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", PROGRAM));
    let scratch = ScratchMachine::new();
    let ran = scratch.bootstrap(&kubeadm_from(&server, LOOPBACK));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(installed(&scratch), Some((PROGRAM.to_owned(), 0o755)));
    assert_eq!(server.seen()[0].path(), format!("/kubeadm?{QUERY}"));
    assert!(drafts(&scratch).is_empty());
    let plan = scratch.run(&["plan", "-f", "@node.yaml", "--exit-code"]);
    assert_eq!(plan.code, Some(0), "{plan:?}");
    let journal = fs::read_to_string(scratch.root().join("var/lib/machineadm/journal.json")).expect("a journal");
    for text in [&ran.stdout, &ran.stderr, &plan.stdout, &journal] {
        assert!(!text.contains("canary"), "{text}");
    }
}

#[test]
fn programs_are_not_installed_where_other_users_could_exchange_them() {
    testbed::needs!(Root);
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", PROGRAM));
    for (owner, mode, problem) in [(1000, 0o755, "is owned by another user"), (0, 0o777, "can be written by everybody")]
    {
        let scratch = ScratchMachine::new();
        let directory = scratch.root().join("opt/bin");
        fs::create_dir_all(&directory).expect("a directory");
        std::os::unix::fs::chown(&directory, Some(owner), None).expect("an owner");
        scratch.chmod("root/opt/bin", mode);
        let ran = scratch.bootstrap(&kubeadm_from(&server, LOOPBACK));
        assert_eq!((ran.code, installed(&scratch)), (Some(1), None), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("/opt/bin {problem}")), "{}", ran.stderr);
        assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 0);
        // A group of the distribution's is no reason, and what was downloaded is there.
        std::os::unix::fs::chown(&directory, Some(0), Some(50)).expect("an owner");
        scratch.chmod("root/opt/bin", 0o775);
        let asked = server.seen().len();
        assert_eq!(scratch.bootstrap(&kubeadm_from(&server, LOOPBACK)).code, Some(0));
        assert_eq!((installed(&scratch), server.seen().len()), (Some((PROGRAM.to_owned(), 0o755)), asked));
    }
}

#[test]
fn the_location_in_an_encrypted_document_is_shown_in_no_plan() {
    testbed::needs!(Root);
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", PROGRAM));
    let scratch = ScratchMachine::new();
    scratch.write("node.yaml", &scratch.seal(&kubeadm_from(&server, LOOPBACK), &[]));
    let plan = scratch.run(&["plan", "-f", "@node.yaml"]);
    assert!(plan.stdout.contains("from the location in the encrypted document"), "{plan:?}");
    assert!(!plan.stdout.contains("127.0.0.1"), "{plan:?}");
    assert_eq!(scratch.run(&["bootstrap", "-f", "@node.yaml"]).code, Some(0));
    assert_eq!(installed(&scratch), Some((PROGRAM.to_owned(), 0o755)));
}

#[test]
fn an_unavailable_server_is_asked_again_and_one_that_says_no_is_believed() {
    testbed::needs!(Root);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let server = FakeServer::start(move |_, tls| match count.fetch_add(1, Ordering::SeqCst) {
        0 => answer(tls, "503 Busy", "", "later"),
        _ => answer(tls, "200 OK", "", PROGRAM),
    });
    let scratch = ScratchMachine::new();
    let ran = scratch.bootstrap(&kubeadm_from(&server, LOOPBACK));
    assert_eq!((ran.code, asked.load(Ordering::SeqCst)), (Some(0), 2), "{}", ran.stderr);
    assert!(ran.stderr.contains("the server returned 503; retrying"), "{}", ran.stderr);
    let missing = FakeServer::start(|_, tls| answer(tls, "404 Not Found", "", "no"));
    let scratch = ScratchMachine::new();
    let ran = scratch.bootstrap(&kubeadm_from(&missing, LOOPBACK));
    assert_eq!((ran.code, missing.seen().len()), (Some(1), 1), "{}", ran.stderr);
    let why = format!("cannot be downloaded from {}: the server returned 404", missing.url("/kubeadm"));
    assert!(ran.stderr.contains(&why), "{}", ran.stderr);
}

#[test]
fn a_broken_connection_is_resumed_within_a_run_and_a_server_without_parts_starts_anew() {
    testbed::needs!(Root);
    for has_parts in [true, false] {
        let half = PROGRAM.len() / 2;
        let server = FakeServer::start(move |seen, tls| match seen.header("range") {
            None => {
                write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", PROGRAM.len(), &PROGRAM[..half])?;
                tls.flush()?;
                Err(std::io::Error::other("the connection breaks"))
            }
            Some(range) if has_parts => {
                let first: usize = range["bytes=".len()..range.len() - 1].parse().expect("a number");
                let part = format!("Content-Range: bytes {first}-{}/{}\r\n", PROGRAM.len() - 1, PROGRAM.len());
                answer(tls, "206 Partial Content", &part, &PROGRAM[first..])
            }
            Some(_) => answer(tls, "200 OK", "", PROGRAM),
        });
        let scratch = ScratchMachine::new();
        let ran = scratch.bootstrap(&kubeadm_from(&server, LOOPBACK));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(server.seen()[1].header("range"), Some(format!("bytes={half}-").as_str()));
        assert_eq!(installed(&scratch), Some((PROGRAM.to_owned(), 0o755)), "parts: {has_parts}");
    }
}

#[test]
fn a_draft_that_is_longer_than_the_file_is_downloaded_anew() {
    testbed::needs!(Root);
    let server = FakeServer::start(|seen, tls| match seen.header("range") {
        Some(_) => answer(tls, "416 Range Not Satisfiable", "Content-Range: bytes */5\r\n", ""),
        None => answer(tls, "200 OK", "", PROGRAM),
    });
    let scratch = ScratchMachine::new();
    let directory = scratch.root().join("var/lib/machineadm/downloads");
    fs::create_dir_all(&directory).expect("a directory");
    fs::write(directory.join(sum(PROGRAM.as_bytes())), PROGRAM.repeat(3)).expect("a draft");
    let ran = scratch.bootstrap(&kubeadm_from(&server, LOOPBACK));
    assert_eq!((ran.code, server.seen().len()), (Some(0), 2), "{}", ran.stderr);
    assert_eq!(installed(&scratch), Some((PROGRAM.to_owned(), 0o755)));
}

#[test]
fn another_file_is_refused_with_both_digests_and_nothing_of_it_is_left() {
    testbed::needs!(Root);
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", "another file"));
    let scratch = ScratchMachine::new();
    let ran = scratch.bootstrap(&kubeadm_from(&server, LOOPBACK));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for digest in [sum(b"another file"), sum(PROGRAM.as_bytes())] {
        assert!(ran.stderr.contains(&digest), "{}", ran.stderr);
    }
    assert!(installed(&scratch).is_none() && drafts(&scratch).is_empty());
    assert!(!scratch.root().join("opt/bin").exists(), "not even a directory");
}

#[test]
fn loopback_is_reached_only_if_the_document_and_what_fetched_it_allow_it() {
    testbed::needs!(Root);
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", PROGRAM));
    let scratch = ScratchMachine::new();
    let ran = scratch.bootstrap(&kubeadm_from(&server, ""));
    assert_eq!((ran.code, server.seen().len()), (Some(1), 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("the ProgramsConfig can allow it: `allow: [loopback]`"), "{}", ran.stderr);
    scratch.write("programs.yaml", &kubeadm_from(&server, LOOPBACK));
    let remote = |more: &str| {
        document("RemoteConfig", &format!("{{provider: file, uri: '{}'{more}}}", scratch.uri("programs.yaml")))
    };
    let ran = scratch.bootstrap(&remote(""));
    assert_eq!((ran.code, server.seen().len()), (Some(2), 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("not allowed to name loopback addresses"), "{}", ran.stderr);
    scratch.write("local.yaml", &document("ProgramsConfig", "{images: {directory: /srv/images}}"));
    let local = document("RemoteConfig", &format!("{{provider: file, uri: '{}'}}", scratch.uri("local.yaml")));
    let ran = scratch.bootstrap(&local);
    assert!(ran.stderr.contains("not allowed to name local files"), "{}", ran.stderr);
    let ran = scratch.bootstrap(&remote(LOOPBACK));
    assert_eq!((ran.code, server.seen().len()), (Some(0), 1), "{}", ran.stderr);
}

#[test]
fn a_server_of_another_ca_is_not_trusted() {
    testbed::needs!(Root);
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", PROGRAM));
    let scratch = ScratchMachine::new();
    let [own, other] = [server.authority(), &Authority::new()].map(|authority| authority.pem().replace('\n', "\\n"));
    let ran = scratch.bootstrap(&kubeadm_from(&server, LOOPBACK).replace(&own, &other));
    assert_eq!((ran.code, server.seen().len()), (Some(1), 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("is not trusted"), "{}", ran.stderr);
    assert!(installed(&scratch).is_none());
}

/// The report says how far a download has come, while it goes on.
#[test]
fn a_report_during_a_download_says_how_much_is_there() {
    testbed::needs!(Root);
    let scratch = ScratchMachine::new();
    let report = scratch.root().join("run/machineadm/report.json");
    let read = move || -> Option<Value> { serde_json::from_slice(&fs::read(&report).ok()?).ok() };
    let transfer = Arc::new(std::sync::Mutex::new(Value::Null));
    let seen = Arc::clone(&transfer);
    let server = FakeServer::start(move |_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", PROGRAM.len())?;
        // Byte by byte until the report has something of it.
        for byte in PROGRAM.bytes() {
            tls.write_all(&[byte])?;
            tls.flush()?;
            let mut seen = seen.lock().expect("a lock");
            if seen.is_null() {
                std::thread::sleep(Duration::from_millis(200));
                *seen = read().map(|report| report["transfer"].clone()).unwrap_or_default();
            }
        }
        Ok(())
    });
    let ran = scratch.bootstrap(&kubeadm_from(&server, LOOPBACK));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let transfer = transfer.lock().expect("a lock").clone();
    assert_eq!(transfer["total"], PROGRAM.len(), "{transfer}");
    assert!(transfer["received"].as_u64().is_some_and(|received| received > 0), "{transfer}");
}
