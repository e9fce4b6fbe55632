//! The stream of documents: one or more sources, plain or gzip, each split at its document markers.
use crate::{
    findings::Problem,
    gzip::{self, Refused},
    limits::{Budget, TEXT_BYTES, spend},
    tree::Place,
};
use std::fmt;
use zeroize::Zeroizing;

/// What was read from one place.
pub struct Source {
    /// The file's name, or `-` for standard input.
    pub name: String,
    /// Its bytes, plain or gzip.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("bytes", &"[secret]").finish()
    }
}

/// The text of one document, with its marker line if it has one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// Counted from 1 within its source; empty documents don't count.
    pub(crate) number: usize,
    /// The line of the source on which the text begins, counted from 1.
    pub(crate) line: usize,
    pub(crate) text: &'a str,
}

/// The bytes of a source as text, decompressed; the byte order mark stays for [`split`] to skip.
pub(crate) fn plain(bytes: Zeroizing<Vec<u8>>, budget: &mut Budget) -> Result<Zeroizing<Vec<u8>>, Problem> {
    let refused = |message: String| Problem::error(Place::START, "", message);
    let too_large = || refused(format!("more than {} KiB of configuration", TEXT_BYTES >> 10));
    let text = match gzip::is_gzip(&bytes) {
        false => bytes,
        true => gzip::gunzip(&bytes, budget.text_bytes).map_err(|why| match why {
            Refused::Damaged => refused("starts like gzip, but cannot be decompressed".to_owned()),
            Refused::TooLarge => too_large(),
            Refused::Bomb => refused("compression ratio too high: refused as a decompression bomb".to_owned()),
        })?,
    };
    spend(&mut budget.text_bytes, text.len()).ok_or_else(too_large)?;
    Ok(text)
}

/// The text that these bytes are.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = String::from_utf8_lossy(before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default());
        let place = Place { line, column: column.chars().count() + 1 };
        Problem::error(place, "", "not UTF-8").hint("binary contents go into a file as base64")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Splits a text into its documents. A line that begins with `---` or `...` is a marker wherever it stands in YAML.
/// Each document is parsed by itself, so that a syntax error in one does not hide the problems of the others.
pub(crate) fn split(text: &str) -> (Vec<Piece<'_>>, Vec<Problem>) {
    let mut splitter = Splitter { text, from: 0, from_line: 1, pieces: Vec::new(), problems: Vec::new() };
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        if is_marker(line, "---") {
            splitter.cut(at, at, number);
        } else if is_marker(line, "...") {
            if !is_blank(&line[3..]) {
                let place = Place { line: number, column: 4 };
                splitter.problems.push(Problem::error(place, "", "after `...` only a comment may follow"));
            }
            splitter.cut(at, at + line.len(), number + 1);
        }
        at += line.len();
    }
    splitter.cut(text.len(), text.len(), 0);
    (splitter.pieces, splitter.problems)
}

struct Splitter<'a> {
    text: &'a str,
    from: usize,
    from_line: usize,
    pieces: Vec<Piece<'a>>,
    problems: Vec<Problem>,
}

impl Splitter<'_> {
    /// Ends the document at one byte and begins the next at another.
    fn cut(&mut self, end: usize, next: usize, next_line: usize) {
        let text = &self.text[self.from..end];
        let line = self.from_line;
        (self.from, self.from_line) = (next, next_line);
        if let Some(index) = text.lines().position(|line| !is_blank(line))
            && text.lines().nth(index).is_some_and(|line| line.starts_with('%'))
        {
            let place = Place { line: line + index, column: 1 };
            let problem = Problem::error(place, "", "directives (`%`) are not accepted");
            self.problems.push(problem.hint("remove this line"));
            return;
        }
        let body = if is_marker(text, "---") { &text[3..] } else { text };
        if !body.lines().all(is_blank) {
            self.pieces.push(Piece { number: self.pieces.len() + 1, line, text });
        }
    }
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

fn is_blank(line: &str) -> bool {
    let line = line.trim_ascii_start();
    line.is_empty() || line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(usize, usize, &str)> {
        split(text).0.into_iter().map(|piece| (piece.number, piece.line, piece.text)).collect()
    }

    #[test]
    fn documents_are_split_at_their_markers() {
        assert_eq!(pieces("a: 1\n---\nb: 2\n"), [(1, 1, "a: 1\n"), (2, 2, "---\nb: 2\n")]);
        assert_eq!(pieces("--- # first\na: 1\n...\n\nb: 2"), [(1, 1, "--- # first\na: 1\n"), (2, 4, "\nb: 2")]);
        assert_eq!(pieces("a: 1\r\n---\r\nb: 2\r\n"), [(1, 1, "a: 1\r\n"), (2, 2, "---\r\nb: 2\r\n")]);
    }

    #[test]
    fn empty_documents_are_not_counted() {
        assert_eq!(pieces("# only a comment\n---\n---  # and another\n\n---\na: 1\n---\n"), [(1, 5, "---\na: 1\n")]);
    }

    #[test]
    fn a_longer_line_of_dashes_is_no_marker() {
        assert_eq!(pieces("----\n---a\n").len(), 1);
    }

    #[test]
    fn a_directive_is_refused_with_its_place() {
        let (pieces, problems) = split("# c\n%YAML 1.2\n---\na: 1\n");
        assert_eq!(pieces.len(), 1);
        assert_eq!((problems[0].place.line, problems[0].place.column), (2, 1));
    }

    #[test]
    fn what_follows_the_end_of_a_document_is_not_lost() {
        assert_eq!(split("a: 1\n... b: 2\n").1.len(), 1);
    }

    #[test]
    fn a_byte_that_is_not_utf8_is_placed() {
        let problem = utf8(b"a: 1\nb: \xff").unwrap_err();
        assert_eq!((problem.place.line, problem.place.column), (2, 4));
    }

    #[test]
    fn a_source_does_not_show_its_bytes() {
        let source = Source { name: "-".into(), bytes: Zeroizing::new(b"hunter2".to_vec()) };
        assert_eq!(format!("{source:?}"), r#"Source { name: "-", bytes: "[secret]" }"#);
    }
}
