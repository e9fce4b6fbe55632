//! Somebody else owns the storage: what is fetched does no more than the local document allows, and comes to an end.
use super::fake_world::{FakeWorld, PASSPHRASE, authority, module, remote, sealed, sealed_with};
use crate::{
    AnyDocument, Rights,
    gzip::compress,
    limits::{FETCHES, NESTING, TEXT_BYTES},
    testing::with_spec,
};
use std::time::Duration;

const PLAIN: &str = ", require: encrypted, allow: [localFiles]";

fn one_problem(world: &FakeWorld, text: &str, why: &str) {
    let problems = world.problems(text);
    assert!(problems.len() == 1 && problems[0].contains(why), "{problems:#?}");
}

#[test]
fn plain_documents_do_not_pass_for_sealed_ones() {
    let commands = with_spec("CommandsConfig", "commands: [{name: evil, shell: evil}]");
    let mixed = [sealed(module("a")), commands.clone()].concat();
    for plain in [&commands, &mixed] {
        let world = FakeWorld::with(&[("file:///a", plain)]);
        one_problem(&world, &remote("file:///a", PLAIN), "must be an EncryptedConfig");
        assert_eq!(world.asked.borrow().len(), 1, "the sealed part was opened all the same");
    }
    let detour = FakeWorld::with(&[("file:///a", &remote("file:///b", "")), ("file:///b", &commands)]);
    one_problem(&detour, &remote("file:///a", PLAIN), "must be an EncryptedConfig");
    let strict = FakeWorld::with(&[("file:///a", &remote("file:///b", PLAIN)), ("file:///b", &commands)]);
    one_problem(&strict, &remote("file:///a", PLAIN), "must be an EncryptedConfig");
    let good = FakeWorld::with(&[("file:///a", &remote("file:///b", PLAIN)), ("file:///b", &sealed(module("a")))]);
    assert!(!good.open(&remote("file:///a", PLAIN)).report.has_errors());
}

#[test]
fn the_storage_does_not_choose_the_passphrase() {
    let evil = sealed_with(module("evil"), "https", "https://evil/passphrase", 1000);
    let world = FakeWorld::with(&[("file:///a", &evil), ("file:///b", &remote("file:///a", PLAIN))]);
    one_problem(&world, &remote("file:///a", PLAIN), "has no `passphraseURIs`");
    let named = |uri: &str| format!("{PLAIN}, passphraseURIs: ['{uri}']");
    let other = "is not in `passphraseURIs`";
    one_problem(&world, &remote("file:///a", &named("https://ours/passphrase")), other);
    let by_detour = remote("file:///b", &named("https://ours/passphrase"));
    let detour = FakeWorld::with(&[
        ("file:///a", &evil),
        ("file:///b", &remote("file:///a", &named("https://evil/passphrase"))),
    ]);
    one_problem(&detour, &by_detour, other);
    assert!(world.asked.borrow().iter().all(|asked| !asked.uri.contains("evil")), "it asked for it all the same");
    let ours = sealed_with(module("a"), "https", "https://ours/passphrase", 1000);
    let world = FakeWorld::with(&[("file:///a", &ours)]);
    assert!(!world.open(&remote("file:///a", &named("https://ours/passphrase"))).report.has_errors());
}

#[test]
fn the_storage_does_not_choose_who_vouches_for_the_passphrase() {
    let plain = sealed_with(module("a"), "https", "https://ours/p", 1000);
    let naming = plain.replace("\n  salt:", &format!("\n  certificateAuthority: {}\n  salt:", authority()));
    assert_ne!(naming, plain);
    let world = FakeWorld::with(&[("https://a/naming", &naming), ("https://a/plain", &plain)]);
    let guarded = ", passphraseURIs: ['https://ours/p']";
    one_problem(&world, &remote("https://a/naming", guarded), "not in the `passphraseCertificateAuthority`");
    assert!(world.asked.borrow().iter().all(|asked| !asked.uri.contains("ours")), "it asked for it all the same");
    let agreed = format!("{guarded}, passphraseCertificateAuthority: {}", authority());
    for (place, more, authorities) in
        [("naming", agreed.as_str(), 1), ("plain", &agreed, 1), ("plain", guarded, 0), ("naming", "", 1)]
    {
        let read = world.open(&remote(&format!("https://a/{place}"), more));
        assert!(!read.report.has_errors(), "{}", read.report);
        let last = world.asked.borrow().last().cloned().unwrap();
        assert_eq!((last.uri.as_str(), last.authorities), ("https://ours/p", authorities), "{place}{more}");
    }
}

#[test]
fn what_was_sealed_by_us_may_name_passphrases_again() {
    let inner = sealed_with(module("a"), "https", "https://vault/passphrase", 1000);
    let world = FakeWorld::with(&[("file:///a", &sealed(inner))]);
    assert!(!world.open(&remote("file:///a", PLAIN)).report.has_errors());
}

#[test]
fn another_content_than_the_digest_says_is_refused() {
    let sha256 = crate::expand::hex(&crate::expand::sha256(b"x"));
    let world = FakeWorld::with(&[("file:///a", &module("a"))]);
    one_problem(
        &world,
        &remote("file:///a", &format!(", sha256: '{sha256}'")),
        "spec.sha256: does not match the fetched bytes",
    );
    let right = crate::expand::hex(&crate::expand::sha256(module("a").as_bytes()));
    assert!(!world.open(&remote("file:///a", &format!(", sha256: '{right}'"))).report.has_errors());
}

#[test]
fn rights_only_shrink_on_the_way() {
    let deepest = remote("https://d/d", ", allow: [localFiles, loopback, linkLocal, descriptors]");
    let middle = remote("https://c/c", ", allow: [loopback, linkLocal]");
    let world = FakeWorld::with(&[
        ("https://a/a", &remote("https://b/b", ", allow: [localFiles, loopback]")),
        ("https://b/b", &middle),
        ("https://c/c", &deepest),
        ("https://d/d", &module("a")),
    ]);
    let read = world.open(&remote("https://a/a", ", allow: [loopback, descriptors]"));
    assert!(!read.report.has_errors(), "{}", read.report);
    let rights: Vec<Rights> = world.asked.borrow().iter().map(|asked| asked.rights).collect();
    let loopback = Rights { loopback: true, ..Rights::NONE };
    assert_eq!(rights, [Rights::ALL, Rights { descriptors: true, ..loopback }, loopback, loopback]);
}

/// A redirect is the storage's word, also for a document that lies on the machine.
#[test]
fn a_redirect_has_the_rights_of_what_is_fetched() {
    let world = FakeWorld::with(&[
        ("https://a/a", &sealed_with(module("a"), "https", "https://vault/passphrase", 1000)),
        ("https://b/b", &module("b")),
    ]);
    let both = [remote("https://a/a", ", allow: [loopback]"), remote("https://b/b", "")].concat();
    assert!(!world.open(&both).report.has_errors());
    let rights: Vec<Rights> = world.asked.borrow().iter().map(|asked| asked.redirect_rights).collect();
    assert_eq!(rights, [Rights { loopback: true, ..Rights::NONE }, Rights::NONE, Rights::NONE]);
}

#[test]
fn what_was_fetched_gets_no_more_time_than_what_fetched_it() {
    let passphrase = sealed_with(module("a"), "https", "https://vault/passphrase", 1000);
    let mut world = FakeWorld::with(&[
        ("https://a/a", &remote("https://b/b", ", timeout: 1h")),
        ("https://b/b", &[passphrase, remote("https://c/c", ", timeout: 10s")].concat()),
        ("https://c/c", &module("c")),
        ("https://d/d", &module("d")),
    ]);
    world.pace = Duration::from_secs(20);
    let both = |timeout: &str| [remote("https://a/a", timeout), remote("https://d/d", "")].concat();
    assert!(!world.open(&both(", timeout: 90s")).report.has_errors());
    let times: Vec<u64> = world.asked.borrow().iter().map(|asked| asked.timeout.as_secs()).collect();
    assert_eq!(times, [90, 70, 50, 10, 300], "the next document of the machine's own has its own time");
    world.asked.borrow_mut().clear();
    one_problem(
        &world,
        &both(", timeout: 40s"),
        "the timeout of the RemoteConfig that fetched this document has expired",
    );
    assert_eq!(world.asked.borrow().len(), 2);
}

#[test]
fn a_passphrase_has_five_minutes() {
    let world = FakeWorld::default();
    assert!(!world.open(&sealed(module("a"))).report.has_errors());
    assert_eq!(world.asked.borrow()[0].timeout, Duration::from_secs(300));
}

#[test]
fn a_configuration_may_be_filled_to_its_last_byte() {
    let local = remote("file:///a", "");
    let content = |size: usize| format!("{}#{}", module("a"), "x".repeat(size - module("a").len() - 1));
    let left = TEXT_BYTES - local.len();
    let world = FakeWorld::with(&[("file:///a", &content(left))]);
    assert!(!world.open(&local).report.has_errors(), "{}", world.open(&local).report);
    let world = FakeWorld::with(&[("file:///a", &content(left + 1))]);
    one_problem(&world, &local, "exceeds the limit of 1024 KiB for a whole configuration");
}

/// A proxy is asked before anybody else: naming one must not lead where the document that names it may not go.
#[test]
fn a_proxy_that_was_fetched_serves_only_those_who_may_go_everywhere() {
    let proxy = with_spec("ProxyConfig", "{httpProxy: 'http://p', services: [kubelet]}");
    let world = FakeWorld::with(&[("https://a/p", &proxy), ("https://a/m", &module("m"))]);
    for (allowed, serves) in
        [("loopback, linkLocal", true), ("loopback", false), ("linkLocal", false), ("localFiles, descriptors", false)]
    {
        let text = [remote("https://a/p", &format!(", allow: [{allowed}]")), remote("https://a/m", "")].concat();
        assert!(!world.open(&text).report.has_errors());
        let last = world.asked.borrow().last().cloned().unwrap();
        assert_eq!((last.uri.as_str(), last.has_proxy), ("https://a/m", serves), "{allowed}");
    }
}

#[test]
fn a_local_passphrase_needs_to_be_allowed_also_through_a_seal() {
    let world = FakeWorld::with(&[("https://a/a", &sealed(module("a")))]);
    one_problem(&world, &remote("https://a/a", ""), "is not allowed to name local files");
    assert!(!world.open(&remote("https://a/a", ", allow: [localFiles]")).report.has_errors());
    let outer = sealed_with(sealed(module("a")), "https", "https://vault/passphrase", 1000);
    let world = FakeWorld::with(&[("https://a/a", &outer)]);
    one_problem(&world, &remote("https://a/a", ""), "is not allowed to name local files");
}

#[test]
fn a_circle_is_seen_by_place_and_by_content() {
    let itself = remote("file:///a", "");
    let world = FakeWorld::with(&[("file:///a", &itself)]);
    one_problem(&world, &itself, "endless recursion");
    assert_eq!(world.asked.borrow().len(), 1);
    let other_place = remote("file:///b", "");
    let world = FakeWorld::with(&[("file:///a", &other_place), ("file:///b", &other_place)]);
    one_problem(&world, &itself, "returns the document that contains it");
    let twice = [remote("file:///c", ""), remote("file:///c", "").replace("name: 'c'", "name: 'd'")].concat();
    let world = FakeWorld::with(&[("file:///c", &module("a"))]);
    one_problem(&world, &twice, "metadata.name: is also the name of document 1");
    assert_eq!(world.asked.borrow().len(), 2, "the same twice beside each other is no circle");
}

#[test]
fn a_long_chain_of_references_ends() {
    let uris: Vec<String> = (0..10_000).map(|number| format!("file:///{number}")).collect();
    let texts: Vec<String> = (1..=10_000).map(|number| remote(&format!("file:///{number}"), "")).collect();
    let contents: Vec<(&str, &str)> = uris.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let world = FakeWorld::with(&contents);
    one_problem(&world, &remote("file:///0", ""), "more than 8 nested configurations");
    assert_eq!(world.asked.borrow().len(), NESTING);
}

#[test]
fn many_references_beside_each_other_end() {
    let each: String = (0..100).map(|number| remote(&format!("file:///{number}"), "")).collect();
    let uris: Vec<String> = (0..100).map(|number| format!("file:///{number}")).collect();
    let one = module("a");
    let contents: Vec<(&str, &str)> = uris.iter().map(|uri| (uri.as_str(), one.as_str())).collect();
    let world = FakeWorld::with(&contents);
    one_problem(&world, &each, "the limit of 64 fetches");
    assert_eq!(world.asked.borrow().len(), FETCHES);
}

#[test]
fn rounds_are_counted_over_the_whole() {
    let most = sealed_with(module("a"), "file", "file:///passphrase", 1000).replace("\"1000\"", "1000000");
    let world = FakeWorld::default();
    let problems = world.problems(&most.repeat(3));
    assert!(problems[0].contains("passphrase is not the one"), "{problems:?}");
    let world = FakeWorld::default();
    let each = sealed_with(module("a"), "file", "file:///passphrase", 700_000);
    one_problem(&world, &each.repeat(3), "the limit of 2000000 key derivation rounds");
}

#[test]
fn bombs_are_refused_inside_too() {
    let bomb = compress(&vec![b'#'; 8 << 20]);
    let mut world = FakeWorld::default();
    world.storage.insert("file:///a".into(), bomb.clone());
    one_problem(&world, &remote("file:///a", ""), "decompression bomb");
    one_problem(&world, &sealed(&bomb), "decompression bomb");
    one_problem(&world, &sealed(compress(&vec![b'#'; 900 << 10])), "compression ratio too high");
    world.storage.insert("file:///b".into(), vec![b'#'; 2 << 20]);
    one_problem(&world, &remote("file:///b", ""), "exceeds the limit of 1024 KiB for a whole configuration");
    world.storage.insert("file:///c".into(), Vec::new());
    one_problem(&world, &remote("file:///c", ""), "spec.uri: contains no document");
    one_problem(&world, &sealed("# nothing"), "spec.ciphertext: contains no document");
}

#[test]
fn what_is_no_passphrase_opens_nothing() {
    let mut world = FakeWorld::default();
    for wrong in ["short", &"x".repeat(4097)] {
        world.storage.insert("file:///passphrase".into(), wrong.into());
        one_problem(&world, &sealed(module("a")), "the passphrase there is invalid: it must have 8 to 4096 bytes");
    }
    world.storage.insert("file:///passphrase".into(), format!("{PASSPHRASE}!").into());
    one_problem(&world, &sealed(module("a")), "spec.ciphertext: cannot be decrypted");
}

/// Reports go where the machine's owner wants them, and carry what the machine's files say only if that owner agrees.
#[test]
fn a_fetched_document_reports_to_no_special_address_that_is_not_allowed() {
    let report = |more: &str| with_spec("ReportConfig", &format!("{{uri: 'https://reports.example.com/'{more}}}"));
    for (more, path, right) in [
        (", allow: [loopback]", "spec.allow[0]: a fetched document is not allowed to name loopback", "loopback"),
        (", allow: [linkLocal]", "spec.allow[0]: a fetched document is not allowed to name link-local", "linkLocal"),
        (", authorizationFile: /etc/a", "spec.authorizationFile: a fetched document is not allowed", "localFiles"),
    ] {
        let world = FakeWorld::with(&[("https://a/a", &report(more)), ("https://a/b", &sealed(report(more)))]);
        one_problem(&world, &remote("https://a/a", ""), path);
        let allowed = format!(", allow: [{right}]");
        let read = world.open(&remote("https://a/a", &allowed));
        assert!(!read.report.has_errors(), "{}", read.report);
        let local = world.open(&report(more));
        assert!(!local.report.has_errors(), "{}", local.report);
    }
}

#[test]
fn reports_use_the_proxy_and_the_trust_bundles_before_them() {
    let report = with_spec("ReportConfig", "{uri: 'https://reports.example.com/'}");
    let bundle = with_spec("TrustBundleConfig", &format!("certificates: {}", authority()));
    let proxy = with_spec("ProxyConfig", "{httpsProxy: 'http://proxy:3128', services: [containerd]}");
    let both = |text: &str| {
        let read = FakeWorld::default().open(text);
        assert!(!read.report.has_errors(), "{}", read.report);
        let reporting = read.documents.into_iter().find_map(|document| match document.body {
            AnyDocument::Report(reporting) => Some(reporting),
            _ => None,
        });
        let reporting = reporting.unwrap();
        (reporting.bundles.len(), reporting.proxy.is_some())
    };
    assert_eq!(both(&[bundle.clone(), proxy.clone(), report.clone()].concat()), (1, true));
    assert_eq!(both(&[report, bundle, proxy].concat()), (0, false));
}
