//! The answers of a container runtime: one after the other, each with its length in two bytes before it.
use crate::{Seen, Target};
use cri::{Answers, RuntimeReport};

pub(super) const TARGET: Target = Target {
    name: "runtime-report",
    inputs: 100_000,
    seeds,
    words: &["RuntimeReady", "NetworkReady", "config", "{\"sandboxImage\":\"a\"}", "lastCNILoadStatus", "OK"],
    read: target,
};

/// A field of a message that has a length: its number, the length, the bytes. All of them are short.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(content.len()).unwrap_or_default()], content].concat()
}

fn seeds() -> Vec<Vec<u8>> {
    let version = [field(2, b"containerd"), field(3, b"v2.4.2")].concat();
    let condition = [field(1, b"RuntimeReady"), field(4, b"no shim")].concat();
    let info = [field(1, b"config"), field(2, br#"{"sandboxImage":"a/pause:1"}"#)].concat();
    let status = [field(1, &field(1, &condition)), field(2, &info)].concat();
    let config = field(1, &[8, 1]);
    let images = field(1, &[field(2, b"a/b:1"), vec![64, 1]].concat());
    let part = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap_or_default().to_be_bytes(), bytes].concat();
    vec![[version, status, config, images].iter().flat_map(|answer| part(answer)).collect(), Vec::new()]
}

/// It ends, and reads the same twice.
fn target(input: &[u8]) -> Seen {
    let mut rest = input;
    let mut next = || {
        let (length, after) =
            rest.split_first_chunk().map_or((0, &[][..]), |(length, after)| (u16::from_be_bytes(*length), after));
        let (answer, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        answer.to_vec()
    };
    let answers = Answers { version: next(), status: next(), config: Some(next()), images: next() };
    let (once, again) = (RuntimeReport::read(&answers), RuntimeReport::read(&answers));
    match (once, again) {
        (Ok(once), Ok(again)) => {
            assert_eq!(once, again);
            Seen::new((once.not_ready.is_some(), once.sandbox_image.is_some(), once.images.len()))
        }
        (Err(once), Err(again)) => {
            assert_eq!(once.to_string(), again.to_string());
            Seen::new(once.to_string())
        }
        other => panic!("{other:?}"),
    }
}
