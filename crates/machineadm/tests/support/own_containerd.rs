//! Real containerds beside the host: each in namespaces of its own, where /etc, /run, /var/lib, /srv and /opt are empty.
use containerd::Proposal;
use cri::RuntimeReport;
use std::{
    fs::{self, File},
    io::{Seek, Write},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};
use tempfile::TempDir;
use testbed::{
    packages::{CONTAINERD_1_6, CONTAINERD_1_7, CONTAINERD_2_1},
    programs::{CONTAINERD, Programs},
    until,
};

/// How long one may take to answer; several start at once.
const WITHIN: Duration = Duration::from_secs(60);
/// Where a containerd looks for its files, and writes them.
const OWN: [&str; 5] = ["/etc", "/run", "/var/lib", "/srv", "/opt"];

/// A containerd.
pub(crate) struct Program {
    /// Its version, in short.
    pub(crate) name: &'static str,
    programs: fn() -> testbed::Result<Programs>,
}

/// All four.
pub(crate) const PROGRAMS: [Program; 4] = [
    Program { name: "1.6", programs: || CONTAINERD_1_6.ensure() },
    Program { name: "1.7", programs: || CONTAINERD_1_7.ensure() },
    Program { name: "2.1", programs: || CONTAINERD_2_1.ensure() },
    Program { name: "2.4", programs: || CONTAINERD.ensure() },
];

impl Program {
    fn path(&self) -> PathBuf {
        (self.programs)().and_then(|programs| programs.judge("containerd")).expect("it is there")
    }

    /// What `--version` prints.
    pub(crate) fn print_version(&self) -> String {
        self.print(&["--version"])
    }

    /// What `config default` prints.
    pub(crate) fn print_defaults(&self) -> String {
        self.print(&["config", "default"])
    }

    fn print(&self, words: &[&str]) -> String {
        let output = Command::new(self.path()).args(words).output().expect("it runs");
        String::from_utf8(output.stdout).expect("text")
    }
}

/// What `containerd config dump` makes of a text.
#[derive(Debug)]
pub(crate) enum Dump {
    Accepted(String),
    /// With its reason.
    Refused(String),
}

impl Dump {
    /// The dump of a text that must be accepted.
    pub(crate) fn accepted(self) -> String {
        match self {
            Self::Accepted(dump) => dump,
            Self::Refused(why) => panic!("containerd refuses it: {why}"),
        }
    }
}

/// Asks as machineadm does it: the text is a file in memory, at standard input.
pub(crate) fn dump(program: &Program, text: &str) -> Dump {
    let mut input = tempfile::tempfile().expect("a file");
    input.write_all(text.as_bytes()).and_then(|()| input.rewind()).expect("a file");
    let mut command = Command::new(program.path());
    let output = command.args(["-c", "/dev/stdin", "config", "dump"]).stdin(input).output().expect("it runs");
    match output.status.success() {
        true => Dump::Accepted(String::from_utf8(output.stdout).expect("text")),
        false => Dump::Refused(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// A containerd that ends with the test.
pub(crate) struct OwnContainerd {
    child: Child,
    scratch: TempDir,
}

impl OwnContainerd {
    /// Starts one with the files of a proposal and with its usual paths.
    pub(crate) fn start(program: &Program, proposal: &Proposal) -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let etc = scratch.path().join("etc");
        let registries =
            proposal.files.iter().map(|file| (file.path.as_str(), file.contents.expose().as_str(), file.mode));
        for (path, contents, mode) in registries.chain([("/etc/containerd/config.toml", &*proposal.config, 0o644)]) {
            let path = etc.join(path.trim_start_matches("/etc/"));
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(&path, contents).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        }
        let mounts: String = OWN.map(|path| format!("mount -t tmpfs tmpfs {path}; ")).concat();
        // The program itself may lie below what is hidden.
        let script = format!(
            "exec 3<\"$1\"; mount --make-rprivate /; ip link set lo up; cd \"$2\"; {mounts}cp -a etc/. /etc/; exec /proc/self/fd/3"
        );
        let log = File::create(scratch.path().join("log")).expect("a file");
        let child = Command::new("unshare")
            .args(["--mount", "--net", "--ipc", "sh", "-ec", &script, "sh"])
            .args([program.path().as_path(), scratch.path()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("unshare runs");
        Self { child, scratch }
    }

    /// What it says of itself, once it is there.
    pub(crate) fn report(&self) -> RuntimeReport {
        // Its socket has its usual path, in its own file systems.
        let socket = PathBuf::from(format!("/proc/{}/root/run/containerd/containerd.sock", self.child.id()));
        let log = || fs::read_to_string(self.scratch.path().join("log")).unwrap_or_default();
        let ask = || cri::ask(&socket, Duration::from_secs(10)).map_err(|error| format!("{error}\n{}", log()));
        until("containerd", WITHIN, ask).expect("it answers")
    }
}

impl Drop for OwnContainerd {
    fn drop(&mut self) {
        // With its namespaces its mounts go.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
