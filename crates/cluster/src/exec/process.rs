//! A plugin at work: its output is bounded in size and time.
use super::ExecFault;
use objects::{SMALL_FILE_LIMIT, one_line};
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, ChildStdout, ExitStatus},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};
use zeroize::Zeroizing;

/// How often the time limit is looked at.
const TICK: Duration = Duration::from_millis(10);
/// The longest line of standard error that is shown as one.
const LINE: u64 = 1000;

/// What a plugin left behind.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) printed: Zeroizing<Vec<u8>>,
}

/// Something that a plugin did.
enum Event {
    /// A line on standard error.
    Line(String),
    /// All of standard output.
    Printed(Zeroizing<Vec<u8>>),
}

/// Waits for a plugin; one that takes or prints too much is killed. Ctrl-C reaches it too, since it stays in the
/// process group of this program.
pub(super) fn output(mut child: Child, limit: Duration, show: &mut dyn FnMut(&str)) -> Result<Output, ExecFault> {
    let events = events(&mut child);
    let finished = finish(&mut child, &events, Instant::now() + limit, show);
    if finished.is_err() {
        // It may be gone already; either way it is not waited for any longer than the system needs.
        let _ = child.kill();
        let _ = child.wait();
    }
    match finished {
        Ok(Some(output)) => Ok(output),
        Ok(None) => Err(ExecFault::Invalid("standard output is unreadable")),
        Err(Stopped::TimedOut) => Err(ExecFault::TimedOut(limit)),
        Err(Stopped::TooLarge) => Err(ExecFault::TooLarge),
    }
}

/// Why a plugin is stopped.
enum Stopped {
    TimedOut,
    TooLarge,
}

fn finish(
    child: &mut Child,
    events: &Receiver<Event>,
    end: Instant,
    show: &mut dyn FnMut(&str),
) -> Result<Option<Output>, Stopped> {
    let mut printed = None;
    loop {
        match events.recv_timeout(TICK) {
            Ok(Event::Line(line)) => show(&line),
            Ok(Event::Printed(bytes)) if bytes.len() > SMALL_FILE_LIMIT => return Err(Stopped::TooLarge),
            Ok(Event::Printed(bytes)) => printed = Some(bytes),
            Err(RecvTimeoutError::Timeout) => {}
            // Both pipes are closed: only the end is missing.
            Err(RecvTimeoutError::Disconnected) => match child.try_wait() {
                Ok(Some(status)) => return Ok(printed.map(|printed| Output { status, printed })),
                Ok(None) => thread::sleep(TICK),
                Err(_) => return Ok(None),
            },
        }
        if Instant::now() >= end {
            return Err(Stopped::TimedOut);
        }
    }
}

/// What comes through a plugin's pipes; the channel ends with them.
fn events(child: &mut Child) -> Receiver<Event> {
    let (sender, events) = channel();
    if let Some(stderr) = child.stderr.take() {
        let sender = sender.clone();
        thread::spawn(move || lines(stderr, &sender));
    }
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || printed(stdout, &sender));
    }
    events
}

fn lines(stderr: ChildStderr, sender: &Sender<Event>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while reader.by_ref().take(LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line);
        let shown = one_line(text.trim_end_matches(['\n', '\r']));
        if sender.send(Event::Line(shown)).is_err() {
            return;
        }
        line.clear();
    }
}

fn printed(stdout: ChildStdout, sender: &Sender<Event>) {
    // All at once, since a vector that grows leaves copies of secrets behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(SMALL_FILE_LIMIT + 64));
    if stdout.take(SMALL_FILE_LIMIT as u64 + 1).read_to_end(&mut bytes).is_ok() {
        // Nobody waits for it when time is up.
        let _ = sender.send(Event::Printed(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn run(script: &str, limit: Duration) -> Result<Output, ExecFault> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        output(command.spawn().expect("a shell"), limit, &mut |_| {})
    }

    #[test]
    fn a_plugin_that_does_not_end_is_stopped_also_with_its_pipes_closed() {
        let short = Duration::from_millis(200);
        for script in ["exec sleep 600", "exec sleep 600 >&- 2>&-"] {
            assert!(matches!(run(script, short), Err(ExecFault::TimedOut(_))), "{script}");
        }
    }

    #[test]
    fn a_plugin_that_prints_without_end_is_stopped() {
        let limit = Duration::from_secs(600);
        assert!(matches!(run("exec yes", limit), Err(ExecFault::TooLarge)));
        let most = run("head -c 1048576 /dev/zero", limit).expect("just small enough");
        assert!(most.status.success() && most.printed.len() == SMALL_FILE_LIMIT);
    }
}
