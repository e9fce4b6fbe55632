//! How much a document may ask of us, and the paths of its keys, which have limits too.

/// Mappings and lists inside each other.
pub(super) const DEPTH: usize = 64;
/// Keys and values of one document, those that aliases repeat included.
pub(super) const NODES: usize = 100_000;
/// Bytes that anchors and aliases may copy.
pub(super) const COPIED: usize = 4 << 20;
/// Signs inside of brackets: the parser needs some two hundred bytes of memory for each.
pub(super) const SIGNS_IN_BRACKETS: usize = 50_000;
/// Bytes of a path; what is deeper has that of what it lies in.
const PATH: usize = 500;
/// Repeated keys that are told.
const REPEATED: usize = 100;

pub(super) fn too_deep() -> String {
    format!("nested more than {DEPTH} deep")
}

pub(super) fn too_many() -> String {
    "too many keys and values".to_owned()
}

/// Paths of keys that stand twice: the first hundred, since one already speaks against a document.
#[derive(Debug, Default)]
pub(super) struct Repeated(pub(super) Vec<String>);

impl Repeated {
    pub(super) fn push(&mut self, path: impl FnOnce() -> String) {
        if self.0.len() < REPEATED {
            self.0.push(path());
        }
    }
}

/// The path of a member.
pub(super) fn member(path: &str, name: &str) -> String {
    match path {
        _ if path.len() + name.len() > PATH => shortened(path),
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

/// The path of an item.
pub(super) fn item(path: &str, index: usize) -> String {
    if path.len() > PATH { shortened(path) } else { format!("{path}[{index}]") }
}

fn shortened(path: &str) -> String {
    format!("{}…", path.trim_end_matches('…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_where_it_gets_too_long() {
        assert_eq!(member("", "a"), "a");
        assert_eq!(item(&member("a", "b"), 7), "a.b[7]");
        let long = member("a", &"x".repeat(PATH));
        assert_eq!((long.as_str(), member(&long, &"x".repeat(PATH)).as_str()), ("a…", "a…"));
    }
}
