//! One probe of a key: which material encrypts now, and whether it encrypts and decrypts.
use aws_lc_rs::rand;
use kms::{Failure, FailureKind, KeyId, KeyService, Sealed};

/// A key that works.
#[derive(Debug, Clone)]
pub(crate) struct Probed {
    /// The id of what encrypts now.
    pub(crate) id: KeyId,
    /// What this probe encrypted, to tell later whether the key still decrypts.
    pub(crate) sealed: Sealed,
    /// What an operator must know of it.
    pub(crate) caution: Option<String>,
}

/// Asks the service. `last` is the last probe that succeeded: if the key no longer encrypts and still decrypts that, the
/// failure is [`FailureKind::DecryptsOnly`].
pub(crate) fn probe(service: &dyn KeyService, epoch: u64, last: Option<&Probed>) -> Result<Probed, Failure> {
    round_trip(service, epoch).map_err(|failure| match last {
        Some(last) if !failure.kind.is_worth_a_retry() && still_decrypts(service, last) => {
            let message = format!("the key still decrypts and no longer encrypts ({failure})");
            Failure::new(FailureKind::DecryptsOnly, message)
        }
        _ => failure,
    })
}

fn round_trip(service: &dyn KeyService, epoch: u64) -> Result<Probed, Failure> {
    let mut text = [0; 32];
    rand::fill(&mut text).map_err(|_| Failure::new(FailureKind::Unreachable, "the system gives no random bytes"))?;
    let id = service.current()?.id(epoch);
    let sealed = service.encrypt(&text, id.as_str().as_bytes())?;
    if sealed.version.id(epoch) != id {
        // Rotated between the two calls: the next probe, which comes soon, sees the new version alone.
        return Err(Failure::new(FailureKind::Unreachable, "the key was rotated during the probe"));
    }
    let opened = service.decrypt(&sealed.ciphertext, &sealed.version.version, id.as_str().as_bytes())?;
    if *opened != text {
        return Err(Failure::new(FailureKind::DecryptsOnly, "the key does not decrypt what it has encrypted"));
    }
    let caution = service.caution(&sealed.version);
    Ok(Probed { id, sealed, caution })
}

fn still_decrypts(service: &dyn KeyService, last: &Probed) -> bool {
    let Sealed { ciphertext, version } = &last.sealed;
    service.decrypt(ciphertext, &version.version, last.id.as_str().as_bytes()).is_ok()
}
