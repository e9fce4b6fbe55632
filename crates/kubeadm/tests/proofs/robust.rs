//! Whatever the text is, reading it ends with problems or documents, never with a panic.
use crate::support::vectors;
use machineadm_kubeadm::{Rules, Source, Strictness, Target, check, convert, read};
use proptest::prelude::*;

/// Cuts, doubles and replaces parts of a text.
fn spoiled(text: &str, cuts: &[(u16, u8, char)]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for (place, length, letter) in cuts {
        let at = usize::from(*place) % (letters.len() + 1);
        let end = (at + usize::from(*length % 8)).min(letters.len());
        letters.splice(at..end, [*letter]);
    }
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_spoiled_file_never_panics(
        place in any::<prop::sample::Index>(),
        cuts in prop::collection::vec((any::<u16>(), any::<u8>(), prop::sample::select(
            vec!['-', ':', ' ', '\n', '[', '{', '&', '*', '!', '|', '"', '\'', '#', '%', '\t', 'x', '0', '\0', 'ü'],
        )), 1..6),
    ) {
        let vectors = vectors("reader", ".yaml");
        let text = spoiled(&vectors[place.index(vectors.len())].text, &cuts);
        for strictness in [Strictness::Strict, Strictness::Tolerant] {
            let read = read(&[Source { name: "spoiled", text: &text }], Rules { strictness, minor: None });
            check(&read.documents, Some(36));
            convert(&read.documents, &Target::new("1.21.0").expect("a version"));
        }
    }
}

#[test]
fn bombs_are_refused() {
    let head = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n";
    let bombs = [
        format!("{head}a: {}", "[".repeat(500_000)),
        format!("{head}a: {}", "{a: ".repeat(200_000)),
        format!("{head}a: [{}]", "x,".repeat(400_000)),
        format!("{head}a: [{}]", "{b: c},".repeat(100_000)),
        format!("{head}a: \"{}", "\\u0041".repeat(150_000)),
        format!("{head}a: &a [x]\n{}", "b: [*a,*a]\n".repeat(60_000)),
        format!("{head}a: [{}]", "\"x\": y,".repeat(100_000)),
        format!("{head}a: {{{}}}", "? x : y, ".repeat(100_000)),
        "---\n".repeat(200_000),
    ];
    for bomb in bombs {
        let rules = Rules { strictness: Strictness::Strict, minor: None };
        let read = read(&[Source { name: "bomb", text: &bomb }], rules);
        assert!(read.has_errors(), "{}", &bomb[..100]);
    }
}
