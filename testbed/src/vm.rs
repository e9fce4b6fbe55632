//! A virtual machine with a kernel of its own, in which test programs find what this host may lack: control groups of
//! version 2 and nothing else.
//!
//! The processor is emulated, so no right or device of the host is needed; it is slow. The machine has no network. Its
//! disk is made anew each time, its report comes through a serial port.
mod disk;
mod report;

pub use report::{Outcome, Report};

use crate::claim::Claim;
use crate::{Error, Result, child, doctor, reaper, until};
use disk::Disk;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The console is the first serial port, the report the second, and a shell for people the third. Nothing is started
/// that the tests do not need, and a processor that is emulated has no faults to be mitigated.
const KERNEL_ARGUMENTS: &str =
    "console=ttyS0 root=/dev/vda rw panic=-1 mitigations=off systemd.unit=tests.service systemd.debug_shell=ttyS2";

/// What runs inside.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    /// The test programs, in their order.
    pub programs: Vec<TestProgram>,
    /// Files of this host that they need, at the same paths inside.
    pub files: Vec<PathBuf>,
    /// Variables of their environment besides `HOME` and `PATH`.
    pub environment: Vec<(String, String)>,
}

/// A test program as cargo builds it.
#[derive(Debug, Clone)]
pub struct TestProgram {
    /// Its name in the report.
    pub name: String,
    /// The file on this host. Inside is the Debian release of this host, and so the C library that it is linked with.
    pub executable: PathBuf,
    /// Its arguments, none of which may hold a space.
    pub arguments: Vec<String>,
    /// What it finds in charge of the machine's control groups.
    pub manager: Manager,
}

/// Who manages the control groups of the virtual machine, as a test program sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// systemd, as on most hosts.
    Systemd,
    /// Nobody: systemd's directory below `/run` is hidden.
    Nobody,
}

/// Boots a fresh virtual machine, runs everything in it, and gives its report once it has powered itself off.
///
/// What it reports is printed meanwhile. One that is still on after `limit` is ended, and the error quotes its last words.
pub fn run(workload: &Workload, limit: Duration) -> Result<Report> {
    doctor::require(&["mke2fs", "qemu-system-x86_64"])?;
    let claim = Claim::new()?;
    let result = disk::make(claim.directory(), workload).and_then(|disk| boot(&claim, &disk, limit));
    reaper::take_down(claim.id(), claim.directory())?;
    result
}

fn boot(claim: &Claim, disk: &Disk, limit: Duration) -> Result<Report> {
    let (console, report) = (claim.directory().join("console.log"), claim.directory().join("report.log"));
    let mut machine = child::start(&mut qemu(claim, disk, [&console, &report]))?;
    let mut printed = 0;
    until("the end of the virtual machine", limit, || {
        let is_off = has_ended(&mut machine)?;
        let text = read(&report);
        let (lines, _) = text.split_at(text.rfind('\n').map_or(0, |end| end + 1));
        print!("{}", &lines[printed..]);
        printed = lines.len();
        if is_off { Ok(()) } else { Err(format!("{}\n{}", child::tail(&read(&console)), child::tail(&text))) }
    })?;
    let told = Report::read(&read(&report));
    if told.control_groups.is_empty() {
        let what = "a virtual machine".to_owned();
        return Err(Error::Failed {
            command: what,
            status: "no report".to_owned(),
            output: child::tail(&read(&console)),
        });
    }
    Ok(told)
}

/// Everything after the power switch: two processors, no network, one disk, three serial ports.
fn qemu(claim: &Claim, disk: &Disk, [console, report]: [&Path; 2]) -> Command {
    let mut qemu = claim.command("qemu-system-x86_64");
    qemu.args(["-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max,la57=off"]);
    qemu.args(["-smp", "2", "-m", "4096", "-nic", "none", "-display", "none", "-no-reboot"]);
    qemu.arg("-kernel").arg(&disk.kernel).arg("-initrd").arg(&disk.initial_ram_disk);
    qemu.args(["-append", KERNEL_ARGUMENTS]);
    // The disk is thrown away afterwards: nothing of it must outlive a crash of the host.
    qemu.arg("-drive").arg(format!("file={},format=raw,if=virtio,cache=unsafe", disk.image.display()));
    for log in [console, report] {
        qemu.arg("-serial").arg(format!("file:{}", log.display()));
    }
    let shell = claim.directory().join("shell");
    qemu.arg("-serial").arg(format!("unix:{},server=on,wait=off", shell.display()));
    qemu.stdin(Stdio::null());
    qemu
}

fn has_ended(machine: &mut Child) -> Result<bool, String> {
    machine.try_wait().map(|ended| ended.is_some()).map_err(|error| error.to_string())
}

/// What a serial port has written so far; nothing before qemu has opened the file.
fn read(log: &Path) -> String {
    fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
