//! Small inputs that would become large, deep or endless are refused at a limit.
use crate::{
    gzip::compress,
    limits::{DEPTH, DOCUMENTS, NODES, NOTES, TEXT_BYTES},
    read,
    testing::{read_text, source, with_spec},
};

fn refused(bytes: &[u8], why: &str) {
    let read = read(vec![source("-", bytes)]);
    let messages: Vec<_> = read.report.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(messages.iter().any(|message| message.contains(why)), "{messages:?}");
}

#[test]
fn an_alias_bomb_is_refused_at_its_first_anchor() {
    let levels: String = ('b'..='z').map(|c| format!("{c}: &{c} [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n")).collect();
    refused(format!("a: &a [lol,lol,lol]\n{levels}").as_bytes(), "anchors");
}

#[test]
fn a_deep_document_is_refused() {
    let nested: String = (0..=DEPTH).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    refused(format!("{nested}{}b: c\n", " ".repeat(DEPTH + 1)).as_bytes(), "deep");
    refused("- ".repeat(TEXT_BYTES / 2).as_bytes(), "deep");
    refused("[".repeat(1000).as_bytes(), "deep");
    refused("[".repeat(TEXT_BYTES).as_bytes(), "too many values inside");
    refused(format!("{}{}", "[".repeat(DEPTH + 1), "]".repeat(DEPTH + 1)).as_bytes(), "deep");
}

#[test]
fn a_gzip_bomb_is_refused() {
    refused(&compress(&vec![b'#'; 64 << 20]), "configuration");
    refused(&compress(&vec![b'#'; TEXT_BYTES - 1]), "decompression bomb");
    refused(&compress(&compress(&vec![b'#'; 64 << 20])), "not UTF-8");
}

#[test]
fn a_large_input_is_refused_also_in_parts() {
    refused(&vec![b'#'; TEXT_BYTES + 1], "more than 1024 KiB");
    let half = vec![b'#'; TEXT_BYTES / 2 + 1];
    let read = read(vec![source("a", &half), source("b", &half)]);
    assert_eq!(read.report.notes[0].source, "b");
}

#[test]
fn many_nodes_are_refused_also_over_several_documents() {
    let items = |count| format!("---\na:\n{}", "- b\n".repeat(count));
    refused(items(NODES).as_bytes(), "too many keys and values");
    refused(items(NODES / 2).repeat(2).as_bytes(), "too many keys and values");
}

#[test]
fn a_wide_collection_in_brackets_is_refused_before_the_parser_holds_it() {
    for part in ["a,", "a:,", "\"\"", "? ", "a: b,", "[],"] {
        refused(format!("[{}", part.repeat(TEXT_BYTES / part.len() - 1)).as_bytes(), "too many values inside");
    }
}

#[test]
fn many_documents_are_refused() {
    refused("---\napiVersion: example.com/v1\nkind: A\n".repeat(DOCUMENTS + 1).as_bytes(), "more than 256 documents");
}

#[test]
fn many_problems_are_listed_up_to_a_limit() {
    let report =
        read_text(&with_spec("KernelModulesConfig", &format!("modules:\n{}", "- a/b\n".repeat(20_000)))).report;
    assert_eq!((report.notes.len(), report.total), (NOTES, 20_000));
}
