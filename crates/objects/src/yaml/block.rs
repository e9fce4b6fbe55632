//! YAML in indented lines, with every text in double quotes: what each reader of YAML takes for the same.
use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};
use std::{io, mem};
use zeroize::Zeroizing;

/// Writes a value behind a text, from a new line on. No copy of it stays in memory.
pub fn write_behind<T: Serialize>(head: &str, value: &T) -> serde_json::Result<Zeroizing<Vec<u8>>> {
    write_with(head, value, Lines::Quoted)
}

/// How texts of several lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Lines {
    /// In quotes, on one line.
    #[default]
    Quoted,
    /// As a literal block (`|`), where every reader reads it back unchanged.
    Literal,
}

pub(super) fn write_with<T: Serialize>(head: &str, value: &T, lines: Lines) -> serde_json::Result<Zeroizing<Vec<u8>>> {
    let mut sink = Sink::default();
    sink.push(head.as_bytes());
    value.serialize(&mut Serializer::with_formatter(&mut sink, Block { lines, ..Block::default() }))?;
    sink.push(b"\n");
    Ok(sink.into_inner())
}

/// A text that grows without leaving copies behind.
#[derive(Debug, Default)]
pub struct Sink(Zeroizing<Vec<u8>>);

impl Sink {
    /// The text.
    pub fn into_inner(self) -> Zeroizing<Vec<u8>> {
        self.0
    }

    fn push(&mut self, bytes: &[u8]) {
        let needed = self.0.len() + bytes.len();
        if needed > self.0.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity(needed * 2));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
    }
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What follows a key or a dash is on the next line: no line ends with a space.
        if bytes.first() == Some(&b'\n') && self.0.last() == Some(&b' ') {
            self.0.pop();
        }
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// JSON's events as indented lines; JSON's strings are YAML's too.
#[derive(Default)]
struct Block {
    open: Vec<Open>,
    /// Whether a dash was written and nothing behind it.
    after_dash: bool,
    /// The key that is being written, with its escapes.
    key: Option<Vec<u8>>,
    lines: Lines,
    /// The text that is being written and may become a literal block.
    text: Option<Text>,
}

/// A text, as it is and with its escapes.
#[derive(Default)]
struct Text {
    raw: Sink,
    escaped: Sink,
}

/// A mapping or list that has not ended.
struct Open {
    is_empty: bool,
    /// Its first line begins behind a dash.
    after_dash: bool,
}

impl Block {
    fn begin(&mut self) {
        let after_dash = mem::take(&mut self.after_dash);
        self.open.push(Open { is_empty: true, after_dash });
    }

    fn end<W: ?Sized + io::Write>(&mut self, writer: &mut W, nothing: &str) -> io::Result<()> {
        match self.open.pop() {
            Some(Open { is_empty: true, .. }) => writer.write_all(nothing.as_bytes()),
            _ => Ok(()),
        }
    }

    /// Begins the line of a member or an item.
    fn line<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let depth = self.open.len().saturating_sub(1);
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        if mem::take(&mut open.is_empty) && open.after_dash {
            return Ok(());
        }
        writer.write_all(format!("\n{:1$}", "", depth * 2).as_bytes())
    }
}

impl Formatter for Block {
    fn begin_array<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.begin();
        Ok(())
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, _: bool) -> io::Result<()> {
        self.line(writer)?;
        self.after_dash = true;
        writer.write_all(b"- ")
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.after_dash = false;
        Ok(())
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, "[]")
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.begin();
        Ok(())
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, _: bool) -> io::Result<()> {
        self.key = Some(Vec::new());
        self.line(writer)
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let key = self.key.take().unwrap_or_default();
        let quote: &[u8] = if is_plain(&key) { b"" } else { b"\"" };
        [quote, &key, quote].into_iter().try_for_each(|part| writer.write_all(part))
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, "{}")
    }

    fn begin_string<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        match (&self.key, self.lines) {
            (Some(_), _) => Ok(()),
            (None, Lines::Quoted) => writer.write_all(b"\""),
            (None, Lines::Literal) => {
                self.text = Some(Text::default());
                Ok(())
            }
        }
    }

    fn end_string<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let Some(Text { raw, escaped }) = self.text.take() else { return self.begin_string(writer) };
        match std::str::from_utf8(&raw.0) {
            Ok(text) if !self.open.is_empty() && is_literal(text) => literal(writer, text, self.open.len() * 2),
            _ => [b"\"".as_slice(), &escaped.0, b"\""].into_iter().try_for_each(|part| writer.write_all(part)),
        }
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        match (&mut self.key, &mut self.text) {
            (Some(key), _) => escaped(key, text),
            (None, Some(whole)) => {
                whole.raw.push(text.as_bytes());
                escaped(&mut whole.escaped, text)
            }
            (None, None) => escaped(writer, text),
        }
    }

    fn write_char_escape<W: ?Sized + io::Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        match (&mut self.key, &mut self.text) {
            (Some(key), _) => CompactFormatter.write_char_escape(key, escape),
            (None, Some(whole)) => {
                whole.raw.push(&[byte(&escape)]);
                CompactFormatter.write_char_escape(&mut whole.escaped, escape)
            }
            (None, None) => CompactFormatter.write_char_escape(writer, escape),
        }
    }
}

/// The byte that JSON escapes.
const fn byte(escape: &CharEscape) -> u8 {
    match escape {
        CharEscape::Quote => b'"',
        CharEscape::ReverseSolidus => b'\\',
        CharEscape::Solidus => b'/',
        CharEscape::Backspace => 8,
        CharEscape::FormFeed => 12,
        CharEscape::LineFeed => b'\n',
        CharEscape::CarriageReturn => b'\r',
        CharEscape::Tab => b'\t',
        CharEscape::AsciiControl(byte) => *byte,
    }
}

/// Whether every reader reads a literal block back unchanged: no line begins the block with a space or ends with one,
/// and at most one line end closes it.
fn is_literal(text: &str) -> bool {
    let has_lines = text.trim_end_matches('\n').contains('\n') || text.ends_with('\n');
    let starts = text.starts_with(|first: char| !first.is_whitespace());
    let fits = |line: &str| !line.ends_with(char::is_whitespace) && !line.contains(is_bad);
    has_lines && starts && !text.ends_with("\n\n") && text.split('\n').all(fits)
}

fn literal<W: ?Sized + io::Write>(writer: &mut W, text: &str, indent: usize) -> io::Result<()> {
    let (mark, lines) = match text.strip_suffix('\n') {
        Some(lines) => ("|", lines),
        None => ("|-", text),
    };
    writer.write_all(mark.as_bytes())?;
    lines.split('\n').try_for_each(|line| match line {
        "" => writer.write_all(b"\n"),
        line => write!(writer, "\n{:indent$}{line}", ""),
    })
}

/// JSON lets some letters stand as they are that YAML takes for the end of a line or does not take at all.
fn escaped<W: ?Sized + io::Write>(writer: &mut W, text: &str) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = rest.find(is_bad) {
        writer.write_all(&rest.as_bytes()[..at])?;
        let mut letters = rest[at..].chars();
        // All of them have four hexadecimal digits.
        letters.next().map_or(Ok(()), |letter| write!(writer, "\\u{:04x}", u32::from(letter)))?;
        rest = letters.as_str();
    }
    writer.write_all(rest.as_bytes())
}

fn is_bad(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether every reader takes a key without quotes for text.
fn is_plain(key: &[u8]) -> bool {
    const OTHER: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let letters = key.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(byte));
    let is_other = OTHER.iter().any(|other| key.eq_ignore_ascii_case(other.as_bytes()));
    letters && !is_other && key.first().is_some_and(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(value: &serde_json::Value) -> String {
        String::from_utf8(write_behind("head", value).unwrap().to_vec()).unwrap()
    }

    #[test]
    fn collections_are_indented_lines() {
        let value = json!({"a": {"b": 1, "c": {}}, "d": ["x", {"e": true, "f": [[null, 1.5], []]}], "g": []});
        let expected = "head
a:
  b: 1
  c: {}
d:
  - \"x\"
  - e: true
    f:
      - - null
        - 1.5
      - []
g: []
";
        assert_eq!(written(&value), expected);
    }

    #[test]
    fn keys_are_quoted_where_a_reader_could_take_them_for_something_else() {
        let value = json!({"net.ipv4.ip_forward": 1, "on": 2, "1e3": 3, "a: b": 4, "": 5, "~": 6, "ä\n": 7});
        let mut lines: Vec<String> = written(&value).lines().skip(1).map(str::to_owned).collect();
        lines.sort();
        let expected =
            ["\"\": 5", "\"1e3\": 3", "\"a: b\": 4", "\"on\": 2", "\"~\": 6", "\"ä\\n\": 7", "net.ipv4.ip_forward: 1"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_ends_a_line_or_is_no_letter_is_escaped() {
        let value = json!({"a": "\u{85}\u{2028}\u{feff}\u{7f}\u{0}\t\"\\é😀"});
        assert_eq!(written(&value), "head\na: \"\\u0085\\u2028\\ufeff\\u007f\\u0000\\t\\\"\\\\é😀\"\n");
    }
}
