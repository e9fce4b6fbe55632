//! Documents and passphrases over https: trusted only as told, tried again while that helps, refused by address.
mod support {
    pub(crate) mod binary;
    pub(crate) mod documents;
    pub(crate) mod fake_storage;
    pub(crate) mod keeper;
    pub(crate) mod ran;
    pub(crate) mod scratch;
}

use std::fs;
use support::{
    documents::document,
    fake_storage::FakeStorage,
    keeper::{Keeper, PASSPHRASE},
    ran::Ran,
};

fn motd(text: &str) -> String {
    document("FilesConfig", &format!("{{files: [{{path: /etc/motd, content: {text}}}]}}"))
}

fn remote(storage: &FakeStorage, path: &str, more: &str) -> String {
    let (uri, authority) = (storage.uri(path), storage.authority());
    document("RemoteConfig", &format!("{{provider: https, uri: '{uri}', certificateAuthority: {authority}{more}}}"))
}

fn done(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

fn refused(ran: &Ran, why: &str) {
    ended(ran, 2, why);
}

/// The input may be right, but what it names can't be had.
fn given_up(ran: &Ran, why: &str) {
    ended(ran, 1, why);
    assert!(ran.stderr.contains("FAILED at configuration"), "{}", ran.stderr);
}

fn ended(ran: &Ran, code: i32, why: &str) {
    assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
}

/// The sealed text, to be opened with a passphrase from the storage.
fn sealed(keeper: &Keeper, storage: &FakeStorage, text: &str) -> String {
    let local = format!("passphraseURI: \"{}\"", keeper.uri("passphrase"));
    let there =
        format!("passphraseURI: \"{}\"\n  certificateAuthority: {}", storage.uri("/p?q=1"), storage.authority());
    let sealed = keeper.seal(text, &[]).replace(&local, &there);
    sealed.replace("provider: \"file\"", "provider: \"https\"")
}

#[test]
fn documents_and_their_passphrase_are_fetched() {
    let (keeper, storage) = (Keeper::new(), FakeStorage::new());
    storage.put("/p", &[(200, &format!("{PASSPHRASE}\n"))]);
    storage.put("/a", &[(200, &sealed(&keeper, &storage, &motd("fetched")))]);
    let more = format!(
        ", require: encrypted, allow: [loopback], passphraseURIs: ['{}'], passphraseCertificateAuthority: {}",
        storage.uri("/p?q=1"),
        storage.authority()
    );
    let ran = keeper.bootstrap(&remote(&storage, "/a", &more));
    done(&ran);
    assert_eq!(fs::read_to_string(keeper.root().join("etc/motd")).unwrap(), "fetched");
    assert!(!ran.stderr.contains("q=1"), "{}", ran.stderr);
}

#[test]
fn what_was_fetched_does_not_reach_this_machine_unless_it_may() {
    let (keeper, storage) = (Keeper::new(), FakeStorage::new());
    storage.put("/p", &[(200, PASSPHRASE)]);
    storage.put("/a", &[(200, &sealed(&keeper, &storage, &motd("fetched")))]);
    let ran = keeper.bootstrap(&remote(&storage, "/a", ""));
    refused(&ran, "leads to 127.0.0.1, this machine itself, which this request may not reach");
    assert!(ran.stderr.contains("`allow: [loopback]`") && !ran.stderr.contains("q=1"), "{}", ran.stderr);
    done(&keeper.bootstrap(&remote(&storage, "/a", ", allow: [loopback]")));
}

#[test]
fn only_the_named_authority_counts() {
    let (keeper, storage, other) = (Keeper::new(), FakeStorage::new(), FakeStorage::new());
    storage.put("/a", &[(200, &motd("fetched"))]);
    let wrong = remote(&storage, "/a", "").replace(&storage.authority(), &other.authority());
    given_up(&keeper.bootstrap(&wrong), "signed by nobody whom this request trusts");
    let system = document("RemoteConfig", &format!("{{provider: https, uri: '{}'}}", storage.uri("/a")));
    given_up(&keeper.bootstrap(&system), "signed by nobody whom this request trusts");
    let bundle = document("TrustBundleConfig", &format!("{{certificates: {}}}", storage.authority()));
    keeper.write("node.yaml", &[bundle, system].concat());
    done(&keeper.run(&["validate", "--expand", "-f", "@node.yaml"]));
}

#[test]
fn a_server_that_is_not_well_is_asked_again_and_one_that_says_no_is_not() {
    let (keeper, storage) = (Keeper::new(), FakeStorage::new());
    storage.put("/a", &[(503, ""), (200, &motd("fetched"))]);
    let ran = keeper.bootstrap(&remote(&storage, "/a", ""));
    done(&ran);
    assert!(ran.stderr.contains("answered with status 503: the server is not well; trying again"), "{}", ran.stderr);
    let ran = keeper.bootstrap(&remote(&storage, "/missing?token=hunter2", ""));
    given_up(&ran, "answered with status 404: nothing is there");
    assert!(!ran.stderr.contains("trying again") && !ran.stderr.contains("hunter2"), "{}", ran.stderr);
    storage.put("/down", &[(500, "")]);
    given_up(&keeper.bootstrap(&remote(&storage, "/down", ", timeout: 2s")), "status 500");
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let (keeper, storage) = (Keeper::new(), FakeStorage::new());
    storage.put("/a", &[(200, &"#".repeat(3 << 20))]);
    refused(&keeper.bootstrap(&remote(&storage, "/a", "")), "is larger than");
}
