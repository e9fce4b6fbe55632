//! A plugin at work: its output is bounded in size and time.
use super::ExecFault;
use objects::{SMALL_FILE_LIMIT, one_line};
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, ChildStdout, ExitStatus},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};
use zeroize::Zeroizing;

/// How often the time limit is looked at.
const TICK: Duration = Duration::from_millis(10);
/// How long the pipes of a plugin that has ended are read. A process that it left behind may hold them for ever.
const GRACE: Duration = Duration::from_secs(1);
/// The longest line of standard error that is shown as one.
const LINE: u64 = 1000;

/// What a plugin left behind.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) printed: Zeroizing<Vec<u8>>,
}

/// Waits for a plugin; one that takes or prints too much is killed. Ctrl-C reaches it too, since it stays in the
/// process group of this program. When it has ended, what it has printed by then is its answer.
pub(super) fn output(child: Child, limit: Duration, show: &mut dyn FnMut(&str)) -> Result<Output, ExecFault> {
    let mut plugin = Plugin::reading(child);
    let finished = plugin.finish(limit, show);
    if finished.is_err() {
        // It may be gone already; either way it is not waited for any longer than the system needs.
        let _ = plugin.child.kill();
        let _ = plugin.child.wait();
    }
    finished
}

/// A plugin that runs, with one thread for each of its pipes.
struct Plugin {
    child: Child,
    /// Lines of standard error; the channel ends with both pipes.
    lines: Receiver<String>,
    printed: Printed,
}

impl Plugin {
    fn reading(mut child: Child) -> Self {
        let (sender, lines) = channel();
        let printed = Printed::default();
        if let Some(stderr) = child.stderr.take() {
            let sender = sender.clone();
            thread::spawn(move || send_lines(stderr, &sender));
        }
        if let Some(stdout) = child.stdout.take() {
            let printed = printed.clone();
            thread::spawn(move || {
                printed.fill(stdout);
                drop(sender);
            });
        }
        Self { child, lines, printed }
    }

    fn finish(&mut self, limit: Duration, show: &mut dyn FnMut(&str)) -> Result<Output, ExecFault> {
        let end = Instant::now() + limit;
        let mut ended = None;
        loop {
            let are_closed = match self.lines.recv_timeout(TICK) {
                Ok(line) => {
                    show(&line);
                    false
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            if self.printed.is_too_large() {
                return Err(ExecFault::TooLarge);
            }
            match self.child.try_wait().ok().flatten() {
                Some(status) if are_closed || ended.get_or_insert_with(Instant::now).elapsed() >= GRACE => {
                    return self.printed.take().map(|printed| Output { status, printed });
                }
                Some(_) => {}
                None if Instant::now() >= end => return Err(ExecFault::TimedOut(limit)),
                None if are_closed => thread::sleep(TICK),
                None => {}
            }
        }
    }
}

/// What a plugin has printed on standard output so far.
#[derive(Clone)]
struct Printed(Arc<Mutex<Zeroizing<Vec<u8>>>>);

impl Default for Printed {
    /// All the memory at once, since a vector that grows leaves copies of secrets behind.
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Zeroizing::new(Vec::with_capacity(SMALL_FILE_LIMIT + 1)))))
    }
}

impl Printed {
    /// Reads until the pipe ends, there is too much, or what is there has been taken.
    fn fill(&self, mut stdout: ChildStdout) {
        let mut piece = Zeroizing::new([0; 8192]);
        loop {
            let Ok(read @ 1..) = stdout.read(&mut *piece) else { return };
            let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let room = (bytes.capacity() - bytes.len()).min(read);
            bytes.extend_from_slice(&piece[..room]);
            if room < read {
                return;
            }
        }
    }

    fn is_too_large(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() > SMALL_FILE_LIMIT
    }

    fn take(&self) -> Result<Zeroizing<Vec<u8>>, ExecFault> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if bytes.len() > SMALL_FILE_LIMIT { Err(ExecFault::TooLarge) } else { Ok(bytes) }
    }
}

fn send_lines(stderr: ChildStderr, sender: &Sender<String>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while reader.by_ref().take(LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line);
        if sender.send(one_line(text.trim_end_matches(['\n', '\r']))).is_err() {
            return;
        }
        line.clear();
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
    fn a_plugin_that_leaves_a_process_with_its_pipes_has_answered_when_it_ends() {
        let left = run("echo 'credential for' $$; sleep 600 & echo $!", Duration::from_secs(20)).expect("an answer");
        let printed = String::from_utf8(left.printed.to_vec()).expect("text");
        let process = printed.lines().nth(1).expect("the number of the process that holds the pipes");
        assert!(Command::new("kill").arg(process).status().expect("kill").success(), "{printed}");
        assert!(left.status.success() && printed.starts_with("credential for "), "{printed}");
    }

    #[test]
    fn a_plugin_that_prints_without_end_is_stopped() {
        let limit = Duration::from_secs(600);
        assert!(matches!(run("exec yes", limit), Err(ExecFault::TooLarge)));
        let most = run("head -c 1048576 /dev/zero", limit).expect("just small enough");
        assert!(most.status.success() && most.printed.len() == SMALL_FILE_LIMIT);
    }
}
