//! Documents and passphrases over https: trusted only as told, tried again while that helps, refused by address.
use crate::support::{
    documents::document,
    fake_storage::FakeStorage,
    run_output::RunOutput,
    scratch_machine::{PASSPHRASE, ScratchMachine},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
};
use testbed::fake::{FakeServer, Seen, Tls, answer};

fn motd(text: &str) -> String {
    document("FilesConfig", &format!("{{files: [{{path: /etc/motd, content: {text}}}]}}"))
}

fn remote(storage: &FakeStorage, path: &str, more: &str) -> String {
    let (uri, authority) = (storage.uri(path), storage.authority());
    document("RemoteConfig", &format!("{{provider: https, uri: '{uri}', certificateAuthority: {authority}{more}}}"))
}

fn done(ran: &RunOutput) {
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

fn refused(ran: &RunOutput, why: &str) {
    ended(ran, 2, why);
}

/// The input may be right, but what it names can't be had.
fn given_up(ran: &RunOutput, why: &str) {
    ended(ran, 1, why);
    assert!(ran.stderr.contains("FAILED at configuration"), "{}", ran.stderr);
}

fn ended(ran: &RunOutput, code: i32, why: &str) {
    assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
}

/// The sealed text, to be opened with a passphrase from the storage.
fn sealed(scratch: &ScratchMachine, storage: &FakeStorage, text: &str) -> String {
    let local = format!("passphraseURI: \"{}\"", scratch.uri("passphrase"));
    let there =
        format!("passphraseURI: \"{}\"\n  certificateAuthority: {}", storage.uri("/p?q=1"), storage.authority());
    let sealed = scratch.seal(text, &[]).replace(&local, &there);
    sealed.replace("provider: \"file\"", "provider: \"https\"")
}

#[test]
fn documents_and_their_passphrase_are_fetched() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/p", &[(200, &format!("{PASSPHRASE}\n"))]);
    storage.put("/a", &[(200, &sealed(&scratch, &storage, &motd("fetched")))]);
    let more = format!(
        ", require: encrypted, allow: [loopback], passphraseURIs: ['{}'], passphraseCertificateAuthority: {}",
        storage.uri("/p?q=1"),
        storage.authority()
    );
    let ran = scratch.bootstrap(&remote(&storage, "/a", &more));
    done(&ran);
    assert_eq!(fs::read_to_string(scratch.root().join("etc/motd")).unwrap(), "fetched");
    assert!(!ran.stderr.contains("q=1"), "{}", ran.stderr);
}

/// Access to the location of the passphrase is what keeps others from the documents, which anyone may have.
#[test]
fn a_passphrase_that_only_this_machine_can_access_is_fetched_with_its_credentials() {
    let guard = |seen: &Seen, tls: &mut Tls| match seen.header("authorization") {
        Some(given) if given == format!("Basic {}", BASE64_STANDARD.encode("node-7:s3cret")) => {
            answer(tls, "200 OK", "", PASSPHRASE)
        }
        Some(_) => answer(tls, "403 Forbidden", "", PASSPHRASE),
        None => answer(tls, "401 Unauthorized", "", PASSPHRASE),
    };
    let (vault, scratch) = (FakeServer::start(guard), ScratchMachine::new());
    let authority = format!("\"{}\"", vault.authority().pem().replace('\n', "\\n"));
    let sealed = scratch.seal(&motd("hush"), &[]);
    let local = format!("provider: \"file\"\n  passphraseURI: \"{}\"", scratch.uri("passphrase"));
    assert!(sealed.contains(&local), "{sealed}");
    let with = |credentials: &str| {
        let uri = vault.url("/node-7").replace("https://", &format!("https://{credentials}"));
        let there = format!("provider: https\n  passphraseURI: \"{uri}\"\n  certificateAuthority: {authority}");
        scratch.bootstrap(&sealed.replace(&local, &there))
    };
    for (others, status) in [("", "401"), ("node-8:s3cret@", "403"), ("node-7:guessed@", "403")] {
        let ran = with(others);
        given_up(&ran, &format!("answered with status {status}"));
        assert!(!ran.stderr.contains("s3cret") && !ran.stderr.contains("guessed"), "{}", ran.stderr);
        assert!(!scratch.root().join("etc/motd").exists(), "{others} is not this machine");
    }
    let ran = with("node-7:s3cret@");
    done(&ran);
    assert!(!ran.stderr.contains("s3cret") && !ran.stdout.contains("s3cret"), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(fs::read_to_string(scratch.root().join("etc/motd")).unwrap(), "hush");
}

/// The userdata of AWS and Azure ends at 64 KiB, and certificates and the like do not compress.
#[test]
fn a_configuration_larger_than_userdata_is_fetched_from_storage() {
    const USERDATA: usize = 64 << 10;
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    let content = incompressible(100_000);
    let spec = "{files: [{path: /etc/large, encoding: base64, content: CONTENT}]}";
    let large = document("FilesConfig", &spec.replace("CONTENT", &BASE64_STANDARD.encode(&content)));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(large.as_bytes()).unwrap();
    assert!(gzip.finish().unwrap().len() > USERDATA, "it would fit");
    storage.put("/a", &[(200, &large)]);
    let userdata = remote(&storage, "/a", "");
    assert!(userdata.len() < USERDATA / 16, "{} bytes", userdata.len());
    done(&scratch.bootstrap(&userdata));
    assert_eq!(fs::read(scratch.root().join("etc/large")).unwrap(), content);
}

/// Bytes that do not compress, the same each time: Marsaglia's xorshift.
fn incompressible(length: usize) -> Vec<u8> {
    let next = |mut state: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^ state << 5
    };
    std::iter::successors(Some(1), |state| Some(next(*state)))
        .map(|state: u32| state.to_le_bytes()[1])
        .take(length)
        .collect()
}

#[test]
fn what_was_fetched_does_not_reach_this_machine_unless_it_may() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/p", &[(200, PASSPHRASE)]);
    storage.put("/a", &[(200, &sealed(&scratch, &storage, &motd("fetched")))]);
    let ran = scratch.bootstrap(&remote(&storage, "/a", ""));
    refused(&ran, "leads to 127.0.0.1, this machine itself, which this request may not reach");
    assert!(ran.stderr.contains("`allow: [loopback]`") && !ran.stderr.contains("q=1"), "{}", ran.stderr);
    done(&scratch.bootstrap(&remote(&storage, "/a", ", allow: [loopback]")));
}

#[test]
fn only_the_named_authority_counts() {
    let (scratch, storage, other) = (ScratchMachine::new(), FakeStorage::new(), FakeStorage::new());
    storage.put("/a", &[(200, &motd("fetched"))]);
    let wrong = remote(&storage, "/a", "").replace(&storage.authority(), &other.authority());
    given_up(&scratch.bootstrap(&wrong), "signed by an unknown authority");
    let system = document("RemoteConfig", &format!("{{provider: https, uri: '{}'}}", storage.uri("/a")));
    given_up(&scratch.bootstrap(&system), "signed by an unknown authority");
    let bundle = document("TrustBundleConfig", &format!("{{certificates: {}}}", storage.authority()));
    scratch.write("node.yaml", &[bundle, system].concat());
    done(&scratch.run(&["validate", "--expand", "-f", "@node.yaml"]));
}

#[test]
fn encrypt_and_decrypt_reach_a_passphrase_behind_a_private_authority() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/p", &[(200, PASSPHRASE)]);
    scratch.write("plain.yaml", &motd("sealed"));
    scratch.write("authority.pem", &storage.server.authority().pem());
    let uri = storage.uri("/p");
    let encrypt = ["encrypt", "-f", "@plain.yaml", "--provider", "https", "--passphrase-uri", &uri];
    let distrusted = "signed by an unknown authority";
    ended(&scratch.run(&encrypt), 1, distrusted);
    let ran = scratch.run(&[&encrypt[..], &["--certificate-authority", "@authority.pem"]].concat());
    done(&ran);
    let open = |text: &str| {
        scratch.write("sealed.yaml", text);
        scratch.run(&["decrypt", "-f", "@sealed.yaml"])
    };
    assert_eq!(open(&ran.stdout).stdout, motd("sealed"));
    let named = ran.stdout.lines().find(|line| line.starts_with("  certificateAuthority:")).expect("it is named");
    let unnamed = ran.stdout.replace(&format!("{named}\n"), "");
    ended(&open(&unnamed), 1, distrusted);
    let bundle = document("TrustBundleConfig", &format!("{{certificates: {}}}", storage.authority()));
    assert_eq!(open(&[bundle.as_str(), &unnamed].concat()).stdout, motd("sealed"));
    ended(&open(&[unnamed.as_str(), &bundle].concat()), 1, distrusted);
    let proxy = format!("{{httpsProxy: 'http://{}', services: [containerd]}}", refusing_proxy());
    // Loopback goes past every proxy.
    let elsewhere = ran.stdout.replace(&uri, "https://192.0.2.1/p");
    ended(&open(&[document("ProxyConfig", &proxy), elsewhere].concat()), 1, "the proxy");
}

/// A proxy that lets nobody through.
fn refusing_proxy() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let reader = BufReader::new(stream.try_clone().expect("a socket can be copied"));
            let _head = reader.lines().map_while(Result::ok).take_while(|line| !line.is_empty()).count();
            drop(stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
        }
    });
    address
}

#[test]
fn a_wish_beyond_the_deadline_is_told() {
    let scratch = ScratchMachine::new();
    let busy = FakeServer::start(|_, tls| answer(tls, "503 X", "Retry-After: 3600\r\n", ""));
    let authority = busy.authority().pem().replace('\n', "\\n");
    let spec = format!("{{provider: https, uri: '{}', certificateAuthority: \"{authority}\"}}", busy.url("/a"));
    let why = "server error; it asks to come back in 3600 s, for which too little time is left";
    given_up(&scratch.bootstrap(&document("RemoteConfig", &spec)), why);
}

#[test]
fn a_server_that_is_not_well_is_asked_again_and_one_that_says_no_is_not() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/a", &[(503, ""), (200, &motd("fetched"))]);
    let ran = scratch.bootstrap(&remote(&storage, "/a", ""));
    done(&ran);
    assert!(ran.stderr.contains("answered with status 503: server error; retrying"), "{}", ran.stderr);
    let ran = scratch.bootstrap(&remote(&storage, "/missing?token=hunter2", ""));
    given_up(&ran, "answered with status 404: not found");
    assert!(!ran.stderr.contains("retrying") && !ran.stderr.contains("hunter2"), "{}", ran.stderr);
    storage.put("/down", &[(500, "")]);
    given_up(&scratch.bootstrap(&remote(&storage, "/down", ", timeout: 15s")), "status 500");
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/a", &[(200, &"#".repeat(3 << 20))]);
    refused(&scratch.bootstrap(&remote(&storage, "/a", "")), "is larger than");
}
