//! A passphrase in a descriptor that machineadm inherited: read once, then closed, so that no child inherits it too.
use super::{patience::Patience, without_line_end};
use documents::{PassphraseProvider, ProviderError, Request, Secret, limits::PASSPHRASE_MOST, v1alpha1::descriptor};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    io::{self, Read},
    sync::mpsc,
    time::Duration,
};
use zeroize::Zeroizing;

/// What the kernel calls a descriptor that does not outlive `exec`, in octal.
const CLOSED_ON_EXEC: u32 = 0o2_000_000;

/// What was read so far, since a descriptor gives it only once.
#[derive(Default)]
pub(super) struct Descriptor {
    read: RefCell<BTreeMap<u32, Secret<Vec<u8>>>>,
}

impl PassphraseProvider for Descriptor {
    fn passphrase(&self, request: &Request<'_>) -> Result<Secret<Vec<u8>>, ProviderError> {
        if !request.rights.descriptors {
            return Err(ProviderError::not_allowed("descriptors", "descriptors"));
        }
        let number =
            descriptor(request.uri.expose()).ok_or_else(|| ProviderError::new("must be `fd:` and a number"))?;
        if let Some(passphrase) = self.read.borrow().get(&number) {
            return Ok(passphrase.clone());
        }
        if !is_inherited(number) {
            let told = ProviderError::new(format!("machineadm did not inherit descriptor {number}"));
            return Err(told.hint(format!("hand it over: machineadm … {number}< passphrase")));
        }
        let _patience = Patience::begin(request.shown);
        let bytes = read(number, request.timeout)
            .map_err(|error| ProviderError::new(format!("descriptor {number} can't be read: {}", error.kind())))?;
        let passphrase = without_line_end(bytes);
        self.read.borrow_mut().insert(number, passphrase.clone());
        Ok(passphrase)
    }
}

/// Whether it is open, and not one that we opened ourselves: those are all closed on exec.
fn is_inherited(number: u32) -> bool {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & CLOSED_ON_EXEC == 0)
}

/// Reads to the end, which a writer that never closes its own would put off for ever, and closes.
fn read(number: u32, within: Duration) -> io::Result<Zeroizing<Vec<u8>>> {
    let opened = fs::File::open(format!("/proc/self/fd/{number}"))?;
    nix::unistd::close(number.cast_signed())?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Zeroizing::new(Vec::with_capacity(PASSPHRASE_MOST + 64));
        let read = opened.take(PASSPHRASE_MOST as u64 + 3).read_to_end(&mut bytes);
        // Nobody listens any more when time is up.
        let _ = sender.send(read.map(|_| bytes));
    });
    receiver.recv_timeout(within).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
