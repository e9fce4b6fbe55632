//! One probe of a key: which material encrypts now, and whether it encrypts and decrypts.
use aws_lc_rs::rand;
use kms::{CIPHERTEXT_LIMIT, Failure, FailureKind, KeyId, KeyService, Sealed};
use std::time::{Duration, Instant};

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

/// Asks the service, each of whose calls kube-apiserver awaits no longer than `limit`. `last` is the last probe that
/// succeeded: if the key no longer encrypts and still decrypts that, the failure is [`FailureKind::DecryptsOnly`].
pub(crate) fn probe(
    service: &dyn KeyService,
    epoch: u64,
    limit: Duration,
    last: Option<&Probed>,
) -> Result<Probed, Failure> {
    round_trips(service, epoch, limit).map_err(|failure| match last {
        Some(last) if !failure.kind.is_worth_a_retry() && decrypts_only(service, last) => {
            let message = format!("the key still decrypts and no longer encrypts ({failure})");
            Failure::new(FailureKind::DecryptsOnly, message)
        }
        _ => failure,
    })
}

/// A round trip that no rotation meets; one may meet the first.
fn round_trips(service: &dyn KeyService, epoch: u64, limit: Duration) -> Result<Probed, Failure> {
    for _ in 0..2 {
        if let Some(probed) = round_trip(service, epoch, limit)? {
            return Ok(probed);
        }
    }
    Err(Failure::new(FailureKind::Unreachable, "the key was rotated during the probe"))
}

/// One round trip; nothing if the key was rotated meanwhile.
fn round_trip(service: &dyn KeyService, epoch: u64, limit: Duration) -> Result<Option<Probed>, Failure> {
    let mut text = [0; 32];
    rand::fill(&mut text).map_err(|_| Failure::new(FailureKind::Unreachable, "the system gives no random bytes"))?;
    let id = service.current()?.id(epoch);
    let sealed = within(limit, "encrypt", || service.encrypt(&text, id.as_str().as_bytes()))?;
    if sealed.version.id(epoch) != id {
        return Ok(None);
    }
    if sealed.ciphertext.len() > CIPHERTEXT_LIMIT {
        let length = sealed.ciphertext.len();
        let message =
            format!("32 bytes become a ciphertext of {length} bytes: kube-apiserver accepts {CIPHERTEXT_LIMIT}");
        return Err(Failure::new(FailureKind::DecryptsOnly, message));
    }
    let opened = within(limit, "decrypt", || {
        service.decrypt(&sealed.ciphertext, &sealed.version.version, id.as_str().as_bytes())
    })?;
    if *opened != text {
        return Err(Failure::new(FailureKind::DecryptsOnly, "the key does not decrypt what it has encrypted"));
    }
    let caution = service.caution(&sealed.version);
    Ok(Some(Probed { id, sealed, caution }))
}

/// Makes a call, which may consist of several requests that are each answered in time.
fn within<T>(limit: Duration, what: &str, call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let began = Instant::now();
    let result = call()?;
    if began.elapsed() <= limit {
        return Ok(result);
    }
    let message = format!(
        "the key service takes longer than {limit:?} to {what}, so that the calls of kube-apiserver time out: if it cannot be faster, raise timeout here and in the EncryptionConfiguration"
    );
    Err(Failure::new(FailureKind::Unreachable, message))
}

/// Whether what kube-apiserver stored is still read, and nothing is encrypted any more. Not so where only the description
/// of the key is refused.
fn decrypts_only(service: &dyn KeyService, last: &Probed) -> bool {
    let (Sealed { ciphertext, version }, context) = (&last.sealed, last.id.as_str().as_bytes());
    service.named(&version.version).is_ok_and(|named| named == *version)
        && service.decrypt(ciphertext, &version.version, context).is_ok()
        && service.encrypt(&[0; 32], context).is_err()
}
