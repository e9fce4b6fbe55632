//! PEM (RFC 7468), block by block, so that one bad block doesn't hide the next. Text outside of blocks is a comment.
use base64::{Engine, engine::general_purpose::STANDARD};
use std::iter;
use zeroize::Zeroizing;

/// The label of a certificate's block.
pub const CERTIFICATE: &str = "CERTIFICATE";
const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
/// Letters of a line.
const WIDTH: usize = 64;

/// A block, from its BEGIN line to its END line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// Which block of the text it is, counted from 1.
    pub number: usize,
    /// What it says that it holds, such as `CERTIFICATE`; empty where its BEGIN line has no end.
    pub label: &'a str,
    /// The lines between; none, if there is no END line with the same label before the next block.
    body: Option<&'a [u8]>,
}

/// Why a block can't be read. Blocks are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PemError {
    /// It doesn't end.
    #[error("block {0} has no END line that fits its BEGIN line")]
    Open(usize),
    /// What stands between its lines is something else.
    #[error("block {0} is not valid base64")]
    Base64(usize),
}

impl Block<'_> {
    /// Whether its headers (RFC 1421) say that a passphrase encrypts it, as OpenSSL writes keys in their older forms.
    pub fn is_encrypted(&self) -> bool {
        let is_header = |line: &[u8]| line.starts_with(b"Proc-Type:") && line.trim_ascii_end().ends_with(b"ENCRYPTED");
        self.body.is_some_and(|body| body.split(|letter| *letter == b'\n').any(is_header))
    }

    /// The bytes that it holds. They are wiped after use, since they may be a key.
    pub fn der(&self) -> Result<Zeroizing<Vec<u8>>, PemError> {
        let body = self.body.ok_or(PemError::Open(self.number))?;
        let body = if self.is_encrypted() { body } else { without_headers(body) };
        let mut text = Zeroizing::new(Vec::with_capacity(body.len()));
        text.extend(body.iter().filter(|letter| !letter.is_ascii_whitespace()));
        STANDARD.decode(&*text).map(Zeroizing::new).map_err(|_| PemError::Base64(self.number))
    }
}

/// What follows the headers of a body (RFC 1421): lines with a colon, and an empty line after them.
fn without_headers(body: &[u8]) -> &[u8] {
    let mut rest = body;
    while let Some((line, after)) = first_line(rest) {
        match (line.is_empty(), line.contains(&b':')) {
            (true, _) | (_, true) => rest = after,
            (false, false) => break,
        }
    }
    rest
}

/// Whether a block of a text starts behind white space: Go, and so Kubernetes, does not see such a block.
pub fn has_indented_block(text: &[u8]) -> bool {
    let is_indented = |line: &[u8]| line.trim_ascii_start().starts_with(BEGIN) && !line.starts_with(BEGIN);
    text.split(|letter| matches!(letter, b'\n' | b'\r')).any(is_indented)
}

/// The blocks of a text.
pub fn blocks(text: &[u8]) -> impl Iterator<Item = Block<'_>> {
    let mut rest = text;
    let numbered = iter::from_fn(move || {
        loop {
            let (line, after) = first_line(rest)?;
            rest = after;
            if let Some(label) = line.strip_prefix(BEGIN) {
                let body;
                (body, rest) = body_of(label, rest);
                break Some((label_of(label).unwrap_or_default(), body));
            }
        }
    });
    numbered.zip(1..).map(|((label, body), number)| Block { number, label, body })
}

/// The DER of every certificate. Whole blocks of other kinds are passed over.
pub fn certificates(text: &[u8]) -> Result<Vec<Vec<u8>>, PemError> {
    let mut found = Vec::new();
    for block in blocks(text) {
        match block.label {
            CERTIFICATE => found.push(std::mem::take(&mut *block.der()?)),
            _ if block.body.is_none() => return Err(PemError::Open(block.number)),
            _ => {}
        }
    }
    Ok(found)
}

/// A block that holds these bytes. They are not wiped: it is for what may be shown.
pub fn encode(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines = text.as_bytes().chunks(WIDTH).map(|line| String::from_utf8_lossy(line) + "\n");
    format!("-----BEGIN {label}-----\n{}-----END {label}-----\n", lines.collect::<String>())
}

/// A line without white space around it, and what follows it.
fn first_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|letter| matches!(letter, b'\n' | b'\r'));
    let (line, rest) = text.split_at_checked(end.unwrap_or(text.len())).filter(|_| !text.is_empty())?;
    Some((line.trim_ascii(), rest.get(1..).unwrap_or_default()))
}

/// What stands before the END line of this label, and what follows that line. Without one nothing is taken.
fn body_of<'a>(label: &[u8], text: &'a [u8]) -> (Option<&'a [u8]>, &'a [u8]) {
    let mut rest = text;
    while let Some((line, after)) = first_line(rest) {
        if line.strip_prefix(END) == Some(label) && label_of(label).is_some() {
            return (Some(&text[..text.len() - rest.len()]), after);
        }
        if line.starts_with(DASHES) {
            break;
        }
        rest = after;
    }
    (None, text)
}

fn label_of(rest_of_line: &[u8]) -> Option<&str> {
    std::str::from_utf8(rest_of_line.strip_suffix(DASHES)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Number, label and content.
    type Read<'a> = (usize, &'a str, Result<Vec<u8>, PemError>);

    fn read(text: &str) -> Vec<Read<'_>> {
        blocks(text.as_bytes()).map(|block| (block.number, block.label, block.der().map(|der| der.to_vec()))).collect()
    }

    #[test]
    fn blocks_are_found_among_comments_with_any_line_ends_and_indentation() {
        let text = "subject: x\n-----BEGIN A B-----\nAAEC\n-----END A B-----\n\nissuer\r\n  -----BEGIN C-----\r\n \
            AA\r\n ==\r\n\t-----END C----- \r\n-----BEGIN D-----\r-----END D-----";
        assert_eq!(read(text), [(1, "A B", Ok(vec![0, 1, 2])), (2, "C", Ok(vec![0])), (3, "D", Ok(vec![]))]);
        assert_eq!(read(""), []);
        assert_eq!(read("BEGIN\n----BEGIN A-----\n-----END A-----\n"), []);
    }

    #[test]
    fn a_block_that_does_not_end_hides_no_other() {
        let good = "-----BEGIN B-----\nAA==\n-----END B-----\n";
        for bad in [
            "-----BEGIN A-----\nAA==\n",
            "-----BEGIN A-----\nAA==\n-----END X-----\n",
            "-----BEGIN A-----\nAA==\n-----END A----\n",
        ] {
            let text = format!("{bad}{good}");
            assert_eq!(read(&text), [(1, "A", Err(PemError::Open(1))), (2, "B", Ok(vec![0]))], "{text}");
        }
        for begin in ["-----BEGIN A----", "-----BEGIN -"] {
            let text = format!("{begin}\nAA==\n{}\n", begin.replace("BEGIN", "END"));
            assert_eq!(read(&text), [(1, "", Err(PemError::Open(1)))], "{text}");
        }
        assert_eq!(
            blocks(b"-----BEGIN \xff-----\n-----END \xff-----").map(|block| block.label).collect::<Vec<_>>(),
            [""]
        );
    }

    #[test]
    fn what_is_no_base64_is_named_by_its_block() {
        for body in ["!", "A", "AA=", "Proc-Type: 4,ENCRYPTED\n\nAA=="] {
            let text = format!("-----BEGIN A-----\n-----END A-----\n-----BEGIN A-----\n{body}\n-----END A-----");
            assert_eq!(read(&text)[1].2, Err(PemError::Base64(2)), "{body}");
        }
        assert_eq!(PemError::Base64(2).to_string(), "block 2 is not valid base64");
    }

    #[test]
    fn headers_are_passed_over_and_indentation_is_seen() {
        let text = "-----BEGIN A-----\nComment: x\nOther: y\n\nAA==\n-----END A-----\n";
        assert_eq!(read(text), [(1, "A", Ok(vec![0]))]);
        assert!(!has_indented_block(text.as_bytes()) && has_indented_block(format!(" {text}").as_bytes()));
    }

    #[test]
    fn only_certificates_are_taken_and_only_of_a_whole_text() {
        let (key, one) = (encode("PRIVATE KEY", &[1]), encode(CERTIFICATE, &[2]));
        assert_eq!(certificates(format!("{key}{one}{one}").as_bytes()), Ok(vec![vec![2]; 2]));
        let cut = &key[..key.len() - 3];
        assert_eq!(certificates(format!("{one}{cut}").as_bytes()), Err(PemError::Open(2)));
        assert_eq!(certificates(one.replace("Ag==", "?").as_bytes()), Err(PemError::Base64(1)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]
        #[test]
        fn what_is_written_is_read_back_in_lines_of_64(der in proptest::collection::vec(any::<u8>(), 0..300)) {
            let text = encode(CERTIFICATE, &der);
            prop_assert!(text.lines().all(|line| line.len() <= 64));
            prop_assert_eq!(certificates(text.as_bytes()), Ok(vec![der]));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "(-----|BEGIN |END |A|=|\n|\r| |\u{ff}){0,40}") {
            for block in blocks(text.as_bytes()) {
                let _ = block.der();
            }
        }
    }
}
