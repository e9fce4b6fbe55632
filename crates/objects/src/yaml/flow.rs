//! Collections in brackets, measured before they are parsed: the parser holds the tokens of a whole collection in
//! memory until it knows whether the collection is a key, two hundred bytes for each byte of input.

/// Signs that begin or part tokens inside of brackets.
const SIGNS: &[u8] = b",:?&*!\"'[]{}";

/// How many signs stand inside of brackets. This is a quick look, not a parser: it skips block texts, quoted texts and
/// comments, and where it is mistaken, a text of an unusual kind counts too.
pub fn signs_in_brackets(text: &str) -> usize {
    let mut look = Look::default();
    // As the parser: a lone CR ends a line, and with it a comment.
    for line in text.split(['\n', '\r']) {
        look.line(line.as_bytes());
    }
    look.signs
}

#[derive(Default)]
struct Look {
    signs: usize,
    /// Open brackets.
    depth: usize,
    /// The quotes that the next byte stands in.
    quote: Option<u8>,
    /// Lines with more leading spaces than this belong to a block text.
    block: Option<usize>,
    /// Whether a token may begin here: elsewhere quotes and brackets are letters of a plain text.
    fresh: bool,
    /// Whether a token may begin after the next blank.
    fresh_after_blank: bool,
    /// Whether this is part of a tag or anchor, after which a token may begin.
    property: bool,
}

impl Look {
    fn line(&mut self, line: &[u8]) {
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        if self.block.is_some_and(|block| indent > block || line.trim_ascii().is_empty()) {
            return;
        }
        self.block = None;
        self.byte(b' ');
        self.fresh |= self.depth == 0;
        let mut before = b'\n';
        let mut bytes = line.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match (byte, self.quote) {
                (b'\\', Some(b'"')) => _ = bytes.next(),
                // Twice, it is a letter of the text.
                (b'\'', Some(b'\'')) if bytes.next_if_eq(&b'\'').is_some() => {}
                (_, Some(quote)) if byte == quote => self.quote = None,
                (_, Some(_)) => {}
                (b'#', None) if before.is_ascii_whitespace() => break,
                // As JSON has it, with or without a blank.
                (b':', None) if matches!(before, b'"' | b'\'') => {
                    self.byte(byte);
                    self.fresh = true;
                }
                (_, None) => self.byte(byte),
            }
            before = byte;
        }
        if self.depth == 0 && self.quote.is_none() && begins_block(line) {
            self.block = Some(indent_of_key(line));
        }
    }

    fn byte(&mut self, byte: u8) {
        let (inside, fresh) = (self.depth > 0, std::mem::take(&mut self.fresh));
        self.signs += usize::from(inside && SIGNS.contains(&byte));
        match byte {
            b' ' | b'\t' => self.fresh = fresh || self.fresh_after_blank || self.property,
            b'"' | b'\'' if fresh => self.quote = Some(byte),
            b'[' | b'{' if fresh || inside => (self.depth, self.fresh) = (self.depth + 1, true),
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            b',' => self.fresh = inside,
            _ => {}
        }
        self.fresh_after_blank = byte == b':' || (fresh && matches!(byte, b'-' | b'?'));
        let begins_property = fresh && matches!(byte, b'!' | b'&');
        self.property = !matches!(byte, b' ' | b'\t') && (self.property || begins_property);
    }
}

/// Whether a block text begins after this line: `key: |`, `- >-`, with or without a comment.
fn begins_block(line: &[u8]) -> bool {
    let line = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
    let header = line.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    matches!(header.first(), Some(b'|' | b'>')) && header[1..].iter().all(|byte| b"+-123456789".contains(byte))
}

/// The column of the key that a block text belongs to, or of the list's item if there is no key.
fn indent_of_key(line: &[u8]) -> usize {
    let mut at = 0;
    let mut item = 0;
    loop {
        at += line[at..].iter().take_while(|byte| **byte == b' ').count();
        match &line[at..] {
            [b'-' | b'?', b' ', ..] => (item, at) = (at, at + 2),
            [b'|' | b'>', ..] => return item,
            _ => return at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::signs_in_brackets;

    #[test]
    fn signs_in_brackets_count() {
        for (text, signs) in [("a: [b, c]", 2), ("- {a: b, c: [d]}", 6), ("[a,\n b,\n c]", 3), ("a:\n  [b, c]", 2)] {
            assert_eq!(signs_in_brackets(text), signs, "{text}");
        }
    }

    #[test]
    fn text_does_not_count() {
        let block = "a: |\n  x: [b, c,\n\n  {d, e}\nb: f, g\n";
        let item = "- a: >-  # folded\n    [b, c]\n- |\n [d, e]\n";
        let quoted = "a: \"[b, \\\", c]\"\nd: 'e, [f'\n";
        for text in [block, item, quoted, "# [a, b]\na: b # {c, d\n", "a: it's [not, one]\n", "a: b[c, d]"] {
            assert_eq!(signs_in_brackets(text), 0, "{text}");
        }
    }

    #[test]
    fn brackets_after_a_tag_an_anchor_or_a_tab_count_too() {
        for text in ["a: !!seq [b, c]", "a: &x [b, c]", "a:\t[b, c]", "- ! &x\n  [b, c]"] {
            assert_eq!(signs_in_brackets(text), 2, "{text}");
        }
    }

    #[test]
    fn a_quote_inside_of_a_plain_text_hides_nothing() {
        for text in ["[b 'c, d, e]", "[b:'c, d, e]", "[b\n 'c, d, e]", "[&'b c, d, e]", "-'b\nc: [d, e, f, g]"] {
            assert!(signs_in_brackets(text) >= 3, "{text}");
        }
        assert_eq!(signs_in_brackets(r#"{"a":"b, c", "d": ["e"]}"#), 10);
    }

    #[test]
    fn a_quote_that_stands_twice_and_a_lone_carriage_return_hide_nothing() {
        assert_eq!(signs_in_brackets("['a'', ', [],[],[]]"), 11);
        assert_eq!(signs_in_brackets("['a'''\n, [],[]]"), 8);
        assert_eq!(signs_in_brackets("#\r[[],[],[]]"), 9);
        assert_eq!(signs_in_brackets("a: |\r\n  [b, c]\r\n\r\n  [d]\r\ne: 'f''[g, h]'\r\n"), 0);
    }

    #[test]
    fn brackets_after_a_text_count_again() {
        assert_eq!(signs_in_brackets("- a: |\n    x\n  b: [c, d]\n"), 2);
        assert_eq!(signs_in_brackets("[\"a, b\", 'c, d', e]"), 5);
    }
}
