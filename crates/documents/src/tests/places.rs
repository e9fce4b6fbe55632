//! Every class of problem is found with its place, its path and what to do, and none hides another.
use crate::{
    Read, read,
    testing::{document, read_text, source, with_spec},
    v1alpha1::API_VERSION,
};

/// `line:column path message; hint` of every note.
fn notes(read: &Read) -> Vec<String> {
    let hint = |hint: &Option<String>| hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    let shown = read.report.notes.iter();
    shown.map(|n| format!("{}:{} {} {}{}", n.line, n.column, n.path, n.message, hint(&n.hint))).collect()
}

fn found(text: &str) -> Vec<String> {
    notes(&read_text(text))
}

#[test]
fn a_misspelt_field_is_one_problem_with_the_name_that_was_meant() {
    let text = with_spec("SysctlConfig", "parametres: {a.b: 1}");
    assert_eq!(found(&text), ["5:3 spec.parametres unknown field; did you mean `parameters`?"]);
    let text = with_spec("ProxyConfig", "HttpProxy: x\nservices: [a]");
    assert_eq!(found(&text), ["5:3 spec.HttpProxy unknown field; did you mean `httpProxy`?"]);
}

#[test]
fn a_field_like_no_other_is_answered_with_the_known_ones() {
    let text = with_spec("KernelModulesConfig", "volume: 1\nmodules: [a]");
    assert_eq!(found(&text), ["5:3 spec.volume unknown field; known fields: `modules`"]);
}

#[test]
fn an_unknown_fields_name_is_cut_and_printable() {
    let text = with_spec("KernelModulesConfig", &format!("\"\\e[2J{}\": 1\nmodules: [a]", "x".repeat(100)));
    let read = read_text(&text);
    assert_eq!(read.report.notes[0].path, format!("spec[\u{fffd}[2J{}…]", "x".repeat(60)));
}

#[test]
fn numbers_truths_and_nothing_are_not_text() {
    let text = with_spec("FilesConfig", "files:\n- {path: /a, content: 12, mode: 0644}\n- {path: true, content: x}\n-");
    let quote = "must be text, not a number; put it in quotes";
    let expected = [
        format!("6:25 spec.files[0].content {quote}"),
        format!("6:35 spec.files[0].mode {quote}"),
        "7:12 spec.files[1].path must be text, not true or false; put it in quotes".to_owned(),
        "8:4 spec.files[2] must be a mapping, not empty".to_owned(),
    ];
    assert_eq!(found(&text), expected);
}

#[test]
fn lists_mappings_and_text_are_not_each_other() {
    let text = with_spec("FilesConfig", "files:\n- {path: [a], content: {a: b}}\n- text");
    let expected = [
        "6:12 spec.files[0].path must be text, not a list",
        "6:26 spec.files[0].content must be text, not a mapping",
        "7:5 spec.files[1] must be a mapping, not text",
    ];
    assert_eq!(found(&text), expected);
}

#[test]
fn what_is_missing_is_named_where_it_should_be() {
    assert_eq!(found(&document("FilesConfig", "")), ["2:1 spec required, but missing"]);
    assert_eq!(found(&document("FilesConfig", "spec: null")), ["2:1 spec required, but missing"]);
    let text = with_spec("FilesConfig", "files:\n- path: /a");
    assert_eq!(found(&text), ["6:5 spec.files[0].content required, but missing"]);
}

#[test]
fn a_null_is_as_if_it_were_not_there() {
    let text = with_spec("FilesConfig", "files:\n- {path: /a, content: x, mode: null, owner: ~, block: }");
    assert_eq!(found(&text), [""; 0]);
}

#[test]
fn a_choice_names_its_words_and_the_nearest() {
    let text = with_spec("FilesConfig", "files:\n- {path: /a, content: x, encoding: base46}");
    let expected = "6:38 spec.files[0].encoding must be `plain`, `base64` or `gzip+base64`; did you mean `base64`?";
    assert_eq!(found(&text), [expected]);
}

#[test]
fn a_key_that_is_written_twice_has_both_places() {
    let text = with_spec("SysctlConfig", "parameters:\n  a.b: 1\n  a.c: 1\n  a.b: 2");
    assert_eq!(found(&text), ["8:5 spec.parameters[a.b] duplicate key, already set at 6:5; remove one of the two"]);
}

#[test]
fn headers_are_answered_each_in_its_own_way() {
    let other =
        |api_version: &str, kind: &str| found(&format!("apiVersion: {api_version}\nkind: {kind}\nspec: {{}}\n"));
    let reads = format!("this machineadm reads `{API_VERSION}`");
    assert_eq!(
        other(API_VERSION, "sysctlconfig"),
        ["2:7 kind unknown kind `sysctlconfig`; did you mean `SysctlConfig`?"]
    );
    assert_eq!(other(API_VERSION, "FileConfig"), ["2:7 kind unknown kind `FileConfig`; did you mean `FilesConfig`?"]);
    assert!(other(API_VERSION, "Pod")[0].starts_with("2:7 kind unknown kind `Pod`; known kinds: FilesConfig, "));
    let version = other("machineadm.cluster.x-k8s.io/v1", "FilesConfig");
    assert_eq!(version, [format!("1:13 apiVersion unknown version of machineadm's documents; {reads}")]);
    let near = other("machineadm.cluster.k8s.io/v1alpha1", "FilesConfig");
    assert_eq!(near, [format!("1:13 apiVersion unknown apiVersion; did you mean `{API_VERSION}`?")]);
    assert_eq!(other("v1", "Secret"), ["2:7 kind not checked: no plugin for Secret on this machine"]);
    assert_eq!(found("spec: {}\n").len(), 2);
    assert_eq!(found("kind: 5\napiVersion: 1\n"), ["1:7 kind must be text", "2:13 apiVersion must be text"]);
    assert_eq!(found("- a\n"), ["1:1  must be a mapping with `apiVersion`, `kind` and `spec`"]);
}

#[test]
fn metadata_is_checked_too() {
    let text = document("KernelModulesConfig", "metadata: {name: A, label: {}}\nspec: {modules: [a]}");
    let found = found(&text);
    assert!(found[0].starts_with("4:18 metadata.name must be lower-case letters"), "{found:?}");
    assert_eq!(found[1..], ["4:21 metadata.label unknown field; did you mean `labels`?"]);
}

#[test]
fn a_syntax_error_hides_no_other_document() {
    let text = with_spec("SysctlConfig", "parameter: {}") + "---\na: [b\n" + &with_spec("FilesConfig", "file: []");
    let found = found(&text);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[1].contains("not valid YAML"));
    assert!(found[2].starts_with("12:3 spec.file "));
}

#[test]
fn all_problems_of_all_files_come_in_their_order() {
    let first =
        with_spec("SysctlConfig", "parameters: {a: 1, b: 2}") + &with_spec("SysctlConfig", "parameters: {c.d: []}");
    let second = with_spec("KernelModulesConfig", "modules: [a/b]");
    let read = read(vec![source("a.yaml", first.as_bytes()), source("-", second.as_bytes())]);
    let places: Vec<_> = read.report.notes.iter().map(|n| (n.source.as_str(), n.document, n.path.as_str())).collect();
    let expected = [
        ("a.yaml", Some(1), "spec.parameters.a"),
        ("a.yaml", Some(1), "spec.parameters.b"),
        ("a.yaml", Some(2), "metadata.name"),
        ("a.yaml", Some(2), "spec.parameters[c.d]"),
        ("-", Some(1), "spec.modules[0]"),
    ];
    assert_eq!(places, expected);
}

#[test]
fn a_conflict_between_files_names_the_other_file() {
    let text = with_spec("FilesConfig", "files: [{path: /a, content: x}]");
    let read = read(vec![source("a.yaml", text.as_bytes()), source("b.yaml", text.as_bytes())]);
    assert_eq!(notes(&read), ["5:18 spec.files[0].path this file is also set by document 1 of a.yaml"]);
    assert_eq!(read.report.notes[0].source, "b.yaml");
}

#[test]
fn byte_order_marks_and_windows_line_ends_change_nothing() {
    let text = with_spec("FilesConfig", "files:\n- path: a\n  content: |\n    x");
    let changed = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(found(&changed), found(&text));
    assert_eq!(found(&text), ["6:11 spec.files[0].path must be an absolute path, starting with `/`"]);
}

#[test]
fn an_input_without_documents_is_an_error() {
    assert_eq!(found("# nothing\n---\n"), ["1:1  the input contains no document"]);
    assert_eq!(notes(&read(Vec::new())), ["1:1  the input contains no document"]);
}

#[test]
fn control_characters_and_other_encodings_are_refused() {
    assert!(found("a: b\nc: \0d")[0].starts_with("2:4  a control character"));
    assert!(notes(&read(vec![source("-", b"a: \xff")]))[0].starts_with("1:4  not UTF-8"));
    assert!(found("a: b\r---\rc: d\r")[0].contains("in the middle of a line"));
}

#[test]
fn anchors_tags_and_directives_are_refused() {
    assert!(found("a: &x b")[0].contains("anchors"));
    assert!(found("a: !!str b")[0].contains("tags"));
    assert!(found("%YAML 1.2\n---\n")[0].contains("directives"));
    assert!(found("? [a]\n: b")[0].contains("a key must be text"));
}

#[test]
fn a_report_for_programs_has_the_same_members() {
    let read = read_text(&with_spec("SysctlConfig", "parametres: {}"));
    let expected = serde_json::json!({"notes": [{
        "severity": "error", "source": "node.yaml", "line": 5, "column": 3, "document": 1, "kind": "SysctlConfig",
        "path": "spec.parametres", "message": "unknown field", "hint": "did you mean `parameters`?",
    }], "total": 1});
    assert_eq!(serde_json::to_value(&read.report).unwrap(), expected);
}

#[test]
fn an_invalid_enum_value_does_not_hide_the_other_problems_of_a_document() {
    let text = with_spec(
        "CommandsConfig",
        "commands:\n- {name: a, argv: [ls], run: onse, timeout: 25h, creates: x}\n- {name: B, argv: [ls]}",
    );
    let found = found(&text);
    let places: Vec<_> = found.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    let first = ["run", "timeout", "creates"].map(|field| format!("spec.commands[0].{field}"));
    assert_eq!(places, [&first[..], &["spec.commands[1].name".to_owned()]].concat(), "{found:?}");
    assert_eq!(found[0], "6:32 spec.commands[0].run must be `once` or `always`; did you mean `once`?");
}

#[test]
fn duplicate_command_names_are_reported_although_other_fields_are_invalid() {
    let first = with_spec("CommandsConfig", "commands: [{name: a, argv: [ls], timeout: 25h}, {name: a, argv: [ls]}]");
    let second = with_spec("CommandsConfig", "commands: [{name: b, shel: ls}, {name: a, argv: [ls], unles: x}]");
    let expected = [
        "5:45 spec.commands[0].timeout must be a duration from 1s to 24h, such as `90s`, `10m` or `1h30m`",
        "5:58 spec.commands[1].name is also the name of a command in this document",
        "10:24 spec.commands[0].shel unknown field; did you mean `shell`?",
        "10:42 spec.commands[1].name is also the name of a command in document 1",
        "10:57 spec.commands[1].unles unknown field; did you mean `unless`?",
    ];
    assert_eq!(found(&[first, second].concat()), expected);
}

#[test]
fn members_that_are_missing_or_of_another_type_are_one_problem_each() {
    let text = with_spec("FilesConfig", "files: [{content: x}, {content: x}, {path: [a], content: x, mode: '9'}, 5]");
    let found = found(&text);
    let places: Vec<_> = found.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    let files = ["[0].path", "[1].path", "[2].path", "[2].mode", "[3]"].map(|field| format!("spec.files{field}"));
    assert_eq!(places, files, "{found:?}");
}

#[test]
fn a_document_with_problems_is_compared_and_not_used() {
    let text = with_spec("FilesConfig", "files: [{path: /a, content: x, mode: '9'}]");
    let read = read_text(&(text.clone() + &text));
    assert!(read.documents.is_empty());
    assert_eq!(notes(&read).len(), 3, "{:?}", notes(&read));
}
