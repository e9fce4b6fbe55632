//! A program as a child under guard: its script is no argument, the end of its output is stored, its time is limited.
use super::{child, program, tail::Tail};
use crate::{Call, Error, Program, Result};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    fs::{MemfdFlags, memfd_create},
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group},
};
use secret::Secret;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// How long a program of the system's own may take.
const PROGRAM: Duration = Duration::from_secs(300);
/// Between asking a command to end and ending it.
const GRACE: Duration = Duration::from_secs(10);
/// How much a pipe holds.
const PIPE: usize = 64 << 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Reads the script from standard input to its end, then runs it without one.
///
/// A path below `/proc` or `/dev` would name the script too, but a root that does not run yet has neither.
const LOADER: &str = r#"_machineadm_script=
while IFS= read -r _machineadm_line || [ -n "$_machineadm_line" ]; do
  _machineadm_script="$_machineadm_script$_machineadm_line
"
done
if [ -c /dev/null ]; then exec </dev/null; else exec <&-; fi
eval "unset _machineadm_script _machineadm_line; $_machineadm_script""#;

/// Who runs commands, and where.
pub(super) struct Runner<'a> {
    /// machineadm's own program.
    pub(super) itself: &'a Path,
    /// The root directory that the command sees.
    pub(super) root: &'a Path,
    /// Gets each line as it comes.
    pub(super) echo: &'a dyn Fn(&str),
}

impl Runner<'_> {
    /// Runs a program to its end.
    pub(super) fn run(&self, program: &Program) -> Result<()> {
        judged(&program.name, self.ended(program)?)
    }

    /// Runs a program of the system's own, whose output is not needed.
    pub(super) fn quiet(&self, argv: &[&str]) -> Result<()> {
        let name = argv[0].to_owned();
        let call = Call::Argv(argv.iter().map(|&word| word.to_owned()).collect());
        self.silent().run(&Program { name, call, environment: BTreeMap::new(), within: PROGRAM })
    }

    /// Whether a program that only looks ends well.
    pub(super) fn succeeds(&self, program: &Program) -> Result<bool> {
        Ok(self.silent().ended(program)?.0.success())
    }

    /// Runs a program of the system's own for what it prints, whatever its exit code is.
    pub(super) fn printed(&self, program: &Program) -> Result<Secret<String>> {
        Ok(self.silent().ended(program)?.1)
    }

    /// The same as [`Self::run`], without echo.
    pub(super) fn run_silently(&self, program: &Program) -> Result<()> {
        self.silent().run(program)
    }

    /// Runs a program with this as its standard input, which no other process can see.
    pub(super) fn run_with_input(&self, program: &Program, input: &Secret<String>) -> Result<()> {
        let Call::Argv(argv) = &program.call else { return self.run_silently(program) };
        let stdin = in_memory(&program.name, input)?.into();
        judged(&program.name, self.silent().child(program, argv, stdin)?)
    }

    fn silent(&self) -> Runner<'_> {
        Runner { echo: &|_| (), ..*self }
    }

    fn ended(&self, program: &Program) -> Result<(ExitStatus, Secret<String>)> {
        match &program.call {
            Call::Argv(argv) => self.child(program, argv, Stdio::null()),
            Call::Script(script) => {
                let argv = ["/bin/sh", "-e", "-c", LOADER].map(str::to_owned);
                self.child(program, &argv, in_memory(&program.name, script)?.into())
            }
        }
    }

    fn child(&self, program: &Program, argv: &[String], stdin: Stdio) -> Result<(ExitStatus, Secret<String>)> {
        let Program { name, environment, within, .. } = program;
        let (reader, writer) = io::pipe().map_err(Error::io(format!("run {name}")))?;
        let mut command = Command::new(self.itself);
        command.arg(child::MARK).arg(std::process::id().to_string()).arg(self.root).args(argv);
        command.env_clear().envs(program::ENVIRONMENT);
        command.envs(environment.iter().map(|(key, value)| (key, value.expose())));
        command.stdin(stdin).process_group(0);
        let both = writer.try_clone().map_err(Error::io(format!("run {name}")))?;
        command.stdout(both).stderr(writer);
        let mut child = command.spawn().map_err(Error::io(format!("run {name}")))?;
        // Our ends of the pipe and of the script's memory go with it.
        drop(command);
        let mut tail = Tail::new(self.echo);
        let status = watch(&mut child, reader, *within, &mut tail).map_err(Error::io(format!("watch {name}")))?;
        match status {
            Some(status) => Ok((status, tail.end())),
            None => Err(timed_out(name, *within, tail.end())),
        }
    }
}

/// What a read-only program of the running system prints to its standard output, the end of it; `None` when there is no
/// such program.
pub(super) fn output(argv: &[&str], within: Duration) -> Result<Option<String>> {
    let Some(ended) = printed(argv, within, Stderr::Dropped)? else { return Ok(None) };
    let text = ended.1.expose().clone();
    judged(argv[0], ended).map(|()| Some(text))
}

/// What a read-only program of the running system prints to its standard output when it reads this. Its input is a file
/// in memory, which it may also open by name and read twice; its standard error is the output of a failure.
pub(super) fn answer(argv: &[&str], input: &str, within: Duration) -> Result<Option<String>> {
    let stdin = in_memory(argv[0], &Secret::new(input.to_owned()))?;
    let errors = in_memory(argv[0], &Secret::new(String::new()))?;
    let mut stderr = errors.try_clone().map_err(Error::io(format!("run {}", argv[0])))?;
    let streams = Streams { stdin: stdin.into(), stderr: Stderr::File(errors) };
    let Some((status, text)) = printed_with(argv, within, streams)? else { return Ok(None) };
    if status.success() {
        return Ok(Some(text.expose().clone()));
    }
    let mut output = Vec::new();
    let read = stderr.rewind().and_then(|()| Read::by_ref(&mut stderr).take(ERRORS).read_to_end(&mut output));
    read.map_err(Error::io(format!("read the errors of {}", argv[0])))?;
    let output = Secret::new(String::from_utf8_lossy(&output).into_owned());
    judged(argv[0], (status, output)).map(|()| None)
}

/// How much of a program's standard error is read.
const ERRORS: u64 = 8 << 10;

/// What a program printed, and how it ended if it did not end well.
#[derive(Debug)]
pub struct Transcript {
    /// The end of both its outputs; may hold secrets.
    pub text: Secret<String>,
    /// Such as `ended with exit code 3`.
    pub failure: Option<String>,
}

/// What a read-only program of the running system prints to both its outputs; `None` when there is no such program.
pub(super) fn transcript(argv: &[&str], within: Duration) -> Result<Option<Transcript>> {
    let ended = printed(argv, within, Stderr::Included)?;
    Ok(ended.map(|(status, text)| Transcript { text, failure: (!status.success()).then(|| program::how(status)) }))
}

/// How much of an output is stored, and of a transcript or an answer.
const OUTPUT: usize = 8 << 10;
const TRANSCRIPT: usize = 256 << 10;

/// What becomes of a program's standard error.
enum Stderr {
    Dropped,
    Included,
    File(File),
}

/// What a program reads, and where its standard error goes.
struct Streams {
    stdin: Stdio,
    stderr: Stderr,
}

fn printed(argv: &[&str], within: Duration, stderr: Stderr) -> Result<Option<(ExitStatus, Secret<String>)>> {
    printed_with(argv, within, Streams { stdin: Stdio::null(), stderr })
}

fn printed_with(argv: &[&str], within: Duration, streams: Streams) -> Result<Option<(ExitStatus, Secret<String>)>> {
    let Streams { stdin, stderr } = streams;
    let name = argv[0];
    let doing = || format!("run {name}");
    let (reader, writer) = io::pipe().map_err(Error::io(doing()))?;
    let mut command = Command::new(name);
    command.args(&argv[1..]).env_clear().envs(program::ENVIRONMENT);
    let most = if matches!(stderr, Stderr::Dropped) { OUTPUT } else { TRANSCRIPT };
    let errors = match stderr {
        Stderr::Dropped => Stdio::null(),
        Stderr::Included => writer.try_clone().map_err(Error::io(doing()))?.into(),
        Stderr::File(file) => file.into(),
    };
    command.stdin(stdin).stdout(writer).stderr(errors).process_group(0);
    let mut child = match command.spawn() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        spawned => spawned.map_err(Error::io(doing()))?,
    };
    drop(command);
    let mut tail = Tail::keeping(most, &|_| ());
    let status = watch(&mut child, reader, within, &mut tail).map_err(Error::io(format!("watch {name}")))?;
    match status {
        Some(status) => Ok(Some((status, tail.end()))),
        None => Err(timed_out(name, within, tail.end())),
    }
}

/// The script goes through memory that only the child inherits: an argument everybody can read.
fn in_memory(name: &str, script: &Secret<String>) -> Result<File> {
    let doing = || format!("pass the script to {name}");
    let memory: OwnedFd = memfd_create("script", MemfdFlags::CLOEXEC).map_err(Error::system(doing()))?;
    let mut memory = File::from(memory);
    memory.write_all(script.expose().as_bytes()).and_then(|()| memory.rewind()).map_err(Error::io(doing()))?;
    Ok(memory)
}

fn timed_out(name: &str, within: Duration, output: Secret<String>) -> Error {
    Error::Program { program: name.to_owned(), how: format!("did not end within {}s", within.as_secs()), output }
}

fn judged(name: &str, (status, output): (ExitStatus, Secret<String>)) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Error::Program { program: name.to_owned(), how: program::how(status), output })
}

/// Reads until the child has ended; `None` when its time is over and it was ended with all that it started.
///
/// The child's own end counts, not the pipe's: a daemon that it started may hold the pipe for ever.
fn watch(
    child: &mut Child,
    mut reader: io::PipeReader,
    within: Duration,
    tail: &mut Tail<'_>,
) -> io::Result<Option<ExitStatus>> {
    rustix::io::ioctl_fionbio(&reader, true)?;
    let group = Pid::from_child(child);
    let end = pidfd_open(group, PidfdFlags::empty())?;
    let mut deadline = Instant::now() + within;
    let mut asked_to_end = false;
    let mut more = true;
    loop {
        let tick = Timespec::try_from(BETWEEN_LOOKS).map_err(io::Error::other)?;
        let mut awaited = [PollFd::new(&end, PollFlags::IN), PollFd::new(&reader, PollFlags::IN)];
        let awaited = if more { &mut awaited[..] } else { &mut awaited[..1] };
        rustix::io::retry_on_intr(|| poll(awaited, Some(&tick)))?;
        // Asked before reading: what came before the end is then read too.
        let ended = child.try_wait()?;
        more = more && drain(&mut reader, tail)?;
        if let Some(status) = ended.filter(|_| !asked_to_end) {
            // Perhaps only the guard was ended, and nobody is left to end the command with us.
            if status.signal().is_some() {
                let _ = kill_process_group(group, Signal::KILL);
            }
            return Ok(Some(status));
        }
        // What it started has the same time to end as itself.
        if ended.is_some() && test_kill_process_group(group).is_err() {
            return Ok(None);
        }
        if Instant::now() >= deadline {
            let signal = if asked_to_end { Signal::KILL } else { Signal::TERM };
            let _ = kill_process_group(group, signal);
            if ended.is_some() {
                return Ok(None);
            }
            deadline = Instant::now() + GRACE;
            asked_to_end = true;
        }
        if ended.is_some() {
            // Only what it started is left, and nothing tells of its end.
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
}

/// Reads what is there, but no more than a pipe holds: a program may write faster than we read. `false` at the pipe's end.
fn drain(reader: &mut io::PipeReader, tail: &mut Tail<'_>) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    for _ in 0..PIPE / buffer.len() {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(n) => tail.add(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
