//! Field paths as people read them: `spec.files[0].path`, `spec.parameters[net.ipv4.ip_forward]`.
use crate::printable::printable;

/// The path of a mapping's member.
pub(crate) fn member(parent: &str, key: &str) -> String {
    match (is_simple(key), parent.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => [parent, ".", key].concat(),
        (false, _) => [parent, "[", &printable(key), "]"].concat(),
    }
}

fn is_simple(key: &str) -> bool {
    (1..=64).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// The path of a list's item.
pub(crate) fn item(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// The path that this one is a part of.
pub(crate) fn parent(path: &str) -> Option<&str> {
    path.rfind(['.', '[']).map(|end| &path[..end])
}

/// A path, and everything that it is a part of.
pub(crate) fn outwards(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| parent(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_people_write_it() {
        let files = member(&member("", "spec"), "files");
        assert_eq!(member(&item(&files, 0), "path"), "spec.files[0].path");
        assert_eq!(member("spec.parameters", "net.ipv4.ip_forward"), "spec.parameters[net.ipv4.ip_forward]");
    }

    #[test]
    fn a_path_has_a_parent() {
        assert_eq!(parent("spec.files[0]"), Some("spec.files"));
        assert_eq!(parent("spec"), None);
    }
}
