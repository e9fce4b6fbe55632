//! A passphrase in a descriptor that machineadm inherited: read once, from where it stands, then closed.
use super::{patience::Patience, without_line_end};
use documents::{PassphraseProvider, ProviderError, Request, Secret, limits::PASSPHRASE_MOST, v1alpha1::descriptor};
use engine::outcome::chain;
use host::linux::Inherited;
use std::{
    cell::RefCell,
    collections::BTreeMap,
    io::{self, Read},
    sync::mpsc,
    time::Duration,
};
use zeroize::Zeroizing;

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
        let Some(inherited) = Inherited::take(number) else {
            let told = ProviderError::new(format!("machineadm did not inherit descriptor {number}"));
            return Err(told.hint(format!("pass it: machineadm … {number}< passphrase")));
        };
        let _patience = Patience::begin(request.shown);
        let bytes = read(inherited, request.timeout)
            .map_err(|error| ProviderError::new(format!("descriptor {number} cannot be read: {}", chain(&error))))?;
        if bytes.is_empty() {
            let told = ProviderError::new(format!("descriptor {number} is at its end: nothing is left to read"));
            return Err(told.hint(format!("pass it again for each run: machineadm … {number}< passphrase")));
        }
        let passphrase = without_line_end(bytes);
        self.read.borrow_mut().insert(number, passphrase.clone());
        Ok(passphrase)
    }
}

/// Reads to the end, which a writer that never closes its own would put off for ever, and closes.
fn read(inherited: Inherited, within: Duration) -> io::Result<Zeroizing<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Zeroizing::new(Vec::with_capacity(PASSPHRASE_MOST + 64));
        let read = inherited.take(PASSPHRASE_MOST as u64 + 3).read_to_end(&mut bytes);
        // Nobody listens any more when time is up.
        let _ = sender.send(read.map(|_| bytes));
    });
    receiver.recv_timeout(within).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
