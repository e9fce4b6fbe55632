//! The Secret that keeps a token: how it is named and filled, how it is read back, and why one is no token.
use crate::{
    expiry::Expiry,
    moment::Moment,
    token::{BootstrapToken, TokenId},
    usage::{USAGE_PREFIX, Usage, UsageError, check_groups},
};
use jiff::Timestamp;
use objects::{Bytes, Duration, ObjectMeta, Secret};
use std::collections::{BTreeMap, BTreeSet};

/// The namespace of tokens.
pub const NAMESPACE: &str = "kube-system";
/// The type of their Secrets.
pub const TYPE: &str = "bootstrap.kubernetes.io/token";
/// How long after a run that was cut short the same command is run again, at most.
const BETWEEN_RUNS: Duration = Duration::minutes(10);
/// Which part of the wished time may have passed meanwhile: nobody wants a token that is about to end.
const PART_BETWEEN_RUNS: i64 = 10;
/// What their names begin with.
const NAME_PREFIX: &str = "bootstrap-token-";
const ID: &str = "token-id";
const SECRET: &str = "token-secret";
pub(crate) const EXPIRATION: &str = "expiration";
const DESCRIPTION: &str = "description";
/// The specification calls it `auth-groups`. The API server reads this one, and only this one.
pub(crate) const GROUPS: &str = "auth-extra-groups";
/// The one value that allows a usage.
const TRUE: &str = "true";

/// The name of the Secret that keeps the token with this id.
pub fn name(id: &TokenId) -> String {
    format!("{NAME_PREFIX}{id}")
}

/// The id of the token that a Secret of this name keeps.
pub fn id_of(name: &str) -> Option<TokenId> {
    name.strip_prefix(NAME_PREFIX)?.parse().ok()
}

/// A token with all that its Secret says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSettings {
    /// The token.
    pub token: BootstrapToken,
    /// What it was made for, in anybody's words.
    pub description: String,
    /// When it ends; never, if absent.
    pub expires: Option<Moment>,
    /// What it may be used for, by name. Others than [`Usage`] knows mean nothing, but are kept.
    pub usages: BTreeSet<String>,
    /// Further groups of whoever authenticates with it.
    pub groups: Vec<String>,
}

/// Why a Secret is no token. Nothing of its content is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAToken {
    /// It lies elsewhere.
    #[error("it is not in the namespace {NAMESPACE}")]
    OtherNamespace,
    /// It is of another type.
    #[error("its type is not {TYPE}")]
    OtherType,
    /// It isn't named as a token.
    #[error("its name is not {NAME_PREFIX} and an id of 6 lower-case letters or digits")]
    BadName,
    /// It doesn't say which token it is.
    #[error("it has no {ID}")]
    NoId,
    /// Its name and its content don't agree.
    #[error("its {ID} is not the one in its name")]
    OtherId,
    /// It has no secret half.
    #[error("it has no {SECRET}")]
    NoSecret,
    /// No token has such a secret half.
    #[error("its {SECRET} is not 16 lower-case letters or digits")]
    BadSecret,
    /// Kubernetes takes it for expired.
    #[error("its {EXPIRATION} is not a time such as 2035-01-02T03:04:05Z")]
    BadExpiration,
}

impl TokenSettings {
    /// A token that is good for nothing yet, and for ever.
    pub fn new(token: BootstrapToken) -> Self {
        let (description, expires, usages, groups) = Default::default();
        Self { token, description, expires, usages, groups }
    }

    /// Everything that is wrong with usages and groups for a token that is to be made.
    pub fn problems(&self) -> Vec<UsageError> {
        let unknown = self.usages.iter().filter(|name| Usage::named(name).is_none());
        let known = self.usages.iter().filter_map(|name| Usage::named(name)).collect();
        unknown.cloned().map(UsageError::Unknown).chain(check_groups(&known, &self.groups)).collect()
    }

    /// The Secret that keeps it.
    pub fn secret(&self) -> Secret {
        let Self { token, description, expires, usages, groups } = self;
        let mut data = BTreeMap::from([
            (ID.to_owned(), Bytes::from(token.id.as_str())),
            (SECRET.to_owned(), Bytes::from(token.secret.expose())),
        ]);
        let mut put = |key: &str, value: &str| data.insert(key.to_owned(), Bytes::from(value));
        if !description.is_empty() {
            put(DESCRIPTION, description);
        }
        if let Some(expires) = expires {
            put(EXPIRATION, &expires.to_string());
        }
        for usage in usages {
            put(&format!("{USAGE_PREFIX}{usage}"), TRUE);
        }
        if !groups.is_empty() {
            put(GROUPS, &groups.join(","));
        }
        Secret::new(ObjectMeta::named_in(NAMESPACE, &name(&token.id)), TYPE, data)
    }

    /// Whether an earlier run of the same wish made this Secret: all of it fits, and it ends as late as is wished now
    /// but for the time between the two runs, which is short and leaves most of the wished time.
    pub fn was_made_as(&self, live: &Secret, now: Timestamp) -> bool {
        let Ok(found) = Self::read(live) else { return false };
        let ends_so = match (self.expires, found.expires) {
            (None, None) => true,
            (Some(wished), Some(end)) => ends_as(wished, end, now),
            _ => false,
        };
        ends_so && live.metadata.deletion_timestamp.is_none() && Self { expires: self.expires, ..found } == *self
    }

    /// Reads a Secret back. Usages and groups are taken as they stand there: a list shows also what is of no use.
    pub fn read(secret: &Secret) -> Result<Self, NotAToken> {
        let token = token(secret)?;
        let expires = match expiry(secret) {
            Expiry::Never => None,
            Expiry::At(moment) => Some(moment),
            Expiry::Unreadable => return Err(NotAToken::BadExpiration),
        };
        let text = |key| String::from_utf8_lossy(secret.value(key).unwrap_or_default()).into_owned();
        let listed = text(GROUPS);
        let groups = if listed.is_empty() || listed.starts_with(',') { Vec::new() } else { split(&listed) };
        let usages = secret.data.iter().filter(|(_, value)| value.expose() == TRUE.as_bytes());
        let usages = usages.filter_map(|(key, _)| key.strip_prefix(USAGE_PREFIX)).map(str::to_owned).collect();
        Ok(Self { token, description: text(DESCRIPTION), expires, usages, groups })
    }
}

/// Whether a token that ends so is as good as the wished one.
fn ends_as(wished: Moment, end: Moment, now: Timestamp) -> bool {
    let part = Duration::nanoseconds(wished.since(now).as_nanoseconds() / PART_BETWEEN_RUNS);
    // A Secret has whole seconds.
    let wished = wished.whole_second();
    end > now.into() && end <= wished && wished <= end.after(part.min(BETWEEN_RUNS))
}

fn split(list: &str) -> Vec<String> {
    list.split(',').map(str::to_owned).collect()
}

/// Which token a Secret keeps, by its place, type, name and `token-id`. What fails here MUST be ignored by everybody.
pub fn id(secret: &Secret) -> Result<TokenId, NotAToken> {
    if secret.metadata.namespace != NAMESPACE {
        return Err(NotAToken::OtherNamespace);
    }
    if secret.secret_type != TYPE {
        return Err(NotAToken::OtherType);
    }
    let id = id_of(&secret.metadata.name).ok_or(NotAToken::BadName)?;
    match secret.value(ID) {
        None => Err(NotAToken::NoId),
        Some(value) if value != id.as_str().as_bytes() => Err(NotAToken::OtherId),
        Some(_) => Ok(id),
    }
}

/// The token that a Secret keeps.
pub fn token(secret: &Secret) -> Result<BootstrapToken, NotAToken> {
    let id = id(secret)?;
    let value = secret.value(SECRET).ok_or(NotAToken::NoSecret)?;
    let text = std::str::from_utf8(value).map_err(|_| NotAToken::BadSecret)?;
    Ok(BootstrapToken { id, secret: text.parse().map_err(|_| NotAToken::BadSecret)? })
}

/// When the token that a Secret keeps ends.
pub fn expiry(secret: &Secret) -> Expiry {
    Expiry::read(secret.value(EXPIRATION))
}

/// Whether a Secret allows a usage: with the four bytes `true` and no others.
pub fn allows(secret: &Secret, usage: Usage) -> bool {
    secret.value(&usage.key()) == Some(TRUE.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]
        #[test]
        fn what_is_written_into_a_secret_is_read_back(
            token in "[a-z0-9]{6}[.][a-z0-9]{16}", description in ".{0,20}",
            second in proptest::option::of(-62_000_000_000_i64..250_000_000_000),
            usages in proptest::collection::btree_set("signing|authentication|foo", 0..3),
            groups in proptest::collection::vec("system:bootstrappers:[a-z0-9:-]{0,9}[a-z0-9]", 0..3),
        ) {
            let expires = second.map(Moment::from_unix);
            let settings = TokenSettings { token: token.parse().unwrap(), description, expires, usages, groups };
            let wire = serde_json::to_string(&settings.secret()).unwrap();
            let secret: Secret = serde_json::from_str(&wire).unwrap();
            prop_assert_eq!(TokenSettings::read(&secret), Ok(settings));
        }
    }

    #[test]
    fn a_secret_whose_token_id_is_not_the_one_in_its_name_is_no_token() {
        let mut secret = TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap()).secret();
        assert_eq!(id(&secret).map(|id| id.to_string()).as_deref(), Ok("abcdef"));
        for (value, reason) in [("abcdeg", NotAToken::OtherId), ("abcdef\n", NotAToken::OtherId)] {
            secret.data.insert(ID.to_owned(), value.into());
            assert_eq!((id(&secret), token(&secret)), (Err(reason), Err(reason)), "{value}");
        }
        secret.data.remove(ID);
        assert_eq!(id(&secret), Err(NotAToken::NoId));
    }

    #[test]
    fn a_token_for_signing_alone_needs_no_groups() {
        let mut settings = TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap());
        settings.usages.insert("signing".to_owned());
        assert_eq!(settings.problems(), []);
        settings.groups.push(crate::usage::NODE_GROUP.to_owned());
        assert_eq!(settings.problems(), [UsageError::GroupsWithoutAuthentication]);
    }

    #[test]
    fn an_earlier_run_of_the_same_wish_is_known_by_all_but_the_time_between() {
        let now: Timestamp = "2026-11-16T05:00:00Z".parse().unwrap();
        let at = |seconds| Some(Moment::from(now).later(seconds));
        let mut wish = TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap());
        wish.usages.insert("signing".to_owned());
        for (wished, live, is_same) in [
            (None, None, true),
            (at(3600), None, false),
            (None, at(3600), false),
            (at(3600), at(3600), true),
            (at(3600), at(3240), true),
            (at(3600), at(3239), false),
            (at(3600), at(3601), false),
            (at(86_400), at(85_800), true),
            (at(86_400), at(85_799), false),
            (at(60), at(54), true),
            (at(60), at(53), false),
            (at(8), at(8), true),
            (at(8), at(2), false),
            (at(1), at(1), true),
            (at(0), at(0), false),
            (at(8).map(|moment| moment.after(Duration::nanoseconds(999_999_999))), at(8), true),
        ] {
            let there = TokenSettings { expires: live, ..wish.clone() }.secret();
            let wish = TokenSettings { expires: wished, ..wish.clone() };
            assert_eq!(wish.was_made_as(&there, now), is_same, "{wished:?} {live:?}");
        }
        let other = |change: fn(&mut TokenSettings)| {
            let mut other = wish.clone();
            change(&mut other);
            other.secret()
        };
        let mut going = wish.secret();
        going.metadata.deletion_timestamp = Some("2026-11-16T05:00:00Z".into());
        for there in [
            going,
            other(|other| other.description.push('x')),
            other(|other| other.token = "abcdef.ffffffffffffffff".parse().unwrap()),
            other(|other| other.usages.clear()),
            other(|other| other.groups.push(crate::usage::NODE_GROUP.to_owned())),
        ] {
            assert!(!wish.was_made_as(&there, now), "{there:?}");
        }
    }

    #[test]
    fn settings_show_no_secret() {
        let settings = TokenSettings::new("abcdef.9876543210zyxwvu".parse().unwrap());
        assert!(!format!("{settings:?} {:?}", settings.secret()).contains("9876543210zyxwvu"));
    }
}
