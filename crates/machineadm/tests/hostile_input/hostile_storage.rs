//! Somebody else owns the storage: whatever it answers, the machine refuses it in its own words, within the limits, and
//! nothing is applied.
use crate::support::{
    attacked_machine::{AttackedMachine, FEW, whole},
    documents::document,
    scratch_machine::ScratchMachine,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use std::{
    io::{self, Write},
    time::Duration,
};
use testbed::fake::{Authority, FakeServer, answer};

const SEALED: &str = ", require: encrypted, allow: [localFiles]";

fn evil() -> String {
    document("CommandsConfig", "{commands: [{name: evil, argv: [/bin/true]}]}")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// A machine whose storage holds these documents, sealed with these options.
fn sealed(documents: &str, options: &[&str]) -> AttackedMachine {
    let sealer = ScratchMachine::new();
    let text = sealer.seal(documents, options);
    let machine = AttackedMachine::of_text(String::new());
    let text = text.replace(&sealer.uri("passphrase"), &machine.scratch.uri("passphrase"));
    AttackedMachine { server: FakeServer::start(move |_, tls| whole(tls, text.as_bytes())), ..machine }
}

#[test]
fn plain_commands_do_not_pass_for_sealed_ones() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of_text(evil());
    assert_eq!(machine.refuses(", require: encrypted", "must be an EncryptedConfig"), 1);
    let detour = AttackedMachine::of_pointing(|seen, tls, here| match seen.path() {
        "/a" => whole(tls, here.remote("/b", "").as_bytes()),
        _ => whole(tls, evil().as_bytes()),
    });
    assert_eq!(detour.refuses(", require: encrypted, allow: [loopback]", "must be an EncryptedConfig"), 1);
}

#[test]
fn an_old_sealed_file_is_not_replayed() {
    testbed::needs!(Judge("strace"));
    let over = sealed(&evil(), &["--not-after", "2020-01-01T00:00:00Z"]);
    assert_eq!(over.refuses(SEALED, "the encrypted documents have expired"), 1);
    let scope = document("ScopeConfig", "{issuedAt: '2020-01-01T00:00:00Z', maxAge: 24h}");
    let old = sealed(&[scope, evil()].concat(), &[]);
    assert_eq!(old.refuses(SEALED, "older than `maxAge`"), 1);
}

#[test]
fn a_file_for_another_machine_is_refused() {
    testbed::needs!(Judge("strace"));
    let other = sealed(&evil(), &["--for-hostname", "node-8"]);
    assert_eq!(other.refuses(SEALED, "for other machines, not for node-7"), 1);
}

#[test]
fn what_was_sealed_for_this_machine_and_now_is_taken() {
    let file = document("FilesConfig", "{files: [{path: /etc/motd, content: fetched}]}");
    let good = sealed(&file, &["--for-hostname", "node-7", "--valid-for", "1h"]);
    good.takes(&good.remote("/a", SEALED));
    assert_eq!(std::fs::read_to_string(good.scratch.root().join("etc/motd")).unwrap(), "fetched");
}

#[test]
fn another_file_than_the_named_one_is_refused() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of_text(evil());
    let more = format!(", sha256: '{}'", "0".repeat(64));
    assert_eq!(machine.refuses(&more, "does not match the fetched bytes"), 1);
}

#[test]
fn a_redirect_to_http_is_not_followed() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of(|seen, tls| {
        let to = seen.header("host").unwrap_or_default();
        answer(tls, "302 Found", &format!("Location: http://{to}/b?token=hunter2\r\n"), "")
    });
    assert_eq!(machine.refuses("", "which is not https"), 1);
}

/// The document lies on the machine and may name any address, but a redirect is the storage's word.
#[test]
fn a_redirect_to_a_special_address_is_not_followed_unless_the_document_allows_it() {
    testbed::needs!(Judge("strace"));
    for target in ["https://169.254.169.254/latest", "https://[fe80::1]/", "https://168.63.129.16/", "https://[::1]:1/"]
    {
        let machine =
            AttackedMachine::of(move |_, tls| answer(tls, "302 Found", &format!("Location: {target}\r\n"), ""));
        assert_eq!(machine.refuses("", "which this request may not reach"), 1, "{target}");
    }
    let there = FakeServer::start(|_, tls| whole(tls, evil().as_bytes()));
    let port = there.port();
    let machine = AttackedMachine::of(move |_, tls| {
        answer(tls, "307 Elsewhere", &format!("Location: https://127.0.0.1:{port}/\r\n"), "")
    });
    assert_eq!(machine.refuses("", "`allow: [loopback]`"), 1);
    assert_eq!(there.connections(), 0);
}

#[test]
fn a_circle_of_redirects_ends() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of(|_, tls| answer(tls, "302 Found", "Location: /a\r\n", ""));
    assert_eq!(machine.refuses("", "redirects once more after 5 redirects"), 6);
}

#[test]
fn an_endless_answer_is_cut_off() {
    testbed::needs!(Judge("strace"));
    for (headers, piece) in [("Transfer-Encoding: chunked\r\n", "4\r\nmore\r\n"), ("", "more")] {
        let machine = AttackedMachine::of(move |_, tls| {
            write!(tls, "HTTP/1.1 200 OK\r\n{headers}\r\n")?;
            loop {
                tls.write_all(piece.repeat(1000).as_bytes())?;
            }
        });
        assert_eq!(machine.refuses("", "is larger than 104"), 1);
    }
    let announced = AttackedMachine::of(|_, tls| write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"));
    assert_eq!(announced.refuses("", "is larger than 104"), 1);
}

#[test]
fn a_slow_answer_meets_the_deadline() {
    testbed::needs!(Judge("strace"));
    let meets = |head: &'static str| {
        let machine = AttackedMachine::of(move |_, tls| {
            tls.write_all(head.as_bytes())?;
            loop {
                tls.write_all(b"#")?;
                tls.flush()?;
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        assert_eq!(machine.gives_up(", timeout: 15s", "took longer than 15 s while "), 1);
    };
    std::thread::scope(|both| {
        both.spawn(|| meets("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n"));
        both.spawn(|| meets("HTTP/1.1 200 OK\r\nX: "));
    });
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again_and_then_given_up() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of(|_, tls| {
        write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n---\napiVersion: mach")?;
        tls.flush()?;
        Err(io::Error::other("the end"))
    });
    let asked =
        machine.gives_up(", timeout: 15s", "closed the connection before its answer was complete; gave up after");
    assert!(FEW.contains(&asked), "{asked}");
}

#[test]
fn a_server_that_is_not_well_is_given_up_and_one_that_says_no_is_believed() {
    testbed::needs!(Judge("strace"));
    let ill = AttackedMachine::of(|_, tls| answer(tls, "500 Ill", "", "hunter2"));
    let asked = ill.gives_up(", timeout: 15s", "status 500: server error; gave up after");
    assert!(FEW.contains(&asked), "{asked}");
    let later = AttackedMachine::of(|_, tls| answer(tls, "503 Later", "Retry-After: 86400\r\n", ""));
    assert_eq!(later.gives_up(", timeout: 1h", "status 503"), 1);
    for (status, why) in [("404 None", "not found"), ("403 No", "access denied"), ("204 Empty", "status 204")] {
        let machine = AttackedMachine::of(move |_, tls| answer(tls, status, "", ""));
        assert_eq!(machine.gives_up("", why), 1);
    }
}

#[test]
fn only_the_named_authority_vouches_for_the_storage() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of_text(evil());
    let wrong = machine.remote("/a", "").replace(
        &serde_json::Value::from(machine.server.authority().pem()).to_string(),
        &serde_json::Value::from(Authority::new().pem()).to_string(),
    );
    assert_eq!(machine.gives_up_all(&wrong, "signed by an unknown authority"), 0);
}

#[test]
fn a_chain_of_10000_references_ends_after_8() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of_pointing(|seen, tls, here| {
        let number: usize = seen.path()[2..].parse().unwrap_or(0);
        assert!(number < 10_000);
        whole(tls, here.remote(&format!("/a{}", number + 1), ", allow: [loopback]").as_bytes())
    });
    assert_eq!(machine.refuses(", allow: [loopback]", "more than 8 nested configurations"), 8);
}

#[test]
fn a_tree_of_references_ends_after_64_fetches() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of_pointing(|seen, tls, here| {
        let leaf = document("KernelModulesConfig", "{modules: [a]}");
        let next = |number| here.remote(&format!("{}-{number}", seen.path()), ", allow: [loopback]");
        let text = if seen.path().matches('-').count() < 2 { (0..20).map(next).collect() } else { leaf };
        whole(tls, text.as_bytes())
    });
    assert_eq!(machine.refuses(", allow: [loopback]", "the limit of 64 fetches"), 64);
}

#[test]
fn many_references_beside_each_other_end() {
    testbed::needs!(Judge("strace"));
    let one = |number: usize| document("RemoteConfig", &format!("{{provider: file, uri: 'file:///{number}'}}"));
    let many = |count: usize| AttackedMachine::of_text((0..count).map(one).collect::<String>());
    assert_eq!(many(10_000).refuses(", allow: [localFiles]", "is larger than 104"), 1);
    assert_eq!(many(1000).refuses(", allow: [localFiles]", "more than 256 documents"), 1);
    let leaf = AttackedMachine::of_text(document("KernelModulesConfig", "{modules: [a]}"));
    let local: String = (0..100).map(|number| leaf.remote(&format!("/{number}"), "")).collect();
    assert_eq!(leaf.refuses_all(&local, "the limit of 64 fetches"), 64);
}

/// Whoever owns the storage could otherwise keep the machine waiting for 64 hours.
#[test]
fn what_was_fetched_takes_no_more_time_than_the_local_document_gives() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of_pointing(|seen, tls, here| match seen.path() {
        "/a" => whole(tls, here.remote("/b", ", timeout: 1h").as_bytes()),
        _ => answer(tls, "503 Later", "", ""),
    });
    let asked = machine.gives_up(", allow: [loopback], timeout: 15s", "status 503: server error");
    assert!(FEW.contains(&asked), "{asked}");
}

#[test]
fn a_circle_of_references_is_seen() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of_pointing(|seen, tls, here| {
        let next = if seen.path() == "/a" { "/b" } else { "/a" };
        whole(tls, here.remote(next, ", allow: [loopback]").as_bytes())
    });
    assert_eq!(machine.refuses(", allow: [loopback]", "endless recursion"), 2);
}

#[test]
fn bombs_are_not_unpacked() {
    testbed::needs!(Judge("strace"));
    let bomb = gzip(&vec![b'#'; 64 << 20]);
    assert_eq!(AttackedMachine::of_text(bomb.clone()).refuses("", "more than 1024 KiB of configuration"), 1);
    assert_eq!(AttackedMachine::of_text(gzip(&vec![b'#'; 900 << 10])).refuses("", "compression ratio too high"), 1);
    let file = |bytes: &[u8]| {
        let content = BASE64_STANDARD.encode(bytes);
        document("FilesConfig", &format!("{{files: [{{path: /etc/a, encoding: gzip+base64, content: {content}}}]}}"))
    };
    // Gzip in base64 in a document, and that in gzip again.
    assert_eq!(AttackedMachine::of_text(file(&bomb)).refuses("", "spec.files[0].content"), 1);
    assert_eq!(AttackedMachine::of_text(gzip(file(&bomb).as_bytes())).refuses("", "compression ratio too high"), 1);
    let large: Vec<u8> = (0..3_000_000_u32).flat_map(|number| (number / 40).to_le_bytes()).collect();
    assert_eq!(AttackedMachine::of_text(file(&gzip(&large))).refuses("", "spec.files[0].content"), 1);
    let zipped = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", bomb.len());
    let encoded =
        AttackedMachine::of(move |_, tls| tls.write_all(zipped.as_bytes()).and_then(|()| tls.write_all(&bomb)));
    assert_eq!(encoded.refuses("", "has a Content-Encoding, which was not asked for"), 1);
}

#[test]
fn what_was_fetched_names_nothing_of_this_machine_unless_it_may() {
    testbed::needs!(Judge("strace"));
    let remote =
        |provider: &str, uri: &str| document("RemoteConfig", &format!("{{provider: {provider}, uri: '{uri}'}}"));
    for (text, why, right) in [
        (remote("file", "file:///etc/passwd"), "is not allowed to name local files", "allow: [localFiles]"),
        (
            remote("https", "https://127.0.0.1:1/"),
            "this machine itself, which this request may not",
            "allow: [loopback]",
        ),
        (
            remote("https", "https://localhost:1/"),
            "this machine itself, which this request may not",
            "allow: [loopback]",
        ),
        (remote("https", "https://169.254.169.254/"), "a link-local address", "allow: [linkLocal]"),
        (remote("https", "https://[fd00:ec2::254]/"), "a cloud's metadata address", "allow: [linkLocal]"),
    ] {
        assert_eq!(AttackedMachine::of_text(text.clone()).refuses("", why), 1);
        assert_eq!(AttackedMachine::of_text(text).refuses("", right), 1);
    }
    let scratch = ScratchMachine::new();
    let by_descriptor = scratch.seal(&evil(), &[]).replace(&scratch.uri("passphrase"), "fd:3");
    let by_descriptor = by_descriptor.replace("provider: \"file\"", "provider: descriptor");
    assert_eq!(AttackedMachine::of_text(by_descriptor).refuses("", "is not allowed to name descriptors"), 1);
    assert_eq!(sealed(&evil(), &[]).refuses("", "is not allowed to name local files"), 1);
}

/// The word after `allow` of a fetched document gives it nothing that its own RemoteConfig lacks.
#[test]
fn what_was_fetched_gives_itself_no_rights() {
    testbed::needs!(Judge("strace"));
    let machine = AttackedMachine::of_pointing(|_, tls, here| {
        whole(tls, here.remote("/b", ", allow: [localFiles, descriptors, loopback, linkLocal]").as_bytes())
    });
    assert_eq!(machine.refuses("", "this machine itself, which this request may not reach"), 1);
}

#[test]
fn a_plan_does_not_wait_for_a_storage_that_does_not_answer() {
    // It reads until the machine has gone.
    let machine = AttackedMachine::of(|_, tls| io::copy(tls, &mut io::sink()).map(drop));
    machine.scratch.write("node.yaml", &machine.remote("/a", ", timeout: 10m"));
    let plan = machine.scratch.run(&["plan", "-f", "@node.yaml"]);
    assert_eq!(plan.code, Some(1), "{}{}", plan.stdout, plan.stderr);
    assert!(plan.stderr.contains("took longer than 5 s"), "{}", plan.stderr);
}
