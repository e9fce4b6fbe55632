//! Directories, links and deleted paths of FilesConfig on a real file system: mode, owner, and no link that is followed.
use crate::support::{binary::run, run_output::RunOutput, scratch::Scratch};
use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink},
    path::PathBuf,
};

const NOBODY: u32 = 65534;

/// A root that does not run.
struct Root(Scratch);

impl Root {
    fn new() -> Self {
        let root = Self(Scratch::new("paths"));
        fs::create_dir_all(root.at("/etc")).expect("a directory can be made");
        root
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join("root").join(path.trim_start_matches('/'))
    }

    fn run(&self, words: &[&str], entries: &str) -> RunOutput {
        let head = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig\n";
        let configuration = self.0.path().join("configuration.yaml");
        fs::write(&configuration, format!("{head}spec: {{files: [{entries}]}}\n")).expect("a file can be written");
        let root = self.at("/");
        let [root, configuration] = [&root, &configuration].map(|path| path.to_str().expect("a path in UTF-8"));
        run([words, &["--root", root, "-f", configuration]].concat())
    }

    fn bootstrap(&self, entries: &str) -> RunOutput {
        self.run(&["bootstrap"], entries)
    }

    fn works(&self, entries: &str) {
        let ran = self.bootstrap(entries);
        assert_eq!(ran.code, Some(0), "{entries}: {}", ran.stderr);
        let plan = self.run(&["plan", "--exit-code"], entries);
        assert_eq!(plan.code, Some(0), "{entries}: {}", plan.stdout);
    }

    fn is_refused(&self, entries: &str, why: &str) {
        for command in ["plan", "bootstrap"] {
            let ran = self.run(&[command], entries);
            assert_eq!(ran.code, Some(1), "{entries}: {}", ran.stdout);
            assert!(ran.stderr.contains(why), "{entries}: {}", ran.stderr);
        }
    }

    fn mode(&self, path: &str) -> u32 {
        fs::symlink_metadata(self.at(path)).expect("it is there").permissions().mode() & 0o7777
    }
}

#[test]
fn a_directory_gets_its_mode_and_owner_whether_it_is_new_or_not() {
    testbed::needs!(Root);
    let root = Root::new();
    let entry = "{path: /srv/a/b, type: directory, mode: '2750', owner: '65534:65534'}";
    root.works(entry);
    assert_eq!((root.mode("/srv/a/b"), root.mode("/srv/a")), (0o2750, 0o755));
    assert_eq!(fs::metadata(root.at("/srv/a/b")).unwrap().uid(), NOBODY);
    // Neither is as the entry says any more, and what is in it stays.
    fs::write(root.at("/srv/a/b/file"), "x").unwrap();
    fs::set_permissions(root.at("/srv/a/b"), fs::Permissions::from_mode(0o777)).unwrap();
    lchown(root.at("/srv/a/b"), Some(0), Some(0)).unwrap();
    root.works(entry);
    let found = fs::metadata(root.at("/srv/a/b")).unwrap();
    assert_eq!((root.mode("/srv/a/b"), found.uid(), found.gid()), (0o2750, NOBODY, NOBODY));
    assert_eq!(fs::read_to_string(root.at("/srv/a/b/file")).unwrap(), "x");
}

#[test]
fn a_link_is_created_and_replaced_and_never_followed() {
    let root = Root::new();
    fs::create_dir(root.at("/real")).unwrap();
    symlink("/real", root.at("/etc/l")).unwrap();
    root.works("{path: /etc/l, type: link, target: ../gone}");
    assert_eq!(fs::read_link(root.at("/etc/l")).unwrap().to_str(), Some("../gone"));
    assert_eq!(fs::read_dir(root.at("/real")).unwrap().count(), 0, "nothing was written through the link");
    assert_eq!(fs::read_dir(root.at("/etc")).unwrap().count(), 1, "no draft stays");
    root.is_refused(
        "{path: /etc/l, type: directory}",
        "is a symbolic link, but the configuration has a directory there",
    );
    root.is_refused(
        "{path: /real, type: link, target: x}",
        "is a directory, but the configuration has a symbolic link",
    );
}

#[test]
fn a_file_a_link_and_an_empty_directory_are_deleted_and_the_target_of_the_link_is_not() {
    let root = Root::new();
    fs::write(root.at("/etc/file"), "x").unwrap();
    fs::write(root.at("/etc/target"), "x").unwrap();
    symlink("target", root.at("/etc/link")).unwrap();
    fs::create_dir(root.at("/etc/empty")).unwrap();
    let paths = ["/etc/file", "/etc/link", "/etc/empty", "/etc/nothing"];
    root.works(&paths.map(|path| format!("{{path: {path}, type: absent}}")).join(", "));
    let left: Vec<_> = fs::read_dir(root.at("/etc")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["target"]);
}

#[test]
fn a_directory_with_content_is_not_deleted_and_the_reason_is_printed() {
    let root = Root::new();
    fs::create_dir(root.at("/etc/d")).unwrap();
    fs::write(root.at("/etc/d/file"), "x").unwrap();
    root.is_refused("{path: /etc/d, type: absent}", "/etc/d: is a directory that is not empty: it has 1 entry");
    assert!(root.at("/etc/d/file").exists());
}

#[test]
fn a_file_that_is_too_large_to_read_is_deleted_and_not_restored() {
    let root = Root::new();
    let swap = fs::File::create(root.at("/swapfile")).unwrap();
    swap.set_len(65 << 20).unwrap();
    root.works("{path: /swapfile, type: absent}");
    assert!(!root.at("/swapfile").exists());
    let ran = root.run(&["bootstrap", "--mode", "post", "--prune"], "{path: /etc/k, content: k}");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!root.at("/swapfile").exists());
}

#[test]
fn a_link_in_a_directory_of_another_user_leads_no_directory_or_link_outside() {
    testbed::needs!(Root);
    let root = Root::new();
    fs::create_dir_all(root.at("/srv/user")).unwrap();
    lchown(root.at("/srv/user"), Some(NOBODY), Some(NOBODY)).unwrap();
    fs::create_dir(root.at("/opt")).unwrap();
    symlink("/opt", root.at("/srv/user/l")).unwrap();
    for entry in ["type: directory", "type: link, target: x", "type: absent"] {
        root.is_refused(&format!("{{path: /srv/user/l/d, {entry}}}"), "in a directory that other users can write");
    }
    assert_eq!(fs::read_dir(root.at("/opt")).unwrap().count(), 0);
}
