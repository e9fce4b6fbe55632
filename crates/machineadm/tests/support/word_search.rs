//! Finds words in bytes, also where they are written in base64 or hexadecimal.
use crate::support::{
    encodings::encodings,
    file_tree::{Tree, look},
};
use std::path::Path;

/// Words that are secret.
pub(crate) struct WordSearch {
    forms: Vec<(String, String)>,
}

impl WordSearch {
    pub(crate) fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let forms = words.into_iter().flat_map(|word| encodings(word).into_iter().map(|form| (word.to_owned(), form)));
        Self { forms: forms.collect() }
    }

    /// The words that some bytes hold, each once.
    pub(crate) fn found(&self, bytes: &[u8]) -> Vec<&str> {
        // Every form is ASCII, which no other byte can hide.
        let text = String::from_utf8_lossy(bytes);
        let found = self.forms.iter().filter(|(_, form)| text.contains(form.as_str()));
        let mut found: Vec<&str> = found.map(|(word, _)| word.as_str()).collect();
        found.dedup();
        found
    }

    /// The words and the names of the files below a directory that hold them.
    pub(crate) fn found_below(&self, dir: &Path) -> Vec<(String, &str)> {
        let tree: Tree = look(dir);
        let words = tree.iter().flat_map(|(name, entry)| {
            let bytes = [name.as_bytes(), b"\n", &entry.body].concat();
            self.found(&bytes).into_iter().map(|word| (name.clone(), word)).collect::<Vec<_>>()
        });
        words.collect()
    }
}
