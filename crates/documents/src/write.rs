//! Documents as text, for programs that make them.
use crate::{Document, Secret};
use objects::yaml;
use serde::Serialize;
use std::mem;

/// The text of a whole document, as [`read`](crate::read()) takes it. It holds the document's secrets.
pub fn write<D: Document + Serialize>(name: Option<&str>, spec: &D) -> Secret<String> {
    #[derive(Serialize)]
    struct Rest<'a, D> {
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata<'a>>,
        spec: &'a D,
    }
    #[derive(Serialize)]
    struct Metadata<'a> {
        name: &'a str,
    }
    let head = format!("apiVersion: {}\nkind: {}", D::API_VERSION, D::KIND);
    let rest = Rest { metadata: name.map(|name| Metadata { name }), spec };
    // The kinds' types have no member that memory could refuse, and JSON's strings are UTF-8.
    let mut text = yaml::write_behind(&head, &rest).unwrap_or_default();
    Secret::new(String::from_utf8(mem::take(&mut *text)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyDocument, KINDS,
        testing::{parsed, read_text},
        v1alpha1::{
            CommandEntry, CommandsConfig, FileEntry, FilesConfig, InitConfig, Parameters, Program, SysctlConfig,
        },
    };
    use proptest::{prelude::*, sample::select};

    /// What a text comes to, if nothing is wrong with it.
    fn body(text: &str) -> AnyDocument {
        let mut read = read_text(text);
        assert!(!read.report.has_errors(), "{}\n{text}", read.report);
        read.documents.remove(0).body
    }

    #[test]
    fn every_example_is_the_same_once_it_is_written_and_read_again() {
        for kind in KINDS {
            let text = (kind.rewritten)(&parsed(kind.example)).unwrap();
            let read = read_text(text.expose());
            assert!(!read.report.has_errors(), "{}", read.report);
            let example = read_text(kind.example);
            assert_eq!(read.documents[0].body, example.documents[0].body, "{}", text.expose());
            assert_eq!(read.documents[0].name, example.documents[0].name, "{}", kind.kind);
        }
    }

    #[test]
    fn a_written_document_reads_as_people_write_it() {
        let file = FileEntry {
            path: "/etc/motd".into(),
            content: Some(Secret::new("hello\n".into())),
            ..FileEntry::default()
        };
        let text = write(Some("motd"), &FilesConfig { files: vec![file] });
        let expected = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
metadata:
  name: \"motd\"
spec:
  files:
    - path: \"/etc/motd\"
      content: \"hello\\n\"
";
        assert_eq!(text.expose(), expected);
        assert_eq!(format!("{text:?}"), "[secret]");
    }

    #[test]
    fn a_spec_does_not_show_its_secrets() {
        let file = FileEntry { content: Some(Secret::new("hunter2".into())), ..FileEntry::default() };
        let shell = Some(Secret::new("hunter2".into()));
        let command = CommandEntry { unless: shell.clone(), shell, ..CommandEntry::default() };
        let shown = format!("{:?}{:?}", FilesConfig { files: vec![file] }, CommandsConfig { commands: vec![command] });
        assert!(shown.contains("[secret]") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn parameters_keep_their_order() {
        let pairs = ["z.b", "a.b", "m.b"].map(|name| (name.to_owned(), "1".to_owned()));
        let text = write(None, &SysctlConfig { parameters: Parameters(pairs.to_vec()) });
        let AnyDocument::Sysctl(parameters) = body(text.expose()) else { panic!() };
        assert_eq!(parameters.iter().map(|one| one.key.as_str()).collect::<Vec<_>>(), ["z.b", "a.b", "m.b"]);
    }

    /// Text that readers of YAML like to take for something else.
    fn awkward() -> impl Strategy<Value = String> {
        let words = [
            "on",
            "no",
            "1e3",
            "0x1F",
            "0644",
            "~",
            "null",
            "true",
            "",
            " ",
            "a: b",
            "- a",
            "#",
            "'",
            "\"",
            "\\",
            "|",
            "a\nb",
            "\n",
            "a\r\nb\t",
            "---\n",
            "...",
            "%YAML",
            "&a",
            "*a",
            "!!str",
            "{",
            "]",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "ä😀",
            "\u{7f}",
            "\u{9b}",
            "\u{ffff}",
            "@",
            "`",
            "?",
            ".inf",
            "2026-11-16",
        ];
        prop_oneof![
            select(words.to_vec()).prop_map(str::to_owned),
            prop::collection::vec(select(words.to_vec()), 0..6).prop_map(|words| words.concat()),
            any::<String>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn awkward_text_stays_what_it_is(text in awkward(), other in awkward()) {
            let file = FileEntry { path: "/a".into(), content: Some(Secret::new(text.clone())), ..FileEntry::default() };
            let written = write(None, &FilesConfig { files: vec![file] });
            let AnyDocument::Files(files) = body(written.expose()) else { panic!() };
            prop_assert_eq!(files[0].file().unwrap().contents.expose(), text.as_bytes());

            let (text, other) = (text.replace('\0', "0"), other.replace('\0', "0"));
            let command = CommandEntry {
                name: "a".into(),
                argv: Some(vec!["ls".into(), text.clone()]),
                environment: Some([("A".to_owned(), Secret::new(other.clone()))].into()),
                ..CommandEntry::default()
            };
            let written = write(None, &CommandsConfig { commands: vec![command] });
            let AnyDocument::Commands(commands) = body(written.expose()) else { panic!() };
            prop_assert_eq!(&commands[0].program, &Program::Argv(vec!["ls".into(), text.clone()]));
            prop_assert_eq!(commands[0].environment["A"].expose(), &other);
        }

        #[test]
        fn members_that_are_passed_on_stay_what_they_are(key in awkward(), text in awkward(), number: i64, real: f32) {
            // What stands in double braces is a value of the machine.
            let (key, text) = (key.replace("{{", "{"), text.replace("{{", "{"));
            let members = serde_json::json!({
                "clusterDNS": [text, key], "registerWithTaints": [], "authentication": {"webhook": {"enabled": true}},
                "podPidsLimit": number, "memoryThrottlingFactor": f64::from(real),
                "reservedMemory": [{"limits": {"memory": u64::MAX}}],
                "staticPodURLHeader": {format!("x{key}"): [text]},
            });
            let members = members.as_object().unwrap().clone();
            let init = InitConfig { kubernetes_version: "v1.36.4".into(), kubelet: members.clone(), ..InitConfig::default() };
            let AnyDocument::Init(init) = body(write(None, &init).expose()) else { panic!() };
            prop_assert_eq!(init.kubelet, members);
        }
    }
}
