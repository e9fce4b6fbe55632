//! FilesConfig: files with their contents, directories, symbolic links, and paths where nothing shall be.
use super::{
    API_VERSION,
    contents::Encoding,
    path_entry::{PathEntry, path_entry},
};
use crate::{
    Claim, Claimed, EntrySort, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Files with their contents, directories, symbolic links, and paths where nothing shall be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FilesConfig {
    /// The entries, processed in this order. Missing parent directories are created with mode 0755.
    #[schemars(length(min = 1))]
    pub files: Vec<FileEntry>,
}

/// What an entry of FilesConfig is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryType {
    /// A regular file with `content`, or a `block` of one.
    #[default]
    File,
    /// A directory. Mode and owner of an existing directory are changed where the entry names them; its content stays.
    Directory,
    /// A symbolic link to `target`. An existing link is replaced; a file or directory is not.
    Link,
    /// Nothing: a file, a link or an empty directory is deleted. A directory that is not empty is an error. `--prune`
    /// restores a file of at most 1 MiB.
    Absent,
}

impl EntryType {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
            Self::Absent => "absent",
        }
    }

    fn is_file(&self) -> bool {
        *self == Self::File
    }
}

/// One path and what shall be there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = forms()))]
pub struct FileEntry {
    /// Absolute path without `..`, not below /proc, /sys or /dev.
    #[schemars(regex(pattern = "^/.*[^/]$"))]
    pub path: String,
    /// Type of the entry: `file`, `directory`, `link` or `absent`. Something of another type at the path is an error and is
    /// not replaced; a file entry writes the file that a link at its path points to.
    #[serde(rename = "type", default, skip_serializing_if = "EntryType::is_file")]
    #[schemars(extend("default" = "file"))]
    pub entry_type: EntryType,
    /// The content of a file; required for type `file`. A plan shows what changes in it only where every user may read
    /// the file.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub content: Option<Secret<String>>,
    /// The encoding of `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "plain"))]
    pub encoding: Option<Encoding>,
    /// Owner of a file or directory, as `user` or `user:group`, names or numbers; without a group, the group with the
    /// user's name. A new one is owned by root:root by default, an existing one keeps its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Permission bits of a file or directory in octal, in quotes: `"0644"`. A new file gets 0644 by default and a new
    /// directory 0755; an existing one keeps its mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-7]{3,4}$"))]
    pub mode: Option<String>,
    /// The name of a managed block in a file. With it only the lines between `# BEGIN machineadm NAME` and
    /// `# END machineadm NAME` are managed, and the rest of the file is unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
    pub block: Option<String>,
    /// The target of a link, absolute or relative to the link's directory; required for type `link`. It does not have to
    /// exist and is never followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub target: Option<String>,
}

/// The members that each type takes, for editors.
fn forms() -> serde_json::Value {
    const OF_TYPES: [&str; 6] = ["content", "encoding", "block", "mode", "owner", "target"];
    let form = |entry_type: EntryType, allowed: &[&str], required: &[&str]| {
        let others = OF_TYPES.iter().filter(|name| !allowed.contains(name));
        let mut properties: serde_json::Map<_, _> =
            others.map(|name| ((*name).to_owned(), json!({"type": "null"}))).collect();
        properties.extend(required.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))));
        properties.insert("type".to_owned(), json!({"enum": [entry_type.name()]}));
        json!({"properties": properties, "required": required})
    };
    json!([
        form(EntryType::File, &["content", "encoding", "block", "mode", "owner"], &["content"]),
        form(EntryType::Directory, &["mode", "owner"], &["type"]),
        form(EntryType::Link, &["target"], &["type", "target"]),
        form(EntryType::Absent, &[], &["type"]),
    ])
}

impl Document for FilesConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "FilesConfig";
    const SUMMARY: &str = "Files with their content, managed blocks in files, directories, links, and deleted paths.";
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
  - path: /var/lib/etcd
    type: directory
    mode: \"0700\"
  - path: /etc/localtime
    type: link
    target: /usr/share/zoneinfo/UTC
  - path: /etc/cni/net.d/100-crio-bridge.conflist
    type: absent
";
}

impl Check for FilesConfig {
    type Checked = Vec<PathEntry>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Vec<PathEntry> {
        let Self { files } = self;
        if files.is_empty() {
            findings.error("spec.files", "must contain at least one file");
        }
        let files = files.into_iter().enumerate();
        files.map(|(index, entry)| path_entry(entry, &path::item("spec.files", index), findings)).collect()
    }
}

impl Body for Vec<PathEntry> {
    fn secrets(&self) -> Vec<&[u8]> {
        let files = self.iter().filter_map(PathEntry::file);
        files.filter(|file| !file.is_public()).map(|file| file.contents.expose().as_slice()).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let claim = |(index, entry): (usize, &'a PathEntry)| {
            let path = entry.path();
            let sort = |sort| Claimed::Entry { path, sort };
            let what = match entry {
                PathEntry::File(file) => Claimed::File { path, block: file.block.as_deref() },
                PathEntry::Directory(_) => sort(EntrySort::Directory),
                PathEntry::Link(_) => sort(EntrySort::Link),
                PathEntry::Absent { .. } => sort(EntrySort::Absent),
            };
            Claim::new(path::item("spec.files", index), what)
        };
        self.iter().enumerate().map(claim).collect()
    }

    fn conceal(&mut self) {
        for entry in self {
            if let PathEntry::File(file) = entry {
                file.confidential = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AnyDocument,
        testing::{problems, spec},
        v1alpha1::{Directory, File, Link, Owner, PathEntry},
    };

    fn entries(yaml: &str) -> Vec<PathEntry> {
        match spec("FilesConfig", yaml) {
            AnyDocument::Files(entries) => entries,
            other => panic!("{other:?}"),
        }
    }

    fn files(yaml: &str) -> Vec<File> {
        entries(yaml).iter().filter_map(PathEntry::file).cloned().collect()
    }

    #[test]
    fn directories_links_and_absent_paths_are_entries_of_their_own_types() {
        let yaml = "
    files:
    - {path: /srv/a, type: directory, mode: '0700', owner: etcd}
    - {path: /etc/b, type: link, target: ../c}
    - {path: /etc/d, type: absent}";
        let owner = Some(Owner { user: "etcd".into(), group: "etcd".into() });
        let expected = [
            PathEntry::Directory(Directory { path: "/srv/a".into(), mode: Some(0o700), owner }),
            PathEntry::Link(Link { path: "/etc/b".into(), target: "../c".into() }),
            PathEntry::Absent { path: "/etc/d".into() },
        ];
        assert_eq!(entries(yaml), expected);
    }

    #[test]
    fn a_member_that_does_not_fit_the_type_is_an_error_with_its_path() {
        let yaml = "
    files:
    - {path: /a, type: directory, content: x, encoding: plain, block: b, target: t}
    - {path: /b, type: link, target: t, mode: '0644', owner: root}
    - {path: /c, type: absent, content: x, mode: '0644'}
    - {path: /d, content: x, target: t}";
        let expected = [
            (0, "content"),
            (0, "encoding"),
            (0, "block"),
            (0, "target"),
            (1, "mode"),
            (1, "owner"),
            (2, "content"),
            (2, "mode"),
            (3, "target"),
        ];
        assert_eq!(problems("FilesConfig", yaml), expected.map(|(at, field)| format!("spec.files[{at}].{field}")));
    }

    #[test]
    fn a_link_needs_a_target_and_a_file_needs_content() {
        let yaml = "files: [{path: /a, type: link}, {path: /b}, {path: /c, type: link, target: \"a\\nb\"}]";
        let expected = ["spec.files[0].target", "spec.files[1].content", "spec.files[2].target"];
        assert_eq!(problems("FilesConfig", yaml), expected);
    }

    #[test]
    fn reserved_paths_hold_for_entries_of_every_type() {
        for entry_type in ["directory", "absent", "link, target: x"] {
            let yaml = format!("files: [{{path: /run/machineadm/lock, type: {entry_type}}}]");
            assert_eq!(problems("FilesConfig", &yaml), ["spec.files[0].path"], "{entry_type}");
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
