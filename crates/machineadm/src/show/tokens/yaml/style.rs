//! Which of YAML's styles a text is written in: plain if it can be, and what an older reader needs else.
use super::reserved;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    /// Line by line, behind `|`.
    Literal,
}

/// The style of Go's writer.
pub(super) fn of(text: &str) -> Style {
    let found = Found::of(text);
    if text.contains('\n') {
        return if found.needs_escapes || text.ends_with(' ') { Style::Double } else { Style::Literal };
    }
    if !is_text(text) || found.needs_escapes || found.blank_after_break {
        return Style::Double;
    }
    let is_framed = text.starts_with(' ') || text.ends_with(' ');
    if is_framed || found.has_break || has_indicator(text) { Style::Single } else { Style::Plain }
}

/// Whether a reader takes it for text without quotes.
fn is_text(text: &str) -> bool {
    !reserved::is_word(text) && !reserved::is_number(text) && !reserved::is_time(text)
}

/// A break of a line, as YAML 1.1 has it.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What stands for itself. Go's writer leaves out what lies beyond the first plane.
pub(super) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

/// What decides about the style, found in one pass.
#[derive(Default)]
struct Found {
    has_break: bool,
    needs_escapes: bool,
    blank_after_break: bool,
}

impl Found {
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        let mut before = None;
        for c in text.chars() {
            found.has_break |= is_break(c);
            found.needs_escapes |= !is_printable(c) || (is_break(c) && before == Some(' '));
            found.blank_after_break |= c == ' ' && before.is_some_and(is_break);
            before = Some(c);
        }
        found
    }
}

/// Whether something in it would be taken for YAML's own signs.
fn has_indicator(text: &str) -> bool {
    let mut letters = text.chars();
    let (first, second) = (letters.next(), letters.next());
    let begins = match first {
        Some('?' | ':' | '-') => second.is_none_or(|c| c == ' '),
        Some(c) => "#,[]{}&*!|>'\"%@`".contains(c),
        None => false,
    };
    begins
        || ["---", "..."].iter().any(|mark| text.starts_with(mark))
        || text.contains(": ")
        || text.ends_with(':')
        || text.contains(" #")
}
