//! Documents of other groups are read to their end, kept with their positions, and noted or refused.
use super::fake_world::{FakeWorld, module, remote, sealed};
use crate::{
    AnyDocument, Foreign, ForeignKinds, Given, Read,
    testing::{found, read_text, source},
};

const WIDGET: &str = "---
apiVersion: example.com/v1
kind: Widget
metadata: {name: a}
spec:
  size: 12
  words: [on, 'off', ~, true, 1.5, 0x1F]
";

fn foreign(read: &Read) -> &Foreign {
    match &read.documents[0].body {
        AnyDocument::Foreign(foreign) => foreign,
        other => panic!("{other:?}"),
    }
}

fn given(text: &str, kinds: ForeignKinds) -> Result<Given, Read> {
    Given::read(vec![source("node.yaml", text.as_bytes())], kinds)
}

#[test]
fn a_foreign_document_is_read_and_noted_as_not_checked() {
    let read = read_text(WIDGET);
    assert!(!read.report.has_errors() && read.report.notes.len() == 1, "{}", read.report);
    let note = &read.report.notes[0];
    assert_eq!(note.message, "not checked: no plugin for Widget on this machine");
    assert_eq!((note.path.as_str(), note.line, note.hint.as_deref()), ("kind", 3, None));
    let document = &read.documents[0];
    assert_eq!((document.kind.as_str(), document.name.as_deref()), ("Widget", Some("a")));
    assert_eq!(document.body.api_version(), "example.com/v1");
    assert!(document.secrets().is_empty() && document.claims().is_empty());
}

#[test]
fn a_plugin_gets_all_of_it_with_positions() {
    let read = read_text(WIDGET);
    let expected = serde_json::json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
        "spec": {"size": 12, "words": ["on", "off", null, true, 1.5, 31]},
    });
    let json: serde_json::Value = serde_json::from_str(foreign(&read).json().expose()).unwrap();
    assert_eq!(json, expected);
    assert_eq!(foreign(&read).position("spec.words[1]"), (7, 15));
    assert_eq!(foreign(&read).position("spec.words[9].x"), (7, 10), "the nearest thing around it");
    assert_eq!(foreign(&read).position("status"), (2, 1));
    assert!(!format!("{:?}", foreign(&read)).contains("size"));
}

#[test]
fn two_are_equal_by_what_they_say_and_not_by_where() {
    let elsewhere = read_text(&format!("# a comment\n{WIDGET}"));
    assert_eq!(foreign(&elsewhere), foreign(&read_text(WIDGET)));
    assert_ne!(foreign(&read_text(&WIDGET.replace("12", "13"))), foreign(&read_text(WIDGET)));
}

#[test]
fn a_run_refuses_it_and_says_what_to_do() {
    let noted = given(WIDGET, ForeignKinds::Noted).unwrap();
    assert_eq!(format!("{noted:?}"), "Given { .. }");
    let read = given(WIDGET, ForeignKinds::Refused).unwrap_err();
    let note = &read.report.notes[0];
    assert_eq!(note.message, "no plugin for Widget on this machine");
    assert_eq!(note.hint.as_deref(), Some("install the plugin that handles this kind, or remove the document"));
    let ours = given(&WIDGET.replace("Widget", "FilesConfig"), ForeignKinds::Refused).unwrap_err();
    let hint = "machineadm's own FilesConfig has apiVersion `machineadm.cluster.x-k8s.io/v1alpha1`";
    assert_eq!(ours.report.notes[0].hint.as_deref(), Some(hint));
}

#[test]
fn what_was_fetched_or_sealed_is_refused_as_well() {
    let world = FakeWorld::with(&[("file:///a", WIDGET)]);
    let place = "node.yaml#1 > file:///a";
    let message = "kind: no plugin for Widget on this machine";
    assert_eq!(world.problems(&remote("file:///a", "")), [format!("{place} {message}")]);
    let message = "node.yaml#1 > decrypted kind: no plugin for this kind on this machine";
    assert_eq!(world.problems(&sealed(WIDGET)), [message]);
    let plain = ", require: encrypted, allow: [localFiles]";
    let mixed = FakeWorld::with(&[("file:///a", &[sealed(module("a")), WIDGET.to_owned()].concat())]);
    assert!(mixed.problems(&remote("file:///a", plain))[0].contains("no plugin for Widget"));
}

#[test]
fn all_of_it_is_secret_if_it_came_encrypted() {
    let world = FakeWorld::default();
    let read = world.open_with(&sealed(WIDGET.replace("12", "hunter2")), ForeignKinds::Noted);
    assert!(!read.report.has_errors() && read.documents[0].sealed, "{}", read.report);
    let secrets = read.documents[0].secrets();
    assert_eq!(secrets, [&b"a"[..], b"hunter2", b"on", b"off", b"1.5", b"0x1F"]);
    assert!(!read.report.to_string().contains("Widget"), "{}", read.report);
}

#[test]
fn its_form_is_checked_as_any_other() {
    let with = |more: &str| found(&format!("{WIDGET}{more}"));
    assert_eq!(with("spec: 1\n")[0], "kind: not checked: no plugin for Widget on this machine");
    assert_eq!(with("spec: 1\n")[1], "spec: duplicate key, already set at 5:1");
    assert!(with("x: &a b\n")[0].contains("anchors"));
    for (number, why) in [
        ("0644", "must not have leading zeros"),
        ("-07", "must not have leading zeros"),
        ("18446744073709551616", "out of range"),
        (".inf", "not a finite number"),
        ("1e999", "not a finite number"),
    ] {
        let found = with(&format!("more: [a, {number}]\n"));
        assert!(found[1].starts_with("more[1]: ") && found[1].contains(why), "{found:?}");
        assert_eq!(with(&format!("more: [a, '{number}']\n")).len(), 1);
    }
    assert_eq!(with("more: [0, -0, 0.5, 0o17]\n").len(), 1);
}

#[test]
fn a_kind_is_a_word() {
    for kind in ["'a b'", "'1a'", "'\\e[2J'", "'../a'"] {
        let found = found(&WIDGET.replace("Widget", kind));
        assert_eq!(found, ["kind: must be letters and digits, at most 63"], "{kind}");
    }
    assert_eq!(found("apiVersion: example.com/v1\n"), ["kind: required, but missing"]);
}

#[test]
fn its_name_and_its_position_count_as_those_of_any_other() {
    let twice = found(&[WIDGET, WIDGET].concat());
    assert!(twice.contains(&"metadata.name: is also the name of document 1".to_owned()), "{twice:?}");
    let other_group = WIDGET.replace("example.com", "example.org");
    assert_eq!(found(&[WIDGET, &other_group].concat()).len(), 2, "another group's Widget is another kind");
    let late = WIDGET.replace("{name: a}", "{annotations: {machineadm.cluster.x-k8s.io/before: KernelModulesConfig}}");
    let notes = found(&[module("a"), late].concat());
    assert!(notes.iter().any(|note| note.contains("must come before document 1")), "{notes:?}");
    let early =
        module("b").replace("{name: b}", "{name: b, annotations: {machineadm.cluster.x-k8s.io/after: Widget/a}}");
    let notes = found(&[early, WIDGET.to_owned()].concat());
    assert!(notes.iter().any(|note| note.starts_with("kind: must come before document 1")), "{notes:?}");
}
