//! Running programs of the host: with a time limit, with their output kept, and gone when the time is over.
use crate::{Error, Result, doctor, wait};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a program left: its exit code and everything it printed.
#[derive(Debug, Clone)]
pub struct Output {
    /// The exit code; `128 + n` for one that was ended by signal `n`, as shells count.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Whether the exit code is 0.
    pub fn success(&self) -> bool {
        self.code == 0
    }
}

/// What a program reads.
pub(crate) enum Input<'a> {
    /// Nothing at all.
    Nothing,
    /// These bytes.
    Bytes(&'a [u8]),
    /// Another program's output, or an open file.
    From(Stdio),
}

/// Runs to the end, whatever the exit code; a program that outlives `limit` is killed with all it started.
pub(crate) fn output(command: &mut Command, input: Input<'_>, limit: Duration) -> Result<Output> {
    let (stdin, bytes) = match input {
        Input::Nothing => (Stdio::null(), Vec::new()),
        Input::Bytes(bytes) => (Stdio::piped(), bytes.to_vec()),
        Input::From(open) => (open, Vec::new()),
    };
    let mut child = start(command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0))?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let writing = child.stdin.take().map(|mut pipe| {
        // A program that closes its input early says so by its exit code, if it minds.
        std::thread::spawn(move || drop(pipe.write_all(&bytes)))
    });
    let Some(status) = wait_within(&mut child, limit)? else {
        end_group(&mut child);
        let seen = [finish(stdout), finish(stderr)].concat();
        return Err(Error::TooLate { what: line(command), limit: wait::on_this_host(limit)?, seen: tail(&seen) });
    };
    if let Some(writing) = writing {
        drop(writing.join());
    }
    Ok(Output { code: code(status), stdout: finish(stdout), stderr: finish(stderr) })
}

/// Runs to a good end and gives standard output; any other end is an error that quotes what it said.
pub(crate) fn check(command: &mut Command, limit: Duration) -> Result<String> {
    let output = output(command, Input::Nothing, limit)?;
    succeeded(&line(command), output).map(|output| output.stdout)
}

/// Turns an exit code other than 0 into an error.
pub(crate) fn succeeded(command: &str, output: Output) -> Result<Output> {
    if output.success() {
        return Ok(output);
    }
    let said = if output.stderr.trim().is_empty() { &output.stdout } else { &output.stderr };
    let status = format!("exit code {}", output.code);
    Err(Error::Failed { command: command.to_owned(), status, output: tail(said) })
}

/// Starts a program; one that is not installed is named together with what installs it.
pub(crate) fn start(command: &mut Command) -> Result<Child> {
    command.spawn().map_err(|source| {
        let program = command.get_program().to_string_lossy().into_owned();
        match source.kind() {
            std::io::ErrorKind::NotFound => doctor::missing_program(&program),
            _ => Error::Start { command: line(command), source },
        }
    })
}

/// Waits for the end; `None` when the time is over first.
pub(crate) fn wait_within(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let limit = wait::on_this_host(limit)?;
    let began = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let ended = child.try_wait().map_err(|source| Error::Start { command: "wait".to_owned(), source })?;
        if ended.is_some() || began.elapsed() >= limit {
            return Ok(ended);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The command line as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The last lines of an output, enough to see what happened.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

fn end_group(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The group may be gone already, which is what we want.
        let _ = kill_process_group(group, Signal::KILL);
    }
    drop(child.wait());
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        drop(pipe.read_to_end(&mut all));
        all
    })
}

fn finish(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let all = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&all).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_outlives_its_time_is_ended_and_named() {
        let error = check(Command::new("sleep").arg("600"), Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().starts_with("sleep 600: not within 50ms"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_installed_is_named_with_its_remedy() {
        let error = check(&mut Command::new("mmdebstrap-of-tomorrow"), Duration::from_secs(1)).unwrap_err();
        assert!(error.to_string().contains("mmdebstrap-of-tomorrow is missing; remedy: "), "{error}");
    }

    #[test]
    fn input_and_exit_code_pass_through() {
        let output =
            output(Command::new("sh").args(["-c", "cat; exit 3"]), Input::Bytes(b"hello"), Duration::from_secs(5))
                .unwrap();
        assert_eq!((output.code, output.stdout.as_str()), (3, "hello"));
    }
}
