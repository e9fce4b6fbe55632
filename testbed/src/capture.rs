//! A capture of every packet on a bed's switch, by a real tcpdump.
use crate::daemon::Daemon;
use crate::{Bed, Error, Result, child, judges, until};
use std::path::PathBuf;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// A tcpdump that records.
#[derive(Debug)]
pub struct Capture {
    tcpdump: Daemon,
    file: PathBuf,
}

/// What was recorded.
#[derive(Debug)]
pub struct Packets {
    file: PathBuf,
}

impl Bed {
    /// Records every packet between the machines, and to the switch, from now on; a bed has at most one capture.
    pub fn capture(&self) -> Result<Capture> {
        let file = self.claim().directory().join("capture.pcap");
        let tcpdump = judges::command("tcpdump")?;
        let mut command = self.claim().command("nsenter");
        command.arg(format!("--net={}", self.switch().namespace.path())).arg(tcpdump.get_program());
        // The bridge itself, not one port: it is there before the first machine is on, and misses nothing of a boot.
        command.args(["--interface=br0", "--snapshot-length=512", "--buffer-size=32768", "--packet-buffered", "-n"]);
        command.args(["--relinquish-privileges=root", "-w"]).arg(&file);
        let mut tcpdump = Daemon::from_command(self.claim(), "tcpdump", command);
        tcpdump.start()?;
        until("a capture", LIMIT, || match (tcpdump.check(), tcpdump.log()) {
            (Err(ended), _) => Ok(Err(ended)),
            (Ok(()), log) if log.contains("listening on") => Ok(Ok(())),
            (Ok(()), log) => Err(log),
        })??;
        Ok(Capture { tcpdump, file })
    }
}

impl Capture {
    /// Ends the capture. One that missed a packet is an error: it could not show that there was none.
    pub fn end(mut self) -> Result<Packets> {
        self.tcpdump.check()?;
        self.tcpdump.stop()?;
        let log = self.tcpdump.log();
        if !log.lines().any(|line| line.trim() == "0 packets dropped by kernel") {
            return Err(Error::Unreadable { what: "a capture without gaps".to_owned(), found: log });
        }
        Ok(Packets { file: self.file.clone() })
    }
}

impl Packets {
    /// The packets that a filter of tcpdump's selects, one line each, with addresses of both layers.
    pub fn matching(&self, filter: &str) -> Result<Vec<String>> {
        let mut command = judges::command("tcpdump")?;
        command.args(["-n", "-e", "-t", "--relinquish-privileges=root", "-r"]).arg(&self.file).arg(filter);
        Ok(child::check(&mut command, LIMIT)?.lines().map(str::to_owned).collect())
    }
}
