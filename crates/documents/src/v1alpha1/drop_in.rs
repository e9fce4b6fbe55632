//! Files in directories such as `/etc/sysctl.d` that are named after their document, so that each document has its own.
use crate::findings::Findings;

/// After most of the system's own files, before those that an administrator puts last.
const PREFIX: &str = "90-machineadm";
const ENDING: &str = ".conf";
/// The longest file name that every file system takes.
const LONGEST: usize = 255;

/// The file of a document.
pub(crate) fn drop_in(directory: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{directory}/{PREFIX}-{name}{ENDING}"),
        None => format!("{directory}/{PREFIX}{ENDING}"),
    }
}

/// Whether a path can be the file of a document in this directory.
pub(crate) fn is_drop_in(directory: &str, path: &str) -> bool {
    let name = path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
    let middle = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(ENDING));
    middle.is_some_and(|middle| !middle.contains('/') && (middle.is_empty() || middle.starts_with('-')))
}

/// Reports a name that is too long for a file's.
pub(crate) fn check_name(name: Option<&str>, findings: &mut Findings<'_>) {
    const MOST: usize = LONGEST - PREFIX.len() - ENDING.len() - 1;
    if name.is_some_and(|name| name.len() > MOST) {
        findings.error("metadata.name", format!("is too long for the file that is named after it: at most {MOST}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, found};

    #[test]
    fn each_document_has_a_file_of_its_own() {
        assert_eq!(drop_in("/etc/x.d", Some("a.b")), "/etc/x.d/90-machineadm-a.b.conf");
        assert_eq!(drop_in("/etc/x.d", None), "/etc/x.d/90-machineadm.conf");
    }

    #[test]
    fn a_name_fits_into_a_files_name() {
        let file_name = |length: usize| drop_in("", Some(&"a".repeat(length))).len() - 1;
        assert_eq!((file_name(236), file_name(237)), (255, 256));
        for (kind, spec) in [("SysctlConfig", "{parameters: {a.b: 1}}"), ("KernelModulesConfig", "{modules: [a]}")] {
            let named = |length| document(kind, &format!("metadata: {{name: {}}}\nspec: {spec}", "a".repeat(length)));
            assert!(found(&named(236)).is_empty());
            let message = "metadata.name: is too long for the file that is named after it: at most 236";
            assert_eq!(found(&named(237)), [message], "{kind}");
        }
    }
}
