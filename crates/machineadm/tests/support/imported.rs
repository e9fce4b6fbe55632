//! `machineadm config import` as a process: the document that it prints, and what it lists.
use super::ran::Ran;
use serde_json::Value;
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Runs the command with a text on standard input.
pub(crate) fn import(words: &[&str], input: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["config", "import"]).args(words).env("NO_COLOR", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // A command that refuses its flags does not read.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    Ran::of(child.wait_with_output().expect("it ends"))
}

/// What became of a file.
pub(crate) struct Imported {
    /// The document, as `-f` takes it.
    pub(crate) document: Value,
    /// Path and value of each field that has no place.
    pub(crate) losses: Vec<(String, String)>,
}

/// Imports a file, losses allowed.
pub(crate) fn imported(words: &[&str], input: &str) -> Imported {
    let ran = import(&[&["-f", "-", "--allow-loss", "-o", "json"], words].concat(), input);
    assert_eq!(ran.code, Some(0), "{}\n{input}", ran.stderr);
    let mut result: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let losses = result["losses"].as_array().expect("a list").iter();
    let losses = losses.map(|loss| (text(&loss["path"]), text(&loss["value"]))).collect();
    Imported { document: result["documents"][0].take(), losses }
}
