//! A bootstrap that ends while it fetches, or after it has fetched, goes on with what was kept: the configuration, and
//! sealed parts whose place is gone by then.
use crate::support::{
    binary,
    documents::document,
    fake_storage::FakeStorage,
    scratch_machine::{PASSPHRASE, ScratchMachine},
    word_search::WordSearch,
};
use host::contract::{CONFIGURATION, FAILURE, FETCHED, OUTCOME, SUCCESS, SUCCESS_KEPT};
use std::{fs, os::unix::fs::PermissionsExt, process::Stdio, time::Duration};
use testbed::until;

const SECRET: &str = "canary-of-a-file-51be";

fn file(path: &str) -> String {
    document("FilesConfig", &format!("{{files: [{{path: {path}, content: {SECRET}}}]}}"))
}

/// A RemoteConfig for what lies at `/a`, sealed with the passphrase that lies here.
fn remote(scratch: &ScratchMachine, storage: &FakeStorage) -> String {
    let (uri, authority, passphrase) = (storage.uri("/a?signature=x"), storage.authority(), scratch.uri("passphrase"));
    let rights = format!("require: encrypted, allow: [localFiles], passphraseURIs: ['{passphrase}'], timeout: 1h");
    document("RemoteConfig", &format!("{{provider: https, uri: '{uri}', certificateAuthority: {authority}, {rights}}}"))
}

fn at(scratch: &ScratchMachine, path: &str) -> std::path::PathBuf {
    scratch.root().join(path.trim_start_matches('/'))
}

#[test]
fn a_run_that_is_killed_while_it_fetches_goes_on_with_its_configuration() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/a", &[(503, "")]);
    scratch.write("node.yaml", &remote(&scratch, &storage));
    let words = ["--root", &scratch.path("root"), "bootstrap", "-f", &scratch.path("node.yaml")];
    let mut first = binary::command(words).stderr(Stdio::null()).spawn().expect("machineadm starts");
    until("a request", Duration::from_secs(60), || {
        if !storage.server.seen().is_empty() { Ok(()) } else { Err("none".to_owned()) }
    })
    .expect("the storage is asked");
    first.kill().and_then(|()| first.wait()).expect("machineadm ends");
    // As a reboot does: the given file and the runtime directory are gone.
    let given = fs::read_to_string(scratch.path("node.yaml")).expect("the given file");
    fs::remove_file(scratch.path("node.yaml")).expect("the given file goes");
    fs::remove_dir_all(at(&scratch, "/run")).expect("the runtime directory goes");
    assert_eq!(fs::read_to_string(at(&scratch, CONFIGURATION)).expect("it is kept"), given);
    let status = scratch.run(&["status"]);
    assert!(status.stdout.contains("INTERRUPTED"), "{}{}", status.stdout, status.stderr);
    storage.put("/a", &[(200, &scratch.seal(&file("/etc/a"), &[]))]);
    let ran = scratch.run(&["bootstrap"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(fs::read_to_string(at(&scratch, "/etc/a")).expect("the file"), SECRET);
}

#[test]
fn a_sealed_part_whose_place_is_gone_was_kept_as_it_came_until_success() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    let sealed = scratch.seal(&file("/etc/blocked/a"), &[]);
    storage.put("/a", &[(200, &sealed)]);
    fs::write(at(&scratch, "/etc/blocked"), "").expect("a file is in the way");
    let ran = scratch.bootstrap(&remote(&scratch, &storage));
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let mode = fs::metadata(at(&scratch, FETCHED)).expect("it is kept").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        WordSearch::new([SECRET, PASSPHRASE, "signature"]).found_below(&at(&scratch, "/var/lib/machineadm")),
        [("/configuration.yaml".to_owned(), "signature")]
    );
    // A presigned URL that has expired; and what is in the way is gone.
    storage.put("/a", &[(403, "")]);
    fs::remove_file(at(&scratch, "/etc/blocked")).expect("the way is free");
    let ran = scratch.run(&["bootstrap"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("status 403") && ran.stderr.contains("the copy that the previous run saved"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read_to_string(at(&scratch, "/etc/blocked/a")).expect("the file"), SECRET);
    for path in [FETCHED, CONFIGURATION, FAILURE] {
        assert!(!at(&scratch, path).exists(), "{path}");
    }
    let ran = scratch.bootstrap(&remote(&scratch, &storage));
    assert_eq!(ran.code, Some(1), "after success nothing is left to go on with: {}", ran.stderr);
}

#[test]
fn wrong_parts_change_nothing_of_what_an_earlier_run_kept() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/a", &[(503, ""), (403, "")]);
    let first = scratch.bootstrap(&remote(&scratch, &storage));
    assert_eq!(first.code, Some(1), "{}{}", first.stdout, first.stderr);
    let kept = || {
        fs::read_dir(at(&scratch, "/var/lib/machineadm"))
            .expect("the state")
            .flatten()
            .map(|entry| (entry.file_name(), fs::read(entry.path()).expect("a file")))
    };
    let before: std::collections::BTreeMap<_, _> = kept().collect();
    storage.put("/a", &[(200, &file("/etc/plain"))]);
    let second = scratch.bootstrap(&format!("{}{}", remote(&scratch, &storage), file("/etc/other")));
    assert_eq!(second.code, Some(2), "{}{}", second.stdout, second.stderr);
    assert_eq!(kept().collect::<std::collections::BTreeMap<_, _>>(), before);
    assert!(!at(&scratch, "/etc/other").exists());
}

#[test]
fn a_node_stays_one_when_a_later_configuration_cannot_be_had() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    assert_eq!(scratch.bootstrap(&file("/etc/a")).code, Some(0));
    // What a kubelet has once the machine is a node.
    fs::create_dir_all(at(&scratch, "/etc/kubernetes")).expect("a directory");
    fs::write(at(&scratch, "/etc/kubernetes/kubelet.conf"), "").expect("a file");
    storage.put("/a", &[(403, "")]);
    let ran = scratch.bootstrap(&remote(&scratch, &storage));
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stderr.matches("status 403").count(), 1, "told once: {}", ran.stderr);
    let marks = [(SUCCESS, true), (SUCCESS_KEPT, true), (FAILURE, false), (CONFIGURATION, true)];
    assert_eq!(marks.map(|(path, _)| at(&scratch, path).exists()), marks.map(|(_, is_there)| is_there));
    assert!(scratch.run(&["status"]).stdout.contains("FAILED at configuration"));
}

#[test]
fn a_plan_whose_parts_cannot_be_had_is_no_run() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/a", &[(200, &scratch.seal(&file("/etc/a"), &[]))]);
    scratch.write("node.yaml", &remote(&scratch, &storage));
    let planned = scratch.run(&["plan", "-f", "@node.yaml", "--out", "@plan"]);
    assert_eq!(planned.code, Some(0), "{}{}", planned.stdout, planned.stderr);
    storage.put("/a", &[(403, "")]);
    let ran = scratch.run(&["apply", "@plan"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("status 403") && ran.stderr.contains("run it again"), "{}", ran.stderr);
    for path in [OUTCOME, FAILURE, CONFIGURATION] {
        assert!(!at(&scratch, path).exists(), "{path}");
    }
}

#[test]
fn what_was_kept_and_turns_out_wrong_is_told_by_the_outcome() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/a", &[(403, "")]);
    assert_eq!(scratch.bootstrap(&remote(&scratch, &storage)).code, Some(1));
    storage.put("/a", &[(200, &file("/etc/plain"))]);
    let ran = scratch.run(&["bootstrap"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    let status = scratch.run(&["status"]).stdout;
    assert!(status.contains("FAILED at configuration") && status.contains("must be an EncryptedConfig"), "{status}");
    assert!(status.contains("machineadm bootstrap -f FILE") && !status.contains("goes on with"), "{status}");
    assert!(fs::read_to_string(at(&scratch, FAILURE)).expect("the mark").contains("must be an EncryptedConfig"));
}

/// The place of a passphrase answers later than that of the documents, which is gone by then.
#[test]
fn a_sealed_part_is_kept_also_when_something_else_cannot_be_had() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    let (local, there) = (format!("\"{}\"", scratch.uri("passphrase")), storage.uri("/p"));
    let sealed = scratch.seal(&file("/etc/a"), &[]).replace(&local, &there).replace("\"file\"", "https");
    storage.put("/a", &[(200, &sealed)]);
    storage.put("/p", &[(403, "")]);
    let names = format!("passphraseURIs: ['{there}'], passphraseCertificateAuthority: {}", storage.authority());
    let (uri, authority) = (storage.uri("/a"), storage.authority());
    let rest = format!("certificateAuthority: {authority}, require: encrypted, allow: [loopback], {names}");
    let ran = scratch.bootstrap(&document("RemoteConfig", &format!("{{provider: https, uri: '{uri}', {rest}}}")));
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    storage.put("/a", &[(403, "")]);
    storage.put("/p", &[(200, PASSPHRASE)]);
    let ran = scratch.run(&["bootstrap"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(fs::read_to_string(at(&scratch, "/etc/a")).expect("the file"), SECRET);
}

#[test]
fn a_kept_part_that_no_longer_holds_is_no_fault_of_the_input() {
    let (scratch, storage) = (ScratchMachine::new(), FakeStorage::new());
    storage.put("/a", &[(200, &scratch.seal(&file("/etc/blocked/a"), &[]))]);
    fs::write(at(&scratch, "/etc/blocked"), "").expect("a file is in the way");
    assert_eq!(scratch.bootstrap(&remote(&scratch, &storage)).code, Some(1));
    storage.put("/a", &[(403, "")]);
    scratch.write("passphrase", "another passphrase than before");
    let ran = scratch.run(&["bootstrap"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let status = scratch.run(&["status"]).stdout;
    assert!(status.contains("status 403") && status.contains("had fetched cannot be used either"), "{status}");
}
