//! Two trees, compared.
use crate::support::file_tree::{Entry, Tree};

/// What differs, in words; empty when nothing does.
pub(crate) fn differences(wanted: &Tree, found: &Tree) -> Vec<String> {
    let gone = wanted.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("{name} is missing"));
    let new = found.keys().filter(|name| !wanted.contains_key(*name)).map(|name| format!("{name} is left over"));
    let other = wanted.iter().filter_map(|(name, entry)| {
        let found = found.get(name).filter(|found| *found != entry)?;
        Some(format!("{name} is {} instead of {}", shown(found), shown(entry)))
    });
    gone.chain(new).chain(other).collect()
}

fn shown(Entry { kind, mode, owner, body }: &Entry) -> String {
    format!("{kind} {mode:04o} {}:{} {:?}", owner.0, owner.1, String::from_utf8_lossy(body))
}
