//! Sealed parts of a configuration, kept as they came until its run succeeds: after a reboot a presigned URL may have
//! expired, and the storage may be gone.
use documents::{Fault, ProviderError, RemoteProvider, Request};
use objects::Bytes;
use std::{cell::RefCell, collections::BTreeMap};
use zeroize::Zeroizing;

/// What was fetched, by the names that documents give it.
type Parts = BTreeMap<String, Bytes>;

/// What an earlier run had fetched, and what this one fetches.
#[derive(Default)]
pub(crate) struct Fetched {
    earlier: Parts,
    now: RefCell<Parts>,
    /// Why something of the earlier run was used.
    despite: RefCell<Option<String>>,
}

impl Fetched {
    /// Goes on with what an earlier run kept; what can't be read is as good as nothing.
    pub(crate) fn after(kept: Option<&[u8]>) -> Self {
        let earlier = kept.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
        Self { earlier, ..Self::default() }
    }

    /// The bytes to keep, if there is anything that may be kept.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        let mut parts = self.earlier.clone();
        parts.extend(self.now.borrow().clone());
        (!parts.is_empty()).then(|| serde_json::to_vec(&parts).unwrap_or_default())
    }

    /// What could not be had anew, so that something of the earlier run was used.
    pub(crate) fn despite(&self) -> Option<String> {
        self.despite.borrow().clone()
    }
}

/// A provider whose sealed answers are kept, and used again when there is no other.
pub(super) struct Keeping<'a> {
    pub(super) provider: &'a dyn RemoteProvider,
    pub(super) fetched: &'a Fetched,
}

impl RemoteProvider for Keeping<'_> {
    fn fetch(&self, request: &Request<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let answer = self.provider.fetch(request);
        let Some(name) = request.keep_as else { return answer };
        let bytes = match (answer, self.fetched.earlier.get(name)) {
            (Err(ProviderError { message, fault: Fault::World, .. }), Some(earlier)) => {
                tell!("machineadm: {message}; using the copy that the previous run saved");
                self.fetched.despite.replace(Some(message));
                Zeroizing::new(earlier.expose().to_vec())
            }
            (answer, _) => answer?,
        };
        self.fetched.now.borrow_mut().insert(name.to_owned(), Bytes::from(bytes.to_vec()));
        Ok(bytes)
    }
}
