//! Commands as a person can paste them into a shell.

/// A command line in which every word is one word for a POSIX shell.
pub fn command<T: AsRef<str>>(words: &[T]) -> String {
    words.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

/// One word.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(
            command(&["machineadm", "--root", "/a b", "it's", "", "$HOME"]),
            r"machineadm --root '/a b' 'it'\''s' '' '$HOME'"
        );
    }
}
