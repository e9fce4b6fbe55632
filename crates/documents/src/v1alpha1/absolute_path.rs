//! Absolute paths as a configuration may name them.
use std::borrow::Cow;

/// Links that every distribution has, and where they point.
const ALIASES: [(&str, &str); 2] = [("/var/run", "/run"), ("/var/lock", "/run/lock")];

/// Why a path can't be used; `None` when it can.
pub(crate) fn path_problem(path: &str) -> Option<&'static str> {
    if !path.starts_with('/') {
        return Some("must be an absolute path, starting with `/`");
    }
    if path == "/" {
        return Some("must not be the root directory");
    }
    if path.ends_with('/') {
        return Some("must not end with `/`");
    }
    if path.chars().any(char::is_control) {
        return Some("must not contain control characters");
    }
    if path.len() > 4095 || path.split('/').any(|part| part.len() > 255) {
        return Some("is longer than file systems allow");
    }
    if path[1..].split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Some("must be written without `.`, `..` and doubled slashes");
    }
    None
}

/// Whether a path lies in a file system that the kernel makes up.
pub(crate) fn is_virtual(path: &str) -> bool {
    ["/proc", "/sys", "/dev"].iter().any(|root| is_below(path, root))
}

/// Whether a path is this directory or lies below it.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The same path without the links that every distribution has.
pub(crate) fn without_aliases(path: &str) -> Cow<'_, str> {
    match ALIASES.iter().find(|(alias, _)| is_below(path, alias)) {
        Some((alias, target)) => Cow::Owned(format!("{target}{}", &path[alias.len()..])),
        None => Cow::Borrowed(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_absolute_and_normal() {
        for path in ["/etc/motd", "/a", "/etc/..a/.b", "/srv/ä b"] {
            assert_eq!(path_problem(path), None, "{path}");
        }
        for path in
            ["", "etc/motd", "/", "/etc/", "//etc", "/etc//motd", "/etc/./motd", "/etc/../motd", "/a\0b", "/a\nb"]
        {
            assert!(path_problem(path).is_some(), "{path}");
        }
    }

    #[test]
    fn only_the_kernels_own_directories_are_virtual() {
        assert!(is_virtual("/proc/sys/kernel/x") && is_virtual("/dev"));
        assert!(!is_virtual("/device/x") && !is_virtual("/etc/sys/x"));
    }
}
