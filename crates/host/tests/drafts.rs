//! Drafts on a real file system: resumed, verified, installed all at once, and gone.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]
use flate2::{Compression, write::GzEncoder};
use machineadm_host::{ArchiveRoot, Drafts, Error, Inspect, Linux, Packing, contract::DOWNLOADS_DIR};
use objects::Sha256Sum;
use sha2::{Digest, Sha256};
use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

fn sum(bytes: &[u8]) -> Sha256Sum {
    Sha256Sum(Sha256::digest(bytes).into())
}

fn machine() -> (TempDir, Linux) {
    let root = tempfile::tempdir().unwrap();
    let linux = Linux::new(root.path(), PathBuf::from("/bin/false"), Box::new(|_| ())).unwrap();
    (root, linux)
}

fn received(linux: &mut Linux, bytes: &[u8]) -> Sha256Sum {
    linux.open_draft(sum(bytes)).unwrap().append(bytes).unwrap();
    sum(bytes)
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o755);
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, path, *bytes).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

const PROGRAM: &str = "/opt/bin/kubeadm";

fn file() -> Packing {
    Packing::File { path: PROGRAM.to_owned() }
}

fn unpacked() -> Packing {
    Packing::Archive { directory: "/opt/bin".to_owned(), inside: ArchiveRoot::Bin }
}

#[test]
fn a_draft_is_root_s_alone_and_keeps_what_was_received() {
    let (root, mut linux) = machine();
    let wanted = sum(b"kubeadm 1");
    linux.open_draft(wanted).unwrap().append(b"kube").unwrap();
    let mut draft = linux.open_draft(wanted).unwrap();
    assert_eq!(draft.size(), 4);
    draft.append(b"adm 1").unwrap();
    assert_eq!((draft.size(), linux.draft_sum(wanted).unwrap()), (9, wanted));
    let directory = root.path().join(&DOWNLOADS_DIR[1..]);
    assert_eq!(fs::metadata(&directory).unwrap().mode() & 0o7777, 0o700);
    assert_eq!(fs::metadata(directory.join(wanted.to_string())).unwrap().mode() & 0o7777, 0o600);
    draft.clear().unwrap();
    assert_eq!((draft.size(), linux.draft_sum(wanted).unwrap()), (0, sum(b"")));
    let other = received(&mut linux, b"runc");
    linux.delete_drafts_except(&[other]).unwrap();
    assert_eq!(names(&directory), [other.to_string()]);
    linux.delete_draft(other).unwrap();
    assert_eq!(names(&directory), [""; 0]);
}

#[test]
fn a_program_replaces_another_and_can_be_executed() {
    let (root, mut linux) = machine();
    fs::create_dir_all(root.path().join("opt/bin")).unwrap();
    fs::write(root.path().join("opt/bin/kubeadm"), "old").unwrap();
    let wanted = received(&mut linux, b"kubeadm 1");
    let files = linux.contents_of_draft(wanted, &file()).unwrap();
    linux.install(wanted, &file(), &files).unwrap();
    let found = linux.sum(PROGRAM).unwrap().unwrap();
    assert_eq!((found.sum, found.size, found.mode, found.is_trusted), (wanted, 9, 0o755, true));
    assert_eq!(names(&root.path().join("opt/bin")), ["kubeadm"]);
}

#[test]
fn a_draft_that_changes_after_it_was_verified_is_not_installed() {
    let (root, mut linux) = machine();
    let wanted = received(&mut linux, b"kubeadm 1");
    let files = linux.contents_of_draft(wanted, &file()).unwrap();
    linux.open_draft(wanted).unwrap().append(b"X").unwrap();
    let error = linux.install(wanted, &file(), &files).unwrap_err();
    assert!(error.to_string().contains("changed while it was installed"), "{error}");
    assert_eq!(names(&root.path().join("opt/bin")), [""; 0]);
}

#[test]
fn an_archive_is_installed_whole_or_not_at_all() {
    let (root, mut linux) = machine();
    let bin = root.path().join("opt/bin");
    let bytes = archive(&[("bin/containerd", b"containerd"), ("bin/ctr", b"ctr")]);
    let wanted = received(&mut linux, &bytes);
    let files = linux.contents_of_draft(wanted, &unpacked()).unwrap();
    assert_eq!(names(&bin), [""; 0], "looking writes nothing");
    // The second file has no place.
    fs::create_dir_all(bin.join("ctr")).unwrap();
    assert!(linux.install(wanted, &unpacked(), &files).is_err());
    assert_eq!(names(&bin), ["ctr"], "nothing of the first is left");
    fs::remove_dir(bin.join("ctr")).unwrap();
    linux.install(wanted, &unpacked(), &files).unwrap();
    assert_eq!(names(&bin), ["containerd", "ctr"]);
    assert_eq!(linux.sum("/opt/bin/ctr").unwrap().unwrap().sum, sum(b"ctr"));
    let bad = archive(&[("bin/good", b"g"), ("etc/bad", b"b")]);
    let wanted = received(&mut linux, &bad);
    assert!(linux.contents_of_draft(wanted, &unpacked()).is_err());
    assert_eq!(names(&bin), ["containerd", "ctr"]);
}

#[test]
fn no_program_is_written_into_machineadm_s_own_directories_through_a_link() {
    let (root, mut linux) = machine();
    fs::create_dir_all(root.path().join("var/lib/machineadm")).unwrap();
    fs::create_dir_all(root.path().join("opt")).unwrap();
    symlink("/var/lib/machineadm", root.path().join("opt/bin")).unwrap();
    let wanted = received(&mut linux, b"x");
    let files = linux.contents_of_draft(wanted, &file()).unwrap();
    assert!(matches!(linux.install(wanted, &file(), &files), Err(Error::Refused { .. })));
    assert!(!root.path().join("var/lib/machineadm/kubeadm").exists());
}

#[test]
fn local_files_are_copied_and_directories_of_others_are_not_read() {
    let (root, mut linux) = machine();
    let images = root.path().join("srv/images");
    fs::create_dir_all(&images).unwrap();
    fs::write(images.join("b.tar"), "b").unwrap();
    fs::write(images.join("a.tar"), "a").unwrap();
    linux.copy_to_draft(sum(b"a"), "/srv/images/a.tar").unwrap();
    assert_eq!(linux.draft_sum(sum(b"a")).unwrap(), sum(b"a"));
    assert!(matches!(linux.copy_to_draft(sum(b"a"), "/srv/none"), Err(Error::Unfit { .. })));
    assert_eq!(linux.names_in("/srv/images").unwrap().unwrap(), ["a.tar", "b.tar"]);
    assert_eq!(linux.names_in("/srv/none").unwrap(), None);
    fs::set_permissions(&images, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(linux.names_in("/srv/images"), Err(Error::Untrusted { .. })));
    fs::set_permissions(images.join("a.tar"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(!linux.sum("/srv/images/a.tar").unwrap().unwrap().is_trusted);
}
