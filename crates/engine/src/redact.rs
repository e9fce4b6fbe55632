//! Takes secrets out of text that we did not write: by value, and by what secrets of this field look like.
use documents::Secret;
use regex_lite::Regex;
use std::cell::Cell;

/// Stands where a secret was.
const BLOT: &str = "[redacted]";
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";
/// Shorter values would blot out ordinary words.
const SHORTEST: usize = 6;

/// Tokens, keys and passwords as kubeadm, curl, URLs and PEM files show them; group 1 stays.
const PATTERNS: &[&str] = &[
    r"(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|\z)",
    r"\b()[a-z0-9]{6}\.[a-z0-9]{16}\b",
    r"((?i:certificate-key)[ =:]+)[0-9a-fA-F]{16,}",
    r"((?i:authorization:[ ]*(?:bearer|basic))[ ]+)\S+",
    r"((?i:passw(?:or)?d|passphrase|secret|token|api-?key|private-?key)[\x22']?[ ]*[=:][ ]*[\x22']?)[^\s\x22']+",
    r"(\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@",
    r"\b()eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
];

/// Knows what must not be shown.
#[derive(Clone, Debug)]
pub struct Redactor {
    values: Vec<Secret<String>>,
    patterns: Vec<Regex>,
}

impl Redactor {
    /// A redactor for these values, for each longer line of theirs, and for words in them that look made up.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut values: Vec<String> = Vec::new();
        for secret in secrets {
            let text = String::from_utf8_lossy(secret);
            values.push(text.trim().to_owned());
            values.extend(text.lines().map(|line| line.trim().to_owned()));
            values.extend(words(&text).map(str::to_owned));
        }
        values.retain(|value| value.len() >= SHORTEST);
        // The longest first: a line of a secret must not break up the whole.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        let patterns = PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect();
        Self { values: values.into_iter().map(Secret::new).collect(), patterns }
    }

    /// The text without them.
    pub fn redact(&self, text: &str) -> String {
        let mut text = without_headless_key(text);
        for value in &self.values {
            if text.contains(value.expose().as_str()) {
                text = text.replace(value.expose().as_str(), BLOT);
            }
        }
        for pattern in &self.patterns {
            text = pattern.replace_all(&text, format!("${{1}}{BLOT}")).into_owned();
        }
        text
    }
}

/// For an output that is shown line by line, where a private key is not seen as a whole.
#[derive(Debug)]
pub struct LineRedactor {
    redactor: Redactor,
    inside_key: Cell<bool>,
}

impl LineRedactor {
    /// Of an output that has not begun.
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

/// Words of a script that nobody would say: long, with letters and digits.
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
        assert_eq!(text, "x [redacted] y; then [redacted] alone, and ab");
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
