//! A run that is listened to until it has said enough, and then ended: nobody waits for more than the words.
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

/// Far more than any answer takes: only a failure waits for it.
pub(crate) const PATIENCE: &str = "10m";

/// What it had said by then.
#[derive(Debug)]
pub(crate) struct PartialRun {
    /// On standard error, until it was enough.
    pub(crate) said: String,
    /// On standard output.
    pub(crate) printed: Vec<u8>,
    /// The exit code of a run that ended by itself.
    pub(crate) code: Option<i32>,
}

/// Listens to standard error. Whoever says `error:` is about to end, and is let.
pub(crate) fn run_until(command: &mut Command, is_enough: impl Fn(&str) -> bool) -> PartialRun {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
    let (mut said, mut line, mut enough) = (String::new(), Vec::new(), false);
    while !enough && lines.read_until(b'\n', &mut line).expect("it can be read") > 0 {
        said.push_str(&String::from_utf8_lossy(&line));
        enough = is_enough(&said) && !said.contains("error: ");
        line.clear();
    }
    if enough {
        child.kill().expect("it is ours");
    }
    let output = child.wait_with_output().expect("it ends");
    PartialRun { said, printed: output.stdout, code: output.status.code() }
}
