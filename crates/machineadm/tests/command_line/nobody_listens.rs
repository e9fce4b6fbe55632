//! A log whose disk is full, or a terminal that has gone, ends no run in the middle.
use crate::support::documents::document;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// Standard errors that take nothing.
fn deaf() -> [(&'static str, Stdio); 2] {
    let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full can be opened");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    [("a full disk", full.into()), ("a pipe that nobody reads", writer.into())]
}

/// A machine with a configuration, and how machineadm ended there.
fn ended(root: &Path, configuration: &str, words: &[&str], stderr: Stdio) -> Option<i32> {
    fs::create_dir_all(root.join("etc")).expect("a directory");
    fs::write(root.join("node.yaml"), configuration).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.arg("--root").arg(root).args(words).stderr(stderr).stdout(Stdio::null());
    if words == ["bootstrap"] {
        command.arg("-f").arg(root.join("node.yaml"));
    }
    command.status().expect("machineadm starts").code()
}

#[test]
fn a_bootstrap_whose_log_takes_nothing_finishes() {
    for (which, stderr) in deaf() {
        let root = tempfile::tempdir().expect("a directory");
        let configuration = document("FilesConfig", "{files: [{path: /etc/a, content: x}]}");
        assert_eq!(ended(root.path(), &configuration, &["bootstrap"], stderr), Some(0), "{which}");
        assert_eq!(fs::read_to_string(root.path().join("etc/a")).expect("the file"), "x", "{which}");
    }
}

#[test]
fn what_is_wrong_has_its_exit_code_although_nobody_can_be_told() {
    for words in [&["bootstrap"][..], &["token", "list", "--kubeconfig", "/none"]] {
        for (which, stderr) in deaf() {
            let root = tempfile::tempdir().expect("a directory");
            assert_eq!(ended(root.path(), "kind: Nothing\n", words, stderr), Some(2), "{words:?}: {which}");
        }
    }
}
