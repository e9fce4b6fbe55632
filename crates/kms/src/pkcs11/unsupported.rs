//! What stands for a key of a token in a program that cannot load modules.
use super::Pkcs11Settings;
use crate::{Failure, FailureKind, KeyService, KeyVersion, Sealed};
use zeroize::Zeroizing;

/// A key of a token, which this build cannot reach.
#[derive(Debug)]
pub struct Pkcs11Key(Pkcs11Settings);

impl Pkcs11Key {
    /// The key of these settings.
    pub fn new(settings: Pkcs11Settings) -> Self {
        Self(settings)
    }

    fn refusal(&self) -> Failure {
        let module = self.0.module.display();
        let message = format!("this build cannot load the PKCS#11 module {module}: use the gnu build of the plugin");
        Failure::new(FailureKind::Unreachable, message)
    }
}

impl KeyService for Pkcs11Key {
    fn current(&self) -> Result<KeyVersion, Failure> {
        Err(self.refusal())
    }

    fn encrypt(&self, _: &[u8], _: &[u8]) -> Result<Sealed, Failure> {
        Err(self.refusal())
    }

    fn decrypt(&self, _: &[u8], _: &str, _: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        Err(self.refusal())
    }

    fn named(&self, _: &str) -> Result<KeyVersion, Failure> {
        Err(self.refusal())
    }
}
