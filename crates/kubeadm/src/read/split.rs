//! How kubeadm splits a file into documents. Its rules are not YAML's: a line that begins with `---` splits, wherever
//! it stands, and what lies between two of them is a document even if it holds nothing.
use zeroize::Zeroizing;

/// The text of one document, and the line of the file on which it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) line: usize,
    pub(super) text: Zeroizing<String>,
}

/// A separator with something behind it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadSeparator {
    pub(super) line: usize,
}

pub(super) fn split(text: &str) -> Result<Vec<Piece>, BadSeparator> {
    let mut pieces = Vec::new();
    let mut open = Piece { line: 1, text: Zeroizing::default() };
    for (index, line) in text.lines().enumerate() {
        if let Some(rest) = line.strip_prefix("---") {
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                return Err(BadSeparator { line: index + 1 });
            }
            if !open.text.is_empty() {
                pieces.push(std::mem::replace(&mut open, Piece { line: index + 2, text: Zeroizing::default() }));
                continue;
            }
        }
        if open.text.is_empty() {
            open.line = index + 1;
        }
        open.text.push_str(line);
        open.text.push('\n');
    }
    if !open.text.is_empty() {
        pieces.push(open);
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        split(text).unwrap().into_iter().map(|piece| piece.text.to_string()).collect()
    }

    #[test]
    fn a_separator_behind_a_document_ends_it_and_any_other_belongs_to_the_next() {
        assert_eq!(texts("a\n---\nb\n"), ["a\n", "b\n"]);
        assert_eq!(texts("---\na\n---\n---\nb\n"), ["---\na\n", "---\nb\n"]);
        assert_eq!(texts("a\r\n--- # x\r\nb"), ["a\n", "b\n"]);
        assert_eq!(texts("a\n---\n"), ["a\n"]);
    }

    #[test]
    fn nothing_between_separators_is_a_document() {
        assert_eq!(texts("\n---\na\n"), ["\n", "a\n"]);
        assert_eq!(texts("---\n---\na\n"), ["---\n", "a\n"]);
        assert_eq!(texts("# only words\n---\na\n"), ["# only words\n", "a\n"]);
    }

    #[test]
    fn text_behind_a_separator_is_refused() {
        assert_eq!(split("a\n--- b\n"), Err(BadSeparator { line: 2 }));
        assert_eq!(split("a: |\n  x\n----\n"), Err(BadSeparator { line: 3 }));
    }
}
