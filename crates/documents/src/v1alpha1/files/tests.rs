//! What a FilesConfig accepts and what it refuses.
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
    let yaml = "files: [{path: /etc/a, content: aGk=, encoding: base64, owner: 'www-data:0', mode: '0600', block: b}]";
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
