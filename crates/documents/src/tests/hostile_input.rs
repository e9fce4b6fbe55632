//! Whatever the bytes are, reading ends with a report.
use crate::{KINDS, read, testing::source};
use proptest::{prelude::*, sample::select};

fn reads(bytes: &[u8]) {
    let read = read(vec![source("-", bytes)]);
    assert!(!read.documents.is_empty() || read.report.has_errors(), "neither documents nor problems");
    assert!(read.report.notes.iter().all(|note| note.line >= 1 && note.column >= 1), "{:?}", read.report);
    _ = (read.report.to_string(), format!("{read:?}"));
}

/// Parts that YAML and our documents are made of, so that chance finds more than syntax errors.
fn yaml_parts() -> impl Strategy<Value = String> {
    let parts = [
        "a",
        "b: ",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        ": ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "? ",
        "|",
        ">",
        "\n---\n",
        "\n...\n",
        "#",
        "'",
        "\"",
        "&a ",
        "*a",
        "!t ",
        "~",
        "0644",
        "%",
        "\t",
        "\r",
        "\u{85}",
        "\u{feff}",
        "ä",
        "apiVersion: ",
        "kind: ",
        "machineadm.cluster.x-k8s.io/v1alpha1",
        "FilesConfig",
        "metadata: ",
        "name: ",
        "spec: ",
        "files: ",
        "path: ",
        "<<: ",
    ];
    prop::collection::vec(select(parts.to_vec()), 0..60).prop_map(|parts| parts.concat())
}

/// An example with some bytes dropped, doubled or replaced.
fn mutated_example() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0..4u8, any::<u8>());
    (0..KINDS.len(), prop::collection::vec(change, 1..8)).prop_map(|(kind, changes)| {
        let mut bytes = KINDS[kind].example.as_bytes().to_vec();
        for (index, how, byte) in changes {
            let at = index.index(bytes.len());
            match how {
                0 => _ = bytes.remove(at),
                1 => bytes.insert(at, byte),
                2 => bytes[at] = byte,
                _ => {
                    let line = bytes[at..].split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default().to_vec();
                    bytes.splice(at..at, line);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'\n');
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_read_to_a_report(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        reads(&bytes);
    }

    #[test]
    fn arbitrary_yaml_is_read_to_a_report(text in yaml_parts()) {
        reads(text.as_bytes());
    }

    #[test]
    fn changed_examples_are_read_to_a_report(bytes in mutated_example()) {
        reads(&bytes);
    }

    #[test]
    fn damaged_gzip_is_read_to_a_report(mut bytes in mutated_example(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        bytes = crate::gzip::compress(&bytes);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        reads(&bytes);
    }
}
