//! FilesConfig: files with their contents, owner and mode, or a managed block inside a file of somebody else's.
use super::{
    API_VERSION,
    absolute_path::{is_virtual, path_problem},
    contents::{Encoding, contents},
    reserved::Reserved,
};
use crate::{
    Claim, Claimed, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file that shall be on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Absolute, without `.`, `..` or doubled slashes.
    pub path: String,
    /// What it holds, or what its block holds.
    pub contents: Secret<Vec<u8>>,
    /// Permission bits; a new file without them gets 0644.
    pub mode: Option<u32>,
    /// Who owns it; a new file without it belongs to root:root.
    pub owner: Option<Owner>,
    /// The name of the managed block; without it the whole file is ours.
    pub block: Option<String>,
    /// Whether it came sealed, so that its contents are never shown.
    pub confidential: bool,
}

impl File {
    /// Whether everybody on the machine may read it, as far as this document says.
    pub fn is_public(&self) -> bool {
        !self.confidential && self.mode.is_none_or(|mode| mode & 0o004 != 0)
    }
}

/// A file's owner, by name or by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// User.
    pub user: String,
    /// Group.
    pub group: String,
}

/// Files with their contents, owner and mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FilesConfig {
    /// The files, written in this order. Missing directories are created.
    #[schemars(length(min = 1))]
    pub files: Vec<FileEntry>,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileEntry {
    /// Absolute path of the file, without `..`, not below /proc, /sys or /dev, and not a file of machineadm itself.
    #[schemars(regex(pattern = "^/.*[^/]$"))]
    pub path: String,
    /// Content of the file. A plan shows changes only of files that all users can read.
    #[serde(serialize_with = "secret::exposed")]
    pub content: Secret<String>,
    /// Encoding of `content`.
    #[serde(default, skip_serializing_if = "Encoding::is_plain")]
    #[schemars(extend("default" = "plain"))]
    pub encoding: Encoding,
    /// Owner as `user` or `user:group`, names or numbers. Without a group: the group of the same name as the user. Default
    /// for a new file: root:root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Mode in octal, in quotes: `"0644"`. Default for a new file: 0644.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-7]{3,4}$"))]
    pub mode: Option<String>,
    /// Name of a managed block. When set, only the lines between `# BEGIN machineadm NAME` and `# END machineadm NAME` are
    /// managed, and the rest of the file is unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
    pub block: Option<String>,
}

impl Document for FilesConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "FilesConfig";
    const SUMMARY: &str = "Files with their contents, owner and mode, or a managed block inside a file.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
metadata:
  name: motd
spec:
  files:
  - path: /etc/motd
    content: |
      Managed by machineadm.
    mode: \"0644\"
    owner: root:root
  - path: /etc/hosts
    block: registry
    content: 10.0.0.5 registry.example.com
";
}

impl Check for FilesConfig {
    type Checked = Vec<File>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Vec<File> {
        let Self { files } = self;
        if files.is_empty() {
            findings.error("spec.files", "must contain at least one file");
        }
        let files = files.into_iter().enumerate();
        files.map(|(index, entry)| file(entry, &path::item("spec.files", index), findings)).collect()
    }
}

impl Body for Vec<File> {
    fn secrets(&self) -> Vec<&[u8]> {
        self.iter().filter(|file| !file.is_public()).map(|file| file.contents.expose().as_slice()).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let claim = |(index, file): (usize, &'a File)| {
            let (path, block) = (file.path.as_str(), file.block.as_deref());
            Claim::new(path::item("spec.files", index), Claimed::File { path, block })
        };
        self.iter().enumerate().map(claim).collect()
    }

    fn conceal(&mut self) {
        self.iter_mut().for_each(|file| file.confidential = true);
    }
}

fn file(entry: FileEntry, here: &str, findings: &mut Findings<'_>) -> File {
    let FileEntry { path, content, encoding, owner, mode, block } = entry;
    let field = |name: &str| path::member(here, name);
    if let Some(problem) = path_problem(&path) {
        findings.error(&field("path"), problem);
    } else if is_virtual(&path) {
        findings
            .error(&field("path"), "must not be below /proc, /sys or /dev")
            .hint("use SysctlConfig for kernel parameters");
    } else if let Some(reserved) = Reserved::of(&path) {
        findings.error(&field("path"), reserved.message()).hint(reserved.hint());
    }
    let contents = contents(&content, encoding, &field("content"), findings);
    let mode = mode.and_then(|text| {
        let mode = octal(&text);
        if mode.is_none() {
            findings.error(&field("mode"), "must be 3 or 4 octal digits, such as \"0644\"");
        }
        mode
    });
    let owner = owner.and_then(|text| {
        let owner = owner_of(&text);
        if owner.is_none() {
            findings.error(&field("owner"), "must be `user` or `user:group`, names or numbers");
        }
        owner
    });
    if let Some(name) = &block {
        if !is_block_name(name) {
            findings.error(&field("block"), "must be letters, digits, `.`, `_` and `-`, at most 64");
        } else if contents.as_ref().is_some_and(|contents| holds_markers(contents.expose(), name)) {
            findings.error(&field("content"), "must not contain the lines that mark its own block");
        }
    }
    let contents = contents.unwrap_or_else(|| Secret::new(Vec::new()));
    File { path, contents, mode, owner, block, confidential: false }
}

fn octal(text: &str) -> Option<u32> {
    let digits = (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    if digits { u32::from_str_radix(text, 8).ok() } else { None }
}

fn owner_of(text: &str) -> Option<Owner> {
    let (user, group) = text.split_once(':').unwrap_or((text, text));
    (is_account(user) && is_account(group)).then(|| Owner { user: user.to_owned(), group: group.to_owned() })
}

/// A user's or group's name, or its number; the largest number means "nobody in particular" to the kernel.
fn is_account(name: &str) -> bool {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return name.parse::<u32>().is_ok_and(|number| number < u32::MAX);
    }
    let name = name.strip_suffix('$').unwrap_or(name);
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.@-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('-')
}

fn is_block_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    first && name.len() <= 64 && name.bytes().all(allowed)
}

fn holds_markers(contents: &[u8], block: &str) -> bool {
    let markers = [format!("# BEGIN machineadm {block}"), format!("# END machineadm {block}")];
    contents
        .split(|byte| *byte == b'\n')
        .any(|line| markers.iter().any(|marker| line.trim_ascii() == marker.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{File, Owner};
    use crate::{
        AnyDocument,
        testing::{problems, spec},
    };

    fn files(yaml: &str) -> Vec<File> {
        match spec("FilesConfig", yaml) {
            AnyDocument::Files(files) => files,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_is_decoded_with_all_its_members() {
        let yaml =
            "files: [{path: /etc/a, content: aGk=, encoding: base64, owner: 'www-data:0', mode: '0600', block: b}]";
        let owner = Owner { user: "www-data".into(), group: "0".into() };
        let file = files(yaml).remove(0);
        assert_eq!(file.contents.expose(), b"hi");
        assert_eq!((file.mode, file.owner, file.block), (Some(0o600), Some(owner), Some("b".into())));
    }

    #[test]
    fn what_is_not_given_stays_open() {
        let file = files("files: [{path: /etc/a, content: ''}]").remove(0);
        assert_eq!((file.contents.expose().len(), file.mode, file.owner, file.block), (0, None, None, None));
    }

    #[test]
    fn an_owner_without_group_has_the_group_of_the_same_name() {
        let owner = files("files: [{path: /a, content: x, owner: etcd}]").remove(0).owner.unwrap();
        assert_eq!((owner.user.as_str(), owner.group.as_str()), ("etcd", "etcd"));
    }

    #[test]
    fn every_bad_member_of_every_file_is_listed() {
        let yaml = "
    files:
    - {path: etc/a, content: '!', encoding: base64, owner: 'a:', mode: '9', block: /}
    - {path: /sys/a, content: x}";
        let expected = ["path", "content", "owner", "mode", "block"].map(|field| format!("spec.files[0].{field}"));
        assert_eq!(problems("FilesConfig", yaml)[..5], expected);
        assert_eq!(problems("FilesConfig", yaml)[5..], ["spec.files[1].path"]);
    }

    #[test]
    fn a_mode_without_quotes_is_a_number_and_refused() {
        assert_eq!(problems("FilesConfig", "files: [{path: /a, content: x, mode: 0644}]"), ["spec.files[0].mode"]);
    }

    #[test]
    fn a_block_does_not_hold_its_own_markers() {
        let yaml = |line: &str| format!("files: [{{path: /a, block: b, content: \"x\\n{line} \\r\\ny\"}}]");
        assert_eq!(problems("FilesConfig", &yaml("# END machineadm b")), ["spec.files[0].content"]);
        assert!(problems("FilesConfig", &yaml("# END machineadm c")).is_empty());
    }
}
