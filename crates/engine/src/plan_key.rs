//! The key of saved plans: it stays on the machine that they were made on.
use aws_lc_rs::hmac;
use documents::Secret;
use objects::hex;

/// A key for fingerprints and for the authentication of a saved plan.
///
/// The machine has one, which only root reads. Each plan has its own, derived from the machine's and a random number in
/// the plan, so that two plans can't be compared either.
#[derive(Clone, Debug)]
pub struct PlanKey(Secret<[u8; 32]>);

impl PlanKey {
    /// The machine's key.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(Secret::new(bytes))
    }

    /// The key of the plan with this number.
    pub(crate) fn of_plan(&self, number: &str) -> Self {
        let mut context = self.context();
        context.update(b"machineadm saved plan\0");
        context.update(number.as_bytes());
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.sign().as_ref());
        Self::new(bytes)
    }

    /// The authentication code of a text.
    pub(crate) fn authenticate(&self, text: &[u8]) -> String {
        hex::encode(hmac::sign(&self.key(), text).as_ref())
    }

    /// Whether a text has this authentication code; compared in constant time.
    pub(crate) fn verifies(&self, text: &[u8], code: &str) -> bool {
        hex::decode::<32>(code).is_some_and(|code| hmac::verify(&self.key(), text, &code).is_ok())
    }

    pub(crate) fn context(&self) -> hmac::Context {
        hmac::Context::with_key(&self.key())
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.0.expose())
    }
}
