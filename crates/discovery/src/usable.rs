//! What a token's Secret is good for at a time: signing, authentication, being listed, being cleaned away.
use crate::{
    moment::Moment,
    token::BootstrapToken,
    token_secret::{self, GROUPS, NotAToken, TokenSettings},
    usage::{self, Usage, UsageError},
};
use jiff::Timestamp;
use objects::Secret;

/// Why a Secret may not be used for something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUsable {
    /// It is no token.
    #[error(transparent)]
    NotAToken(#[from] NotAToken),
    /// Somebody has asked for its deletion.
    #[error("it is being deleted")]
    BeingDeleted,
    /// It has ended, or its end is no time.
    #[error("it has expired")]
    Expired,
    /// It doesn't allow this usage.
    #[error("it does not allow {0}")]
    NoUsage(Usage),
    /// The token that was shown isn't this one.
    #[error("the token differs")]
    OtherToken,
    /// A group that it lists is none.
    #[error(transparent)]
    Group(#[from] UsageError),
}

/// Whom the API server takes the holder of a token for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `system:bootstrap:<id>`.
    pub user: String,
    /// Sorted; the API server adds `system:authenticated`.
    pub groups: Vec<String>,
}

/// The token that cluster-info is signed with for this Secret.
///
/// Stricter than kube-controller-manager, which signs also with secret halves that no client can have, and for Secrets
/// that are being deleted.
pub fn signs(secret: &Secret, now: Timestamp) -> Result<BootstrapToken, NotUsable> {
    let token = token_secret::token(secret)?;
    let usable = if secret.metadata.deletion_timestamp.is_some() {
        Err(NotUsable::BeingDeleted)
    } else if token_secret::expiry(secret).has_passed(now) {
        Err(NotUsable::Expired)
    } else if !token_secret::allows(secret, Usage::Signing) {
        Err(NotUsable::NoUsage(Usage::Signing))
    } else {
        Ok(())
    };
    usable.map(|()| token)
}

/// Whom the API server takes somebody for who shows this token, if this is its Secret. Its own order of checks.
pub fn authenticates(secret: &Secret, shown: &BootstrapToken, now: Timestamp) -> Result<Identity, NotUsable> {
    if secret.metadata.deletion_timestamp.is_some() {
        return Err(NotUsable::BeingDeleted);
    }
    if token_secret::token(secret)? != *shown {
        return Err(NotUsable::OtherToken);
    }
    if token_secret::expiry(secret).has_passed(now) {
        return Err(NotUsable::Expired);
    }
    if !token_secret::allows(secret, Usage::Authentication) {
        return Err(NotUsable::NoUsage(Usage::Authentication));
    }
    let listed = String::from_utf8_lossy(secret.value(GROUPS).unwrap_or_default());
    Ok(Identity { user: format!("system:bootstrap:{}", shown.id), groups: usage::groups(&listed)? })
}

/// What a list of tokens shows of this Secret.
pub fn listed(secret: &Secret) -> Result<TokenSettings, NotAToken> {
    TokenSettings::read(secret)
}

/// What the cleaner does with a Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// It isn't the cleaner's: no token by place, type, name or `token-id`. The specification has it ignored;
    /// kube-controller-manager deletes what is misnamed and expired.
    Ignore(NotAToken),
    /// It is on its way out already.
    BeingDeleted,
    /// It never ends.
    Keep,
    /// It ends then.
    Wait(Moment),
    /// It has ended, or its end is no time.
    Delete,
}

/// What the cleaner does with this Secret now.
pub fn cleaning(secret: &Secret, now: Timestamp) -> Cleaning {
    let expiry = token_secret::expiry(secret);
    match token_secret::id(secret) {
        Err(reason) => Cleaning::Ignore(reason),
        Ok(_) if secret.metadata.deletion_timestamp.is_some() => Cleaning::BeingDeleted,
        Ok(_) if expiry.has_passed(now) => Cleaning::Delete,
        Ok(_) => expiry.ahead(now).map_or(Cleaning::Keep, Cleaning::Wait),
    }
}
