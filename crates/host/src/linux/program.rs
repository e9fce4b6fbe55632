//! Programs of the system that we run ourselves: a clean environment, and an error that tells how they ended.
use crate::{Error, Result, contract};
use secret::Secret;
use std::process::{Command, ExitStatus, Output};

/// The variables that every child gets, and no others.
pub(super) const ENVIRONMENT: [(&str, &str); 3] =
    [("PATH", contract::PROGRAM_PATH), ("HOME", "/root"), ("LC_ALL", "C.UTF-8")];

/// Runs a program that has nothing to say.
pub(super) fn quiet(name: &str, arguments: &[&str]) -> Result<()> {
    output(name, arguments).map(drop)
}

/// Runs a program for what it prints.
pub(super) fn output(name: &str, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(name);
    command.args(arguments).env_clear().envs(ENVIRONMENT);
    finished(name, command.output())
}

/// What a program printed, or how it failed.
pub(super) fn finished(name: &str, ended: std::io::Result<Output>) -> Result<String> {
    let Output { status, stdout, stderr } = ended.map_err(Error::io(format!("run {name}")))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let output = Secret::new([stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat());
    Err(Error::Program { program: name.to_owned(), how: how(status), output })
}

/// How a program ended, in words.
pub(super) fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (_, Some(signal)) => format!("was terminated by signal {signal}"),
        _ => "ended with an unknown status".into(),
    }
}
