//! Writes a text in a style, folded where Go's writer folds it.
use super::style::{Style, is_break, is_printable};

/// A blank beyond this column becomes a new line.
const WIDTH: usize = 80;
/// Where a folded line goes on.
const INDENT: &str = "  ";

/// The text behind a key or a dash.
pub(super) fn behind(before: &str, text: &str, style: Style) -> String {
    let mut line = Line { written: before.to_owned(), column: before.chars().count() };
    match style {
        Style::Plain => line.put_folded(text, style),
        Style::Single | Style::Double => {
            let quote = if style == Style::Single { '\'' } else { '"' };
            line.put(quote);
            line.put_folded(text, style);
            line.put(quote);
        }
        Style::Literal => line.put_literal(text),
    }
    line.written
}

struct Line {
    written: String,
    column: usize,
}

impl Line {
    fn put(&mut self, c: char) {
        self.written.push(c);
        self.column += 1;
    }

    fn fold(&mut self) {
        self.written.push('\n');
        self.indent();
    }

    fn indent(&mut self) {
        self.written.push_str(INDENT);
        self.column = INDENT.len();
    }

    /// A blank that may be a new line instead: none that begins or ends quoted text, and only the first of several.
    fn put_folded(&mut self, text: &str, style: Style) {
        let mut letters = text.chars().peekable();
        let mut before = None;
        while let Some(c) = letters.next() {
            let next = letters.peek().copied();
            let is_inner = style == Style::Plain || (before.is_some() && next.is_some());
            let is_alone = before != Some(' ') && (style == Style::Double || next != Some(' '));
            if style == Style::Single && !is_break(c) && before.is_some_and(is_break) {
                self.indent();
            }
            if c == ' ' && is_inner && is_alone && self.column > WIDTH {
                self.fold();
                if style == Style::Double && next == Some(' ') {
                    self.put('\\');
                }
            } else {
                self.put_letter(c, style);
            }
            before = Some(c);
        }
    }

    fn put_letter(&mut self, c: char, style: Style) {
        match style {
            Style::Double if !is_printable(c) || is_break(c) || c == '"' || c == '\\' => {
                escaped(c).chars().for_each(|c| self.put(c));
            }
            Style::Single if c == '\'' => {
                self.put(c);
                self.put(c);
            }
            _ => self.put(c),
        }
        if is_break(c) && style == Style::Single {
            self.column = 0;
        }
    }

    fn put_literal(&mut self, text: &str) {
        self.put('|');
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.put('2');
        }
        match text.strip_suffix(is_break) {
            None => self.put('-'),
            Some(rest) if rest.is_empty() || rest.ends_with(is_break) => self.put('+'),
            Some(_) => {}
        }
        self.written.push('\n');
        for line in text.split_inclusive(is_break) {
            if !line.starts_with(is_break) {
                self.indent();
            }
            self.written.push_str(line);
        }
    }
}

/// A letter that doesn't stand for itself between double quotes.
fn escaped(c: char) -> String {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' | '\\' => c,
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let number = u32::from(c);
            return match number {
                0..=0xff => format!("\\x{number:02X}"),
                0x100..=0xffff => format!("\\u{number:04X}"),
                _ => format!("\\U{number:08X}"),
            };
        }
    };
    format!("\\{short}")
}
