//! Expansion: in order, nested, in place, with its origin, and no further than the first problem.
use super::fake_world::{FakeWorld, authority, module, remote, sealed, sealed_with};
use crate::{
    AnyDocument, Decoded, ForeignKinds, Given, Read, Rights,
    gzip::compress,
    limits::TEXT_BYTES,
    read,
    testing::{source, with_spec},
    v1alpha1::{API_VERSION, File},
};
use std::time::Duration;

/// The modules that a configuration asks for, with their origins.
fn modules(read: &Read) -> Vec<(String, String)> {
    assert!(!read.report.has_errors(), "{}", read.report);
    let of = |document: &Decoded| match &document.body {
        AnyDocument::KernelModules(modules) => modules.concat(),
        other => panic!("{other:?}"),
    };
    read.documents.iter().map(|document| (of(document), document.origin.source.clone())).collect()
}

fn names(read: &Read) -> Vec<String> {
    modules(read).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn what_a_document_stands_for_takes_its_place_in_order() {
    let inner = sealed([module("c"), remote("file:///deep", ""), module("e")].concat());
    let outer = [module("b"), inner, module("f")].concat();
    let world = FakeWorld::with(&[("file:///outer", &outer), ("file:///deep", &module("d"))]);
    let text = [module("a"), remote("file:///outer", ", allow: [localFiles]"), module("g")].concat();
    let read = world.open(&text);
    assert_eq!(names(&read), ["a", "b", "c", "d", "e", "f", "g"]);
    let origins: Vec<String> = modules(&read).into_iter().map(|(_, origin)| origin).collect();
    assert_eq!(origins[1], "node.yaml#2 > file:///outer");
    assert_eq!(origins[2], "node.yaml#2 > file:///outer#2 > decrypted");
    assert_eq!(origins[3], "node.yaml#2 > file:///outer#2 > decrypted#2 > file:///deep");
    assert_eq!(read.replaced.len(), 3);
}

#[test]
fn reading_alone_fetches_nothing_and_keeps_the_documents() {
    let text = [remote("https://a/b", ""), sealed(module("a"))].concat();
    let kinds: Vec<_> = read(vec![source("-", text.as_bytes())]).documents.into_iter().map(|one| one.kind).collect();
    assert_eq!(kinds, ["RemoteConfig", "EncryptedConfig"]);
}

#[test]
fn nothing_is_fetched_for_a_configuration_that_is_wrong() {
    let world = FakeWorld::with(&[("file:///a", &module("a"))]);
    let conflict = "{parameters: {a.b: 1, a/b: 2}}";
    for wrong in [with_spec("FilesConfig", "{}"), with_spec("SysctlConfig", conflict), "---\na: [\n".into()] {
        assert!(world.open(&format!("{}{wrong}", remote("file:///a", ""))).report.has_errors());
    }
    assert!(world.asked.borrow().is_empty());
    let stops = [remote("file:///missing", ""), remote("file:///a", "")].concat();
    assert_eq!(world.problems(&stops), ["node.yaml spec.uri: nothing is there"]);
    assert_eq!(world.asked.borrow().len(), 1, "it went on after a problem");
}

#[test]
fn conflicts_are_found_over_the_whole() {
    let file = |content: &str| with_spec("FilesConfig", &format!("files: [{{path: /etc/a, content: {content}}}]"));
    let world = FakeWorld::default();
    let problems = world.problems(&[file("x"), sealed(file("y"))].concat());
    let message = "this file is also set by document 1 of node.yaml";
    assert_eq!(problems, [format!("node.yaml#2 > decrypted spec.files[0].path: {message}")]);
}

#[test]
fn the_order_is_judged_over_the_whole() {
    let init = with_spec("InitConfig", "kubernetesVersion: v1.36.4");
    let late = with_spec("FilesConfig", "files: [{path: /etc/kubernetes/pki/ca.crt, content: x}]");
    let world = FakeWorld::with(&[("file:///a", &init)]);
    assert!(!world.open(&[late.clone(), remote("file:///a", "")].concat()).report.has_errors());
    let problems = world.problems(&[remote("file:///a", ""), late].concat());
    let message = "it writes to /etc/kubernetes/pki, which the control plane uses";
    let path = "node.yaml spec.files[0].path";
    assert_eq!(problems, [format!("{path}: must come before document 1 of node.yaml#1 > file:///a: {message}")]);
}

#[test]
fn a_warning_about_the_order_is_given_once() {
    let parameter = with_spec("SysctlConfig", "parameters: {net.bridge.bridge-nf-call-iptables: 1}");
    let text = [parameter, module("br_netfilter").replace("name: br_netfilter", "name: bridge")].concat();
    let report = FakeWorld::default().open(&text).report;
    assert!(report.notes.len() == 1 && !report.has_errors(), "{report}");
}

#[test]
fn gzip_is_undone_wherever_it_is() {
    let mut world = FakeWorld::default();
    let inner = sealed(compress(module("a").as_bytes()));
    world.storage.insert("file:///a".into(), compress(inner.as_bytes()));
    assert_eq!(names(&world.open(&remote("file:///a", ", allow: [localFiles]"))), ["a"]);
}

#[test]
fn what_came_sealed_is_confidential_and_never_quoted() {
    let world = FakeWorld::default();
    let file = with_spec("FilesConfig", "files: [{path: /etc/a, content: hunter2222, mode: '0644'}]");
    let command = with_spec("CommandsConfig", "commands: [{name: a, argv: [login, swordfish]}]");
    let read = world.open(&sealed([file, command].concat()));
    let AnyDocument::Files(files) = &read.documents[0].body else { panic!() };
    assert!(files[0].file().is_some_and(|file| file.confidential && !file.is_public()));
    let secrets: Vec<&[u8]> = read.documents.iter().flat_map(Decoded::secrets).collect();
    assert_eq!(secrets, [&b"hunter2222"[..], b"swordfish"]);
    for wrong in [
        format!("apiVersion: {API_VERSION}\nkind: hunter2222\nmetadata: {{name: hunter2222}}\nspec: {{}}"),
        format!("apiVersion: {API_VERSION}\nkind: SysctlConfig\nspec: {{hunter2222: 1}}"),
        "hunter2222: 1\nhunter2222: 2\n".to_owned(),
        "kind: &hunter2222 a".to_owned(),
        with_spec("SysctlConfig", "parameters: {hunter2222: '1', 'a.hunter2222': \"x\\ny\"}"),
        remote("file:///x", "").replace("provider: file", "provider: hunter2222"),
        sealed_with(module("a"), "hunter2222", "x:y", 1000),
    ] {
        let report = world.open(&sealed(&wrong)).report;
        assert!(report.has_errors(), "{wrong}");
        let shown = format!("{report} {}", serde_json::to_string(&report).unwrap());
        assert!(!shown.contains("hunter"), "{shown}");
    }
}

#[test]
fn a_plain_file_in_what_was_fetched_stays_public() {
    let file = with_spec("FilesConfig", "files: [{path: /etc/a, content: x}]");
    let read = FakeWorld::with(&[("file:///a", &file)]).open(&remote("file:///a", ""));
    let AnyDocument::Files(files) = &read.documents[0].body else { panic!() };
    assert!(files[0].file().is_some_and(File::is_public) && !read.documents[0].sealed);
}

#[test]
fn a_scope_counts_first_inside_and_is_an_error_elsewhere() {
    let scope = |spec: &str| with_spec("ScopeConfig", spec);
    let world = FakeWorld::default();
    let ours = scope("machines: {hostnames: [node-7]}");
    assert_eq!(names(&world.open(&sealed([ours.clone(), module("a")].concat()))), ["a"]);
    for (spec, why) in [
        ("machines: {hostnames: [node-8]}", "for other machines, not for node-7"),
        ("notAfter: '2026-11-16T11:00:00Z'", "have expired: the clock of this machine is at 2026-11-16T12:00:00Z"),
        ("{issuedAt: '2026-11-16T10:00:00Z', maxAge: 1h}", "older than `maxAge`"),
        ("issuedAt: '2026-11-16T13:00:00Z'", "set the clock"),
    ] {
        let problems = world.problems(&sealed([scope(spec), module("a")].concat()));
        assert!(problems.len() == 1 && problems[0].contains(why), "{problems:?}");
        assert!(!problems[0].contains("node-8"), "{problems:?}");
    }
    let mut slow = FakeWorld { pace: Duration::from_secs(20), ..FakeWorld::default() };
    let soon = sealed([scope("notAfter: '2026-11-16T12:00:10Z'"), module("a")].concat());
    assert!(slow.problems(&soon)[0].contains("have expired"), "time goes on while a passphrase is fetched");
    slow.pace = Duration::from_secs(1);
    slow.asked.borrow_mut().clear();
    assert_eq!(names(&slow.open(&soon)), ["a"]);
    let fetched = FakeWorld::with(&[("file:///a", &ours)]);
    for text in [ours.clone(), sealed([module("a"), ours.clone()].concat())] {
        assert!(world.problems(&text)[0].contains("is allowed only as the first document"), "{text}");
    }
    assert!(fetched.problems(&remote("file:///a", ""))[0].contains("is allowed only as the first document"));
}

#[test]
fn a_refused_scope_stops_before_anything_inside_is_fetched() {
    let scope = with_spec("ScopeConfig", "machines: {hostnames: [node-8]}");
    let world = FakeWorld::with(&[("file:///a", &module("a"))]);
    assert!(world.open(&sealed([scope, remote("file:///a", "")].concat())).report.has_errors());
    assert_eq!(world.asked.borrow().len(), 1, "only the passphrase");
}

#[test]
fn later_fetches_know_earlier_certificates_and_proxies() {
    let example = |kind: &str| crate::KINDS.iter().find(|known| known.kind == kind).unwrap().example.to_owned();
    let bundle = example("TrustBundleConfig");
    let more = format!(", certificateAuthority: {}", authority());
    let world = FakeWorld::with(&[("https://a/b", &module("a")), ("https://a/c", &module("b"))]);
    let text = format!(
        "{}---\n{bundle}---\n{}{}",
        remote("https://a/b", ""),
        example("ProxyConfig"),
        remote("https://a/c", &more)
    );
    assert!(!world.open(&text).report.has_errors(), "{}", world.open(&text).report);
    let asked = world.asked.borrow();
    assert_eq!((asked[0].bundles, asked[0].authorities, asked[0].has_proxy), (0, 0, false));
    assert_eq!((asked[1].bundles, asked[1].authorities, asked[1].has_proxy), (1, 1, true));
    assert!(asked[1].limit < asked[0].limit && asked[0].limit < TEXT_BYTES, "one budget for all");
    assert_eq!(asked[0].rights, Rights::ALL);
}

#[test]
fn a_bundle_that_was_fetched_vouches_for_nothing_unless_we_sealed_it() {
    let bundle = crate::KINDS.iter().find(|known| known.kind == "TrustBundleConfig").unwrap().example;
    let by_https = sealed_with(bundle, "https", "https://p/p", 1000);
    for (stored, more, bundles) in [
        (bundle.to_owned(), ", allow: [localFiles]", 0),
        (sealed(bundle), ", allow: [localFiles]", 1),
        (by_https.clone(), "", 0),
        (sealed_with(&by_https, "https", "https://q/q", 1000), ", passphraseURIs: ['https://q/q']", 1),
        (by_https, ", passphraseURIs: ['https://p/p']", 1),
    ] {
        let world = FakeWorld::with(&[("https://a/b", &stored), ("https://a/c", &module("a"))]);
        let text = format!("{}{}", remote("https://a/b", more), remote("https://a/c", ""));
        assert!(!world.open(&text).report.has_errors(), "{}", world.open(&text).report);
        let last = world.asked.borrow().last().cloned().unwrap();
        assert_eq!((last.uri.as_str(), last.bundles), ("https://a/c", bundles));
    }
}

#[test]
fn an_unknown_provider_is_told_what_there_is() {
    let text = remote("s3://bucket/a", "");
    let report = FakeWorld::default().open(&text).report;
    assert_eq!(report.notes[0].message, "unknown provider; built-in providers are `file`, `https`");
    let hint = "the plugin `machineadm-remote-configuration-provider-s3` would provide it, but this machineadm does not support plugins yet";
    assert_eq!(report.notes[0].hint.as_deref(), Some(hint));
    let report = FakeWorld::default().open(&sealed_with(module("a"), "awskms", "kms://a@b", 1000)).report;
    assert_eq!(report.notes[0].message, "unknown provider; built-in providers are `file`, `descriptor`, `https`");
    assert!(report.notes[0].hint.as_ref().unwrap().contains("`machineadm-plugin-encryption-provider-awskms`"));
}

#[test]
fn a_passphrase_is_waited_for_five_minutes() {
    let world = FakeWorld::default();
    assert_eq!(names(&world.open(&sealed(module("a")))), ["a"]);
    assert_eq!(world.asked.borrow()[0].timeout, Duration::from_secs(300));
}

#[test]
fn a_document_may_use_the_whole_rest_of_the_limit_and_not_a_byte_more() {
    let mut world = FakeWorld::with(&[("https://a/a", &module("a"))]);
    let text = remote("https://a/a", "");
    assert_eq!(names(&world.open(&text)), ["a"]);
    let limit = world.asked.borrow()[0].limit;
    let padded = |bytes: usize| {
        let text = module("a");
        let comment = "#".repeat(bytes - text.len() - 1);
        format!("{text}{comment}\n").into_bytes()
    };
    world.storage.insert("https://a/a".to_owned(), padded(limit));
    assert_eq!(names(&world.open(&text)), ["a"]);
    world.storage.insert("https://a/a".to_owned(), padded(limit + 1));
    let message = "exceeds the limit of 1024 KiB for a whole configuration";
    assert_eq!(world.problems(&text), [format!("node.yaml spec.uri: {message}")]);
}

#[test]
fn a_given_configuration_shows_nothing_of_itself() {
    let given = Given::read(vec![source("node.yaml", sealed(module("a")).as_bytes())], ForeignKinds::Refused).unwrap();
    assert_eq!(format!("{given:?}"), "Given { .. }");
}

#[test]
fn programs_come_through_the_bundles_and_the_proxy_before_them_and_a_fetched_document_names_no_local_ones() {
    let bundle = crate::KINDS.iter().find(|kind| kind.kind == "TrustBundleConfig").unwrap().example;
    let proxy = with_spec("ProxyConfig", "{httpsProxy: 'http://p:1', services: [a]}");
    let programs = |source: &str| {
        with_spec("ProgramsConfig", &format!("{{programs: {{kubeadm: {{{source}, sha256: '{}'}}}}}}", "0".repeat(64)))
    };
    let remote_one = programs("uri: 'https://a/kubeadm'");
    let read = FakeWorld::default().open(&format!("---\n{bundle}{proxy}{remote_one}"));
    assert!(!read.report.has_errors(), "{}", read.report);
    let AnyDocument::Programs(found) = &read.documents[2].body else { panic!() };
    assert_eq!((found.bundles.len(), found.proxy.is_some()), (1, true));
    let world = FakeWorld::with(&[("https://a/b", &programs("source: /srv/kubeadm"))]);
    let message = "spec.programs.kubeadm: a fetched document is not allowed to name local files";
    assert!(world.problems(&remote("https://a/b", ""))[0].ends_with(message));
    assert!(world.problems(&remote("https://a/b", ", allow: [localFiles]")).is_empty());
}
