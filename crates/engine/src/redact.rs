//! Removes secrets from text of others: by the values that documents declare secret, and by what secrets of this field
//! look like. Sentences of our own do not come here: they are built without secrets.
use documents::Secret;
use regex_lite::Regex;
use std::{cell::Cell, ops::Range};

/// Stands where a secret was.
const BLOT: &str = "[redacted]";
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";
/// A shorter line of a longer secret is removed only where it stands as a word: `fi` and `}` are lines of many scripts.
const SHORTEST_LINE: usize = 6;

/// Tokens, keys and passwords as kubeadm, curl, URLs and PEM files show them; group 1 stays. No document declares them:
/// kubeadm generates some itself. A path such as `/etc/passwd: Permission denied` is no password.
const PATTERNS: &[&str] = &[
    r"(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|\z)",
    r"\b()[a-z0-9]{6}\.[a-z0-9]{16}\b",
    r"((?i:certificate-key)[ =:]+)[0-9a-fA-F]{16,}",
    r"((?i:authorization:[ ]*(?:bearer|basic))[ ]+)\S+",
    r"((?i:passw(?:or)?d|passphrase|secret|token|api-?key|private-?key)[\x22']?[ ]*=[ ]*[\x22']?)[^\s\x22']+",
    r"((?:^|[^/])(?i:passw(?:or)?d|passphrase|secret|token|api-?key|private-?key)[\x22']?[ ]*:[ ]*[\x22']?)[^\s\x22']+",
    r"(\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@",
    r"\b()eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
];

/// Knows what must not be shown.
#[derive(Clone, Debug)]
pub struct Redactor {
    values: Vec<Value>,
    patterns: Vec<Regex>,
}

/// A text that is removed.
#[derive(Clone, Debug)]
struct Value {
    text: Secret<String>,
    at: At,
}

/// Where a text is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Wherever it occurs.
    Anywhere,
    /// Where no letter or digit stands beside it.
    Word,
}

impl Redactor {
    /// A redactor for these values, whatever their length, and for two kinds of parts of theirs:
    ///
    /// - each line, since a program that is given a file or a script of several lines prints single ones in its errors;
    /// - long words of letters and digits, since a script is declared secret because of the keys in it, and programs
    ///   that it calls print those without the rest of the line.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut values = Vec::new();
        let mut add = |text: &str, at| {
            if !text.trim().is_empty() {
                values.push(Value { text: Secret::new(text.trim().to_owned()), at });
            }
        };
        for secret in secrets {
            let text = String::from_utf8_lossy(secret);
            add(&text, At::Anywhere);
            if text.trim().lines().nth(1).is_some() {
                let place = |line: &str| if line.trim().len() < SHORTEST_LINE { At::Word } else { At::Anywhere };
                text.lines().filter(|line| has(line, char::is_alphanumeric)).for_each(|line| add(line, place(line)));
            }
            words(&text).for_each(|word| add(word, At::Anywhere));
        }
        let patterns = PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect();
        Self { values, patterns }
    }

    /// The text without them.
    pub fn redact(&self, text: &str) -> String {
        let mut text = self.without_values(&without_headless_key(text));
        for pattern in &self.patterns {
            text = pattern.replace_all(&text, format!("${{1}}{BLOT}")).into_owned();
        }
        text
    }

    /// Values may overlap, and one may be a part of another: every byte of every occurrence goes, in one pass, so that
    /// no value is searched for in what replaces another.
    fn without_values(&self, text: &str) -> String {
        let mut found: Vec<Range<usize>> = self.values.iter().flat_map(|value| value.occurrences(text)).collect();
        found.sort_by_key(|range| (range.start, range.end));
        let (mut shown, mut end) = (String::new(), 0);
        for range in found {
            if range.start > end || (range.start == 0 && end == 0) {
                shown.push_str(&text[end..range.start]);
                shown.push_str(BLOT);
            }
            end = end.max(range.end);
        }
        shown + &text[end..]
    }
}

impl Value {
    fn occurrences<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let value = self.text.expose().as_str();
        // Also those that begin inside of another one: `aba` is twice in `ababa`.
        let starts = text.char_indices().map(|(start, _)| start).filter(move |start| text[*start..].starts_with(value));
        let found = starts.map(move |start| start..start + value.len());
        found.filter(move |range| self.at == At::Anywhere || stands_alone(text, range))
    }
}

fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let beside = [text[..range.start].chars().next_back(), text[range.end..].chars().next()];
    !beside.into_iter().flatten().any(char::is_alphanumeric)
}

/// For an output that is shown line by line, where a private key is not seen as a whole.
#[derive(Debug)]
pub struct LineRedactor {
    redactor: Redactor,
    inside_key: Cell<bool>,
}

impl LineRedactor {
    /// Of an output that has not started.
    pub const fn new(redactor: Redactor) -> Self {
        Self { redactor, inside_key: Cell::new(false) }
    }

    /// The next line without secrets.
    pub fn redact(&self, line: &str) -> String {
        let was_inside = self.inside_key.get() || marks_key(line, KEY_BEGINS);
        self.inside_key.set(was_inside && !marks_key(line, KEY_ENDS));
        if was_inside { BLOT.to_owned() } else { self.redactor.redact(line) }
    }
}

fn marks_key(line: &str, mark: &str) -> bool {
    line.split_once(mark).is_some_and(|(_, rest)| rest.contains("PRIVATE KEY-----"))
}

/// The end of an output may begin inside a private key.
fn without_headless_key(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.position(|line| marks_key(line, KEY_BEGINS) || marks_key(line, KEY_ENDS));
    match first.and_then(|first| text.lines().nth(first)) {
        Some(line) if !marks_key(line, KEY_BEGINS) => std::iter::once(BLOT).chain(lines).collect::<Vec<_>>().join("\n"),
        _ => text.to_owned(),
    }
}

/// Words that are no words of a language: long, with letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.+/".contains(c)));
    words.filter(|word| word.len() >= 12 && has(word, char::is_alphabetic) && has(word, char::is_numeric))
}

fn has(word: &str, kind: fn(char) -> bool) -> bool {
    word.chars().any(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(Redactor::new([]).patterns.len(), PATTERNS.len());
    }

    #[test]
    fn values_go_whole_and_line_by_line() {
        let redactor = Redactor::new([&b"first-line\nsecond-line\nab"[..]]);
        let text = redactor.redact("x first-line\nsecond-line\nab y; then second-line alone, and ab");
        assert_eq!(text, "x [redacted] y; then [redacted] alone, and [redacted]");
        assert_eq!(redactor.redact("a table, and: ab."), "a table, and: [redacted].");
    }

    #[test]
    fn occurrences_that_overlap_go_whole() {
        assert_eq!(Redactor::new([&b"aba"[..]]).redact("x ababa y"), "x [redacted] y");
    }

    #[test]
    fn a_declared_secret_is_removed_whatever_its_length() {
        for secret in ["p", "pw", "12345"] {
            let redactor = Redactor::new([secret.as_bytes()]);
            assert_eq!(redactor.redact(&format!("<{secret}>")), "<[redacted]>");
            assert_eq!(redactor.redact(&format!("{secret}{secret}")), "[redacted]");
        }
        let none = Redactor::new([&b""[..], b" \n"]);
        assert_eq!(none.redact("nothing is declared"), "nothing is declared");
    }

    #[test]
    fn values_that_overlap_go_whole_and_what_replaces_them_stays() {
        let redactor = Redactor::new([&b"1s"[..], b"s3cret", b"red"]);
        assert_eq!(redactor.redact("a 1s3cret b red c"), "a [redacted] b [redacted] c");
    }

    #[test]
    fn a_path_that_ends_like_a_password_is_not_taken_for_one() {
        let shown = "cat: /etc/passwd: Permission denied";
        assert_eq!(Redactor::new([]).redact(shown), shown);
    }

    #[test]
    fn structure_of_a_script_stays_in_the_words_of_others() {
        let redactor = Redactor::new([&b"if true; then\n  echo done\nfi\n}\n"[..]]);
        assert_eq!(redactor.redact("the first file is final }"), "the first file is final }");
    }

    #[test]
    fn a_word_of_a_script_that_looks_made_up_goes_without_the_script() {
        let redactor = Redactor::new([&b"curl -H 'X-Key: 9f8a7b6c5d4e3f' https://example.com/v1"[..]]);
        assert_eq!(redactor.redact("sent 9f8a7b6c5d4e3f to example.com"), "sent [redacted] to example.com");
    }

    #[test]
    fn words_that_anybody_would_say_stay() {
        let said = "123456789012345 configurationmanagement a1b2c3";
        let redactor = Redactor::new([format!("echo {said}").as_bytes()]);
        assert_eq!(redactor.redact(said), said);
    }

    #[test]
    fn a_private_key_goes_line_by_line_and_without_its_head() {
        let text = "a\n-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----\nb";
        let lines = LineRedactor::new(Redactor::new([]));
        let shown: Vec<_> = text.lines().map(|line| lines.redact(line)).collect();
        assert_eq!(shown, ["a", BLOT, BLOT, BLOT, "b"]);
        let end = text.split_once("MHc").unwrap().1;
        assert_eq!(Redactor::new([]).redact(&format!("wLxK{end}\n")), "[redacted]\nb");
        assert_eq!(Redactor::new([]).redact("a\n"), "a\n");
    }

    #[test]
    fn what_looks_like_a_secret_goes_too() {
        let redactor = Redactor::new([]);
        for (text, wanted) in [
            ("kubeadm join --token abcdef.0123456789abcdef x", "kubeadm join --token [redacted] x"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
            ("password=hunter2 next", "password=[redacted] next"),
            ("\"token\": \"s3cr3t\"", "\"token\": \"[redacted]\""),
            ("curl http://user:pw@proxy:3128/", "curl http://user:[redacted]proxy:3128/"),
            ("--certificate-key 0123456789abcdef0123", "--certificate-key [redacted]"),
            (
                "a\n-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----\nb",
                "a\n-----BEGIN EC PRIVATE KEY-----[redacted]\nb",
            ),
            ("the token of the cluster expired", "the token of the cluster expired"),
        ] {
            assert_eq!(redactor.redact(text), wanted);
        }
    }
}
