//! The end of a program's output, and its lines as they come; whole lines only, since half a secret can't be recognised.
use secret::Secret;

/// How much of the end is kept, and how long a line may be.
const MOST: usize = 8 << 10;
const TOO_LONG: &str = "(a line longer than 8 KiB is not shown)";

/// Keeps the end of an output.
pub(super) struct Tail<'a> {
    most: usize,
    bytes: Vec<u8>,
    is_cut: bool,
    line: Vec<u8>,
    is_long: bool,
    echo: &'a dyn Fn(&str),
}

impl<'a> Tail<'a> {
    /// Of an output that has not begun.
    pub(super) fn new(echo: &'a dyn Fn(&str)) -> Self {
        Self::keeping(MOST, echo)
    }

    /// The same, with so many bytes of the end.
    pub(super) fn keeping(most: usize, echo: &'a dyn Fn(&str)) -> Self {
        Self { most, bytes: Vec::new(), is_cut: false, line: Vec::new(), is_long: false, echo }
    }

    /// More output.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let surplus = self.bytes.len().saturating_sub(self.most);
        self.is_cut |= surplus > 0;
        self.bytes.drain(..surplus);
        for &byte in bytes {
            match byte {
                b'\n' => self.end_line(),
                _ if self.line.len() == MOST => self.is_long = true,
                _ => self.line.push(byte),
            }
        }
    }

    /// The output has ended.
    pub(super) fn end(&mut self) -> Secret<String> {
        if !self.line.is_empty() {
            self.end_line();
        }
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        let whole = match text.split_once('\n') {
            _ if !self.is_cut => text,
            Some((_, rest)) if !rest.is_empty() => rest.to_owned(),
            _ => TOO_LONG.to_owned(),
        };
        Secret::new(whole)
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        match std::mem::take(&mut self.is_long) {
            true => (self.echo)(TOO_LONG),
            false => (self.echo)(&String::from_utf8_lossy(&line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn both(output: &[&str]) -> (Vec<String>, String) {
        let lines = RefCell::new(Vec::new());
        let echo = |line: &str| lines.borrow_mut().push(line.to_owned());
        let mut tail = Tail::new(&echo);
        output.iter().for_each(|part| tail.add(part.as_bytes()));
        let end = tail.end();
        (lines.into_inner(), end.expose().clone())
    }

    #[test]
    fn a_short_output_is_kept_whole_and_its_lines_come_one_by_one() {
        assert_eq!(both(&["a\nb", "c\n\nd"]), (["a", "bc", "", "d"].map(str::to_owned).to_vec(), "a\nbc\n\nd".into()));
        assert_eq!(both(&[]), (Vec::new(), String::new()));
    }

    #[test]
    fn the_cut_of_a_long_output_falls_between_lines() {
        let (lines, end) = both(&["secret\n".repeat(2000).as_str()]);
        assert_eq!(lines.len(), 2000);
        assert!(end.len() > MOST - 20 && end.lines().all(|line| line == "secret"), "{end}");
    }

    #[test]
    fn a_line_without_end_is_not_shown_in_part() {
        let long = "secret".repeat(2000);
        assert_eq!(both(&[&long]), (vec![TOO_LONG.to_owned()], TOO_LONG.to_owned()));
        assert_eq!(both(&[&long, "\nlast\n"]), (vec![TOO_LONG.to_owned(), "last".to_owned()], "last\n".into()));
    }
}
