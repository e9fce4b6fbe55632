//! Descriptors that machineadm inherited: taken into keeping before anything else is opened, so that no child has them.
use rustix::{
    event::{PollFd, PollFlags, poll},
    fd::{AsRawFd, OwnedFd, RawFd},
    fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open},
    io::{fcntl_dupfd_cloexec, retry_on_intr},
    process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open},
};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    sync::{Mutex, PoisonError},
};

/// The first three are everybody's.
const FIRST: RawFd = 3;

/// A process inherits once, so there is one such list.
static INHERITED: Mutex<BTreeMap<RawFd, OwnedFd>> = Mutex::new(BTreeMap::new());

/// What somebody handed over to machineadm; reading waits even if whoever made it does not want to.
#[derive(Debug)]
pub struct Inherited(File);

impl Inherited {
    /// The one with this number, once: who has it closes it.
    pub fn take(number: u32) -> Option<Self> {
        let number = RawFd::try_from(number).ok()?;
        let taken = INHERITED.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        taken.map(|descriptor| Self(descriptor.into()))
    }
}

impl Read for Inherited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    retry_on_intr(|| poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None))?;
                }
                read => return read,
            }
        }
    }
}

/// Takes all that was inherited into keeping. For the start of the process: it must have one thread and nothing open.
pub(super) fn keep() {
    // Without it no command runs either, since machineadm finds itself through /proc.
    let Ok(listed) = fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<RawFd> = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    let itself = pidfd_open(getpid(), PidfdFlags::empty()).ok();
    let ours = itself.as_ref().map(AsRawFd::as_raw_fd);
    for number in numbers.into_iter().filter(|number| *number >= FIRST && Some(*number) != ours) {
        let kept = keep_one(itself.as_ref(), number);
        if let Some(kept) = kept {
            INHERITED.lock().unwrap_or_else(PoisonError::into_inner).insert(number, kept);
        }
    }
}

/// The same under the same number, since `/dev/fd/63` may be an argument, but closed when another program begins.
fn keep_one(itself: Option<&OwnedFd>, number: RawFd) -> Option<OwnedFd> {
    let same = itself.and_then(|itself| pidfd_getfd(itself, number, PidfdGetfdFlags::empty()).ok());
    // Kernels before 5.6 can only open once more what it is; a socket is lost there.
    let copy = same.or_else(|| reopened(number));
    // Also what could not be copied: better nobody has it than every command.
    let _ = nix::unistd::close(number);
    let copy = copy?;
    Some(fcntl_dupfd_cloexec(&copy, number).unwrap_or(copy))
}

/// What a descriptor leads to, opened anew; a pipe without a writer must not hold us up.
fn reopened(number: RawFd) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = open(format!("/proc/self/fd/{number}"), flags, Mode::empty()).ok()?;
    fcntl_setfl(&opened, fcntl_getfl(&opened).ok()? - OFlags::NONBLOCK).ok()?;
    Some(opened)
}
