//! `machineadm init` as a process that changes nothing: the document that it prints, and what it refuses.
use crate::support::{run_output::RunOutput, scratch::Scratch};
use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

pub(crate) const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
pub(crate) const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";

pub(crate) fn init_reading(words: &[&str], input: &str) -> RunOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.arg("init").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A kubeadm that is installed here is none of these tests' concern.
    let mut child = command.env("PATH", "/nonexistent").spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A command that refuses its flags does not read.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    RunOutput::of(child.wait_with_output().expect("it ends"))
}

pub(crate) fn init(words: &[&str]) -> RunOutput {
    init_reading(words, "")
}

pub(crate) fn file(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.path().join(name);
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    path.display().to_string()
}

/// The spec of the document that flags mean, which `validate` accepts.
pub(crate) fn printed(words: &[&str]) -> String {
    let ran = init(&[words, &["--print-config"]].concat());
    assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.stderr);
    let scratch = Scratch::new("init");
    let path = file(&scratch, "node.yaml", &ran.stdout);
    let validated = Command::new(env!("CARGO_BIN_EXE_machineadm")).args(["validate", "-f", &path]).output();
    let validated = RunOutput::of(validated.expect("it starts"));
    assert_eq!(validated.code, Some(0), "{}{}", validated.stdout, validated.stderr);
    let head = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: InitConfig\nspec:\n";
    ran.stdout.strip_prefix(head).expect("an InitConfig").to_owned()
}

/// Refused with exit code 2, nothing on standard output, and this text.
pub(crate) fn refused(words: &[&str], texts: &[&str]) {
    let ran = init(words);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ran.stderr);
    for text in texts {
        assert!(ran.stderr.contains(text), "{words:?}: {text}: {}", ran.stderr);
    }
}
