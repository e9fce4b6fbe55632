//! An NTP server: Debian's own chronyd, which serves the host's time and never sets it.
use crate::daemon::Daemon;
use crate::network::Switch;
use crate::{Bed, Result, base, until};
use std::fs;
use std::net::Ipv4Addr;
use std::time::Duration;

/// Runs Debian's chronyd on the shared base, with a `/run` of its own, so that it writes nothing there.
const SCRIPT: &str = r#"
base=$1
shift
mount -t tmpfs tmpfs "$base/run"
exec chroot "$base" /usr/sbin/chronyd "$@"
"#;

/// A chronyd on the bed's switch.
#[derive(Debug)]
pub struct NtpServer {
    _chronyd: Daemon,
}

impl Bed {
    /// Starts an NTP server on the bed's switch; a bed has at most one.
    pub fn ntp_server(&self) -> Result<NtpServer> {
        let namespace = &self.switch().namespace;
        let mut command = self.claim().command("nsenter");
        command.arg(format!("--net={}", namespace.path())).args(["unshare", "--mount", "--propagation", "private"]);
        command.args(["sh", "-euc", SCRIPT, "chronyd"]).arg(base::ensure(&[])?);
        command.args([
            "-x",
            "-d",
            "-u",
            "root",
            "local stratum 5",
            "allow all",
            "cmdport 0",
            "pidfile /run/chronyd.pid",
        ]);
        command.arg(format!("bindaddress {}", Switch::ADDRESS));
        let mut chronyd = Daemon::from_command(self.claim(), "chronyd", command);
        chronyd.start()?;
        let sockets = namespace.path().replace("ns/net", "net/udp");
        until("an NTP server", Duration::from_secs(20), || {
            if let Err(ended) = chronyd.check() {
                return Ok(Err(ended));
            }
            let listening = fs::read_to_string(&sockets).is_ok_and(|table| table.contains(":007B "));
            if listening { Ok(Ok(())) } else { Err(chronyd.log()) }
        })??;
        Ok(NtpServer { _chronyd: chronyd })
    }
}

impl NtpServer {
    /// Where it listens.
    pub fn address(&self) -> Ipv4Addr {
        Switch::ADDRESS
    }
}
