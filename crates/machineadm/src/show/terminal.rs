//! Where text for people goes: one place makes it printable, and erases the moving line before it.
//!
//! Colours and the moving line are the only control sequences that reach a terminal, and they are written here. A text
//! names a colour by a [`Mark`]; whatever else it holds of control characters is shown as an escape.
use super::log::{Record, settings};
use objects::visible;
use rustix::termios::tcgetwinsize;
use std::{
    io::{self, IsTerminal, Write},
    sync::{Mutex, PoisonError},
};

const ERASE: &str = "\r\x1b[2K";
const USUAL_WIDTH: usize = 80;

/// Whether a moving line is drawn at the moment.
static MOVING: Mutex<bool> = Mutex::new(false);

/// Names a colour in a text: a character that no text has ([`objects::one_line`] escapes it), and that is not shown where
/// colours are not wanted.
#[derive(Clone, Copy)]
pub(crate) enum Mark {
    Green = 0xfdd1,
    Red = 0xfdd2,
    Yellow = 0xfdd3,
    Cyan = 0xfdd4,
    Plain = 0xfdd0,
}

impl Mark {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Green, "\x1b[32m"),
        (Self::Red, "\x1b[31m"),
        (Self::Yellow, "\x1b[33m"),
        (Self::Cyan, "\x1b[36m"),
        (Self::Plain, "\x1b[0m"),
    ];

    /// The sequence that a character stands for, if it is a mark.
    fn of(c: char) -> Option<&'static str> {
        Self::ALL.iter().find(|(mark, _)| mark.character() == c).map(|(_, sequence)| *sequence)
    }

    pub(crate) fn character(self) -> char {
        char::from_u32(self as u32).unwrap_or(' ')
    }
}

/// Writes text for people to standard error. That nobody reads it any more, or that the disk of a log is full, must not
/// end a run in the middle.
pub(super) fn error_text(text: &str) {
    let text = rendered(text, wants_colours(&io::stderr()));
    above(|| drop(io::stderr().write_all(text.as_bytes())));
}

/// One record on standard error, as JSON.
pub(super) fn error_record(record: &Record) {
    let line = without_marks(&serde_json::to_string(record).unwrap_or_default());
    above(|| drop(io::stderr().write_all((line + "\n").as_bytes())));
}

/// Text for people, as it is written to a stream.
pub(super) fn text_for(stream: &impl IsTerminal, text: &str) -> String {
    rendered(text, wants_colours(stream))
}

/// Writes to standard output or standard error, without the moving line in its way.
pub(super) fn above<T>(write: impl FnOnce() -> T) -> T {
    let mut moving = MOVING.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut *moving) {
        let _ = io::stderr().write_all(ERASE.as_bytes());
    }
    write()
}

/// Draws the moving line, cut to the terminal's width; only where [`is_lively`].
pub(super) fn draw(text: impl FnOnce(usize) -> String) {
    let mut moving = MOVING.lock().unwrap_or_else(PoisonError::into_inner);
    let columns = width().saturating_sub(1);
    let line = cut(&objects::one_line(&text(columns)), columns);
    *moving = io::stderr().write_all(format!("{ERASE}{line}").as_bytes()).is_ok();
}

/// Erases the moving line.
pub(super) fn erase() {
    above(|| ());
}

/// Whether standard error is a terminal that wants moving lines.
pub(super) fn is_lively() -> bool {
    settings().shows_moving_line() && wants_colours(&io::stderr())
}

fn wants_colours(stream: &impl IsTerminal) -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    stream.is_terminal() && !is_dumb && std::env::var_os("NO_COLOR").is_none()
}

fn width() -> usize {
    let columns = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { USUAL_WIDTH } else { columns }
}

/// Marks become colours or nothing, everything else printable.
fn rendered(text: &str, has_colours: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(|c| Mark::of(c).is_some()) {
        let mark = part.chars().next_back().and_then(Mark::of);
        shown.push_str(&visible(part.trim_end_matches(|c| Mark::of(c).is_some())));
        shown.push_str(mark.filter(|_| has_colours).unwrap_or_default());
    }
    shown
}

/// A text for a file: marks become nothing, everything else printable.
pub(super) fn plain(text: &str) -> String {
    rendered(text, false)
}

/// A text without marks, for programs.
fn without_marks(text: &str) -> String {
    text.chars().filter(|c| Mark::of(*c).is_none()).collect()
}

/// Whether a terminal needs two columns for a character: East Asian ones and pictures.
const fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}')
}

/// The beginning of a line that fits into so many columns.
fn cut(line: &str, columns: usize) -> String {
    let width = |c: char| if is_wide(c) { 2 } else { 1 };
    if line.chars().map(width).sum::<usize>() <= columns {
        return line.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let fits = width(*c) <= left;
        left = left.saturating_sub(width(*c));
        fits
    };
    line.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_to_the_columns_of_the_terminal() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "…");
        assert_eq!(cut("ab… cdef", 8), "ab… cdef");
    }

    #[test]
    fn colours_are_ours_alone() {
        let green = format!("{}+{} \x1b[32mx", Mark::Green.character(), Mark::Plain.character());
        assert_eq!(rendered(&green, true), "\x1b[32m+\x1b[0m \\x1b[32mx");
        assert_eq!(rendered(&green, false), "+ \\x1b[32mx");
    }
}
