//! Small changes to an input: flipped bits, words of the reader, pieces moved, doubled, cut and taken from elsewhere.
use crate::random::Random;

/// Longer inputs only cost time: limits on size are met by doubling before.
const LARGEST: usize = 256 << 10;
const ODD_BYTES: &[u8] = b"\0\n\r\t -:.#&*!|>'\"%@`{}[],?=/\\\x7f\x80\xff\x1f\x8b09azAZ";
const ODD_WORDS: &[&str] =
    &["---\n", "...\n", "null", "true", "-1", "0", "1e999", "18446744073709551616", "\u{feff}", "\u{0}", "{}", "[]"];

/// Changes an input a few times.
pub(crate) fn mutate(input: &mut Vec<u8>, other: &[u8], words: &[&str], random: &mut Random) {
    for _ in 0..=random.below(4) {
        once(input, other, words, random);
    }
    input.truncate(LARGEST);
}

fn once(input: &mut Vec<u8>, other: &[u8], words: &[&str], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(9) {
        0 => flip(input, random),
        1 => set(input, *random.pick(ODD_BYTES).unwrap_or(&0), random),
        2 => drop(input.splice(at..at, random.pick(words).unwrap_or(&"").bytes())),
        3 => drop(input.splice(at..at, random.pick(ODD_WORDS).unwrap_or(&"").bytes())),
        4 => drop(input.drain(piece(input.len(), random))),
        5 => {
            let doubled = input[piece(input.len(), random)].to_vec();
            input.splice(at..at, doubled);
        }
        6 => {
            let taken = &other[piece(other.len(), random)];
            input.splice(at..at, taken.iter().copied());
        }
        7 => input.truncate(at),
        _ => {
            let word = random.pick(words).unwrap_or(&"").as_bytes().to_vec();
            input.splice(piece(input.len(), random), word);
        }
    }
}

fn flip(input: &mut [u8], random: &mut Random) {
    let at = random.below(input.len());
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn set(input: &mut [u8], byte: u8, random: &mut Random) {
    let at = random.below(input.len());
    if let Some(old) = input.get_mut(at) {
        *old = byte;
    }
}

/// Mostly short, sometimes anything.
fn piece(length: usize, random: &mut Random) -> std::ops::Range<usize> {
    let from = random.below(length + 1);
    let most = if random.below(4) == 0 { length - from } else { (length - from).min(16) };
    from..from + random.below(most + 1)
}
