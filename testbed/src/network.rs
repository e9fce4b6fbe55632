//! Networks of a bed: namespaces that live as long as a process of ours, and a switch between them.
use crate::child::Input;
use crate::claim::Claim;
use crate::{Error, Result, child, until};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// A network namespace without a name: it is held by a process that does nothing else, so that nothing is mounted
/// for it and it ends with that process.
#[derive(Debug)]
pub(crate) struct Namespace {
    holder: Mutex<Child>,
    pid: u32,
}

impl Namespace {
    /// A fresh namespace of a claim, its loopback up.
    pub(crate) fn new(claim: &Claim) -> Result<Self> {
        let mut holder = claim.command("unshare");
        holder.args(["--net", "sleep", "infinity"]);
        let holder = child::start(holder.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))?;
        let namespace = Self { pid: holder.id(), holder: Mutex::new(holder) };
        let ours = fs::read_link("/proc/self/ns/net").ok();
        until("a network namespace", LIMIT, || match fs::read_link(namespace.path()) {
            Ok(theirs) if Some(&theirs) != ours.as_ref() => Ok(()),
            other => Err(format!("{other:?}")),
        })?;
        namespace.ip("link set lo up")?;
        Ok(namespace)
    }

    /// The file that stands for the namespace.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.pid)
    }

    /// The namespace as an open file, which outlives its name.
    pub(crate) fn open(&self) -> std::io::Result<File> {
        File::open(self.path())
    }

    /// A command that runs inside.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.path())).arg(program);
        command
    }

    /// Runs lines of `ip` inside, all or an error.
    pub(crate) fn ip(&self, lines: &str) -> Result<()> {
        let output = child::output(self.command("ip").args(["-batch", "-"]), Input::Bytes(lines.as_bytes()), LIMIT)?;
        child::succeeded(&format!("ip {}", lines.replace('\n', "; ")), output).map(drop)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Ok(holder) = self.holder.get_mut() {
            drop(holder.kill());
            drop(holder.wait());
        }
    }
}

/// Does something inside a network namespace, in a thread that ends there. A socket stays where it was made.
pub(crate) fn inside<T: Send>(
    namespace: &File,
    work: impl FnOnce() -> std::io::Result<T> + Send,
) -> std::io::Result<T> {
    let entered = || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
        work()
    };
    std::thread::scope(|scope| scope.spawn(entered).join())
        .unwrap_or_else(|_| Err(std::io::Error::other("its thread ended")))
}

/// The bridge that all machines of a bed are plugged into, in a namespace of its own.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) namespace: Namespace,
}

impl Switch {
    /// The switch's own address, where neighbours listen.
    pub(crate) const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 50, 0, 1);

    /// A switch without machines.
    pub(crate) fn new(claim: &Claim) -> Result<Self> {
        let namespace = Namespace::new(claim)?;
        namespace.ip(&format!(
            "link add br0 type bridge forward_delay 0\naddr add {}/24 dev br0\nlink set br0 up",
            Self::ADDRESS
        ))?;
        // Pods of one machine reach those of another through the switch; the setting is this namespace's own.
        let forward = ["-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"];
        child::check(namespace.command("sh").args(forward), LIMIT)?;
        Ok(Self { namespace })
    }

    /// The address of the machine with this number.
    pub(crate) fn address(number: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 50, 0, 10 + number)
    }

    /// The addresses of that machine's pods.
    pub(crate) fn pods(number: u8) -> String {
        format!("10.244.{number}.0/24")
    }

    /// Connects a machine's fresh namespace, its plug in or out.
    pub(crate) fn connect(&self, machine: &Namespace, number: u8, plug: Plug) -> Result<()> {
        let address = Self::address(number);
        machine.ip(&format!("link add eth0 type veth peer name p{number} netns {}", self.namespace.pid))?;
        self.namespace.ip(&format!("link set p{number} master br0"))?;
        self.set_plug(number, plug)?;
        machine.ip(&format!(
            "addr add {address}/24 dev eth0\nlink set eth0 up\nroute add default via {}",
            Self::ADDRESS
        ))?;
        self.namespace.ip(&format!("route replace {} via {address}", Self::pods(number)))
    }

    /// Removes the connection of a machine that is off; left to itself the kernel would do so some time later.
    pub(crate) fn disconnect(&self, number: u8) {
        // It may have done so already, or the switch itself is gone.
        drop(self.namespace.ip(&format!("link del p{number}")));
    }

    /// Pulls the machine's plug or puts it back.
    pub(crate) fn set_plug(&self, number: u8, state: Plug) -> Result<()> {
        let word = match state {
            Plug::In => "up",
            Plug::Out => "down",
        };
        self.namespace.ip(&format!("link set p{number} {word}"))
    }
}

/// Whether a machine is connected.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plug {
    In,
    Out,
}

/// Numbers from 1 to 240, each machine its own.
pub(crate) fn next_number(last: &Mutex<u8>) -> Result<u8> {
    let mut last = last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if *last == 240 {
        return Err(Error::Misused("a bed has at most 240 machines".to_owned()));
    }
    *last += 1;
    Ok(*last)
}
