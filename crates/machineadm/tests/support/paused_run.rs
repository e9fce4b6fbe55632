//! A run that stops in a command of its configuration until it is told to go on.
use crate::support::{binary, run_output::RunOutput, scratch_machine::ScratchMachine, shell};
use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::{Pid, Signal, kill_process},
};
use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};
use testbed::until;

/// What a script says to be paused here.
pub(crate) const HOLD: &str = ": > /ready; read go < /go";
const SOON: Duration = Duration::from_secs(60);

/// Raises the limit that machineadm is to lower, and becomes it.
pub(crate) const WITH_CORES: &str = r#"ulimit -c unlimited && cd "$1" && shift && exec "$@""#;

/// A run at its command.
pub(crate) struct PausedRun {
    /// There until its end was seen.
    child: Option<Child>,
    root: PathBuf,
    /// Open at both ends, so that nobody waits for the other.
    go: fs::File,
}

/// Puts into a root what a paused command needs.
pub(crate) fn lay_out(root: &std::path::Path) {
    shell::install(root);
    let private = Mode::from_raw_mode(0o600);
    mknodat(CWD, root.join("go"), FileType::Fifo, private, 0).expect("a FIFO can be made");
}

impl PausedRun {
    /// Starts machineadm where a core dump would be allowed and kept in `cores`, and waits until its command is there.
    pub(crate) fn start(scratch: &ScratchMachine, words: &[&str]) -> Self {
        let root = scratch.root();
        fs::create_dir_all(scratch.path("cores")).expect("a directory can be made");
        let go = fs::File::options().read(true).write(true).open(root.join("go")).expect("a FIFO can be opened");
        let program = binary::command(["--root", &scratch.path("root")].iter().chain(words));
        let mut command = Command::new("sh");
        command.args(["-c", WITH_CORES, "sh", &scratch.path("cores")]).arg(program.get_program());
        command.args(program.get_args()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut paused = Self { child: Some(command.spawn().expect("sh runs")), root, go };
        let ready = paused.root.join("ready");
        let seen = until("the command", SOON, || match paused.child().try_wait() {
            Ok(None) if ready.exists() => Ok(true),
            Ok(Some(_)) => Ok(false),
            other => Err(format!("{other:?}")),
        });
        if !seen.expect("a run comes to its command or to its end") {
            panic!("it ended before its command: {:?}", paused.end());
        }
        fs::remove_file(ready).expect("the command has made it");
        paused
    }

    /// machineadm, the guard before the command, and the command, in this order.
    pub(crate) fn processes(&mut self) -> [u32; 3] {
        let main = self.child().id();
        let guard = only_child(main);
        [main, guard, only_child(guard)]
    }

    /// Ends one of the processes; how machineadm ended, and what it said.
    pub(crate) fn end_by(mut self, process: u32, signal: Signal) -> (ExitStatus, RunOutput) {
        let [_, guard, command] = self.processes();
        let pid = Pid::from_raw(process.cast_signed()).expect("a process has a number");
        // Rust's own handler takes the first SEGV for a fault that comes again by itself.
        let sent = until("the end of a process", SOON, || match is_gone(process) {
            true => Ok(()),
            false => Err(format!("it is there: {:?}", kill_process(pid, signal))),
        });
        sent.expect("a signal ends it");
        let ended = self.end();
        for gone in [guard, command] {
            until("the end of the command", SOON, || match is_gone(gone) {
                true => Ok(()),
                false => Err(format!("{gone} is there")),
            })
            .expect("a command ends with its run");
        }
        ended
    }

    /// Lets the command go on.
    pub(crate) fn go(mut self) -> (ExitStatus, RunOutput) {
        self.go.write_all(b"go\n").expect("a FIFO can be written");
        self.end()
    }

    fn end(&mut self) -> (ExitStatus, RunOutput) {
        let child = self.child.take().expect("its end was not seen yet");
        let output = child.wait_with_output().expect("a child can be waited for");
        (output.status, RunOutput::of(output))
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("its end was not seen yet")
    }
}

impl Drop for PausedRun {
    fn drop(&mut self) {
        // A test that fails leaves no process behind; its command ends with it.
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn only_child(process: u32) -> u32 {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("a process has tasks");
    let children = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    let children: Vec<u32> = children.flat_map(|list| numbers(&list)).collect();
    assert_eq!(children.len(), 1, "{process} has the children {children:?}");
    children[0]
}

fn numbers(list: &str) -> Vec<u32> {
    list.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// Gone, or dead and only not waited for yet.
fn is_gone(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.is_empty() || status.contains("State:\tZ")
}
