//! Collections in brackets, measured before they are parsed: the parser holds the tokens of a whole collection in
//! memory until it knows whether the collection is a key, two hundred bytes for each byte of input.

/// Signs that begin or part tokens inside of brackets.
const SIGNS: &[u8] = b",:?&*!\"'[]{}";

/// How many signs stand inside of brackets. This is a quick look, not a parser: it skips block texts, quoted texts and
/// comments, and where it is mistaken, a text of an unusual kind counts too.
pub fn signs_in_brackets(text: &str) -> usize {
    let mut look = Look::default();
    for line in text.lines() {
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
}

impl Look {
    fn line(&mut self, line: &[u8]) {
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        if self.block.is_some_and(|block| indent > block || line.trim_ascii().is_empty()) {
            return;
        }
        self.block = None;
        let mut before = b'\n';
        let mut bytes = line.iter().copied();
        while let Some(byte) = bytes.next() {
            match (byte, self.quote) {
                (b'\\', Some(b'"')) => _ = bytes.next(),
                (_, Some(quote)) if byte == quote => self.quote = None,
                (_, Some(_)) => {}
                (b'#', None) if before.is_ascii_whitespace() => break,
                (_, None) => self.byte(byte, before),
            }
            before = if byte == b' ' && is_opener(before) { before } else { byte };
        }
        if self.depth == 0 && self.quote.is_none() && begins_block(line) {
            self.block = Some(indent_of_key(line));
        }
    }

    fn byte(&mut self, byte: u8, before: u8) {
        let begins_token = is_opener(before) || (self.depth > 0 && (before == b' ' || SIGNS.contains(&before)));
        self.signs += usize::from(self.depth > 0 && SIGNS.contains(&byte));
        match byte {
            b'"' | b'\'' if begins_token => self.quote = Some(byte),
            b'[' | b'{' if begins_token || self.depth > 0 => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// After which bytes, and any spaces, a value may begin outside of brackets.
fn is_opener(byte: u8) -> bool {
    matches!(byte, b'\n' | b':' | b'-' | b'?')
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
    fn brackets_after_a_text_count_again() {
        assert_eq!(signs_in_brackets("- a: |\n    x\n  b: [c, d]\n"), 2);
        assert_eq!(signs_in_brackets("[\"a, b\", 'c, d', e]"), 5);
    }
}
