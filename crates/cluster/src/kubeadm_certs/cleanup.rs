//! The canary in a cluster: whether expired tokens, and what they own, are deleted there.
use super::{Entropy, UploadError, drawn, secret_path};
use crate::{ApiServer, Deleted, Result};
use certs::{
    Owner,
    canary::{self, Cleanup, Presence},
};
use discovery::BootstrapToken;
use objects::Secret;
use std::{
    thread,
    time::{Duration, Instant},
};

/// How many canaries to release.
const TIMES: usize = 3;
/// How often to look.
const PAUSE: Duration = Duration::from_millis(250);

/// What is seen while the canary is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanupWait {
    /// Who has not done its work yet.
    pub seen: Cleanup,
    /// How long it still may take.
    pub left: Duration,
}

/// A canary on its way: its token, and the Secret that the token owns.
struct Canary {
    token: Secret,
    owned: Secret,
}

impl ApiServer {
    /// Watches whether the cluster deletes a canary within this time. Whatever it did not delete, this deletes.
    pub(super) fn watch_cleanup(
        &self,
        entropy: Entropy<'_>,
        within: Duration,
        waiting: &mut dyn FnMut(CleanupWait),
    ) -> Result<Cleanup, UploadError> {
        self.delete_left_canaries()?;
        let canary = self.release_canary(entropy)?;
        let deadline = Instant::now() + within;
        let seen = loop {
            let seen = match self.cleanup_of(&canary) {
                Ok(Cleanup::Works) => return Ok(Cleanup::Works),
                Ok(seen) => seen,
                Err(error) => {
                    // Why it cannot be watched is worth more than why it cannot be deleted.
                    let _ = self.catch(&canary);
                    return Err(error.into());
                }
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break seen;
            }
            waiting(CleanupWait { seen, left });
            thread::sleep(PAUSE.min(left));
        };
        self.catch(&canary)?;
        Ok(seen)
    }

    /// Creates the token, which the cluster may delete at once, and then the Secret of that owner. One whose answer was
    /// lost may be gone before it can be read back: then another is released.
    fn release_canary(&self, entropy: Entropy<'_>) -> Result<Canary, UploadError> {
        for _ in 0..TIMES {
            let token = drawn(entropy, |entropy| BootstrapToken::generate(entropy)).map_err(UploadError::Entropy)?;
            let Some(token) = self.create_secret(&canary::token(token))? else { continue };
            let owner = Owner::of(&token).ok_or_else(|| self.strange("a token without a UID"))?;
            let owned = self.create_secret(&canary::secret(&owner));
            if let Ok(Some(owned)) = owned {
                return Ok(Canary { token, owned });
            }
            let _ = self.delete_same(&token);
            owned?;
        }
        Err(self.strange("objects of random names exist, or are deleted at once").into())
    }

    fn cleanup_of(&self, canary: &Canary) -> Result<Cleanup> {
        Ok(Cleanup::seen(self.presence(&canary.token)?, self.presence(&canary.owned)?))
    }

    fn presence(&self, object: &Secret) -> Result<Presence> {
        let live = self.secret(&secret_path(&object.metadata.name))?;
        let is_same = live.is_some_and(|live| live.metadata.uid == object.metadata.uid);
        Ok(if is_same { Presence::Present } else { Presence::Gone })
    }

    /// Deletes what is left of a canary; the Secret first, since it is what nobody might ever delete.
    fn catch(&self, canary: &Canary) -> Result<Deleted> {
        self.delete_same(&canary.owned)?;
        self.delete_same(&canary.token)
    }

    /// Where nothing cleans up, canaries of interrupted runs stay for ever.
    fn delete_left_canaries(&self) -> Result<()> {
        let canaries = self.secrets(("labelSelector", canary::LABEL))?;
        let now = self.time()?;
        for left in canaries.iter().filter(|canary| canary::is_left(canary, now)) {
            self.delete_same(left)?;
        }
        Ok(())
    }
}
