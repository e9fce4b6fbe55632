//! Field paths as people read them: `spec.files[0].path`, `spec.parameters[net.ipv4.ip_forward]`.
use crate::printable::printable;

/// The path of a mapping's member.
pub(crate) fn member(parent: &str, key: &str) -> String {
    let key = printable(key);
    let simple = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match (simple, parent.is_empty()) {
        (true, true) => key,
        (true, false) => format!("{parent}.{key}"),
        (false, _) => format!("{parent}[{key}]"),
    }
}

/// The path of a list's item.
pub(crate) fn item(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// The path that this one is a part of.
pub(crate) fn parent(path: &str) -> Option<&str> {
    path.rfind(['.', '[']).map(|end| &path[..end])
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
