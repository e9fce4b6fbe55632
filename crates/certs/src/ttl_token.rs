//! The TTL token: a bootstrap token without usages and groups, whose end deletes the kubeadm-certs Secret.
use crate::{owner::Owner, secret_object::KubeadmCerts};
use discovery::{BootstrapToken, Lifetime, Remaining, TokenId, TokenSettings, token_secret, usable, usage::NODE_GROUP};
use jiff::{SignedDuration, Timestamp};
use objects::{Duration, Secret};

/// kubeadm's words for it, by which it is recognised.
pub const DESCRIPTION: &str = "Proxy for managing TTL for the kubeadm-certs secret";
/// How long the Secret lives at most.
pub const LONGEST: Duration = Duration::hours(2);
/// The difference between two clocks from which on it is reported.
const SKEW: Duration = Duration::minutes(1);
/// A join token with less than this left is as good as gone: half of it is less than the second that a Secret's
/// expiration can express.
const LAST_SECONDS: Duration = Duration::seconds(2);

/// How long a TTL token lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ttl {
    /// So long from the API server's time on.
    pub span: Duration,
    /// The join token that makes it shorter than [`LONGEST`].
    pub limited_by: Option<TokenId>,
}

impl Ttl {
    /// Two hours, or half of what is left of the join token that ends first, where that is shorter: the Secret must not
    /// outlive the tokens that may read it. `now` is the API server's time, since its clock ends tokens.
    pub fn new(secrets: &[Secret], now: Timestamp) -> Self {
        let halves = secrets.iter().filter_map(|secret| join_token(secret, now));
        let halves = halves.map(|(id, left)| (Duration::nanoseconds(left.as_nanoseconds() / 2), id));
        match halves.min_by_key(|(half, _)| *half) {
            Some((span, id)) if span < LONGEST => Self { span, limited_by: Some(id) },
            _ => Self { span: LONGEST, limited_by: None },
        }
    }

    /// The TTL token that is created now.
    pub fn token(&self, token: BootstrapToken, now: Timestamp) -> TokenSettings {
        let expires = Lifetime::For(self.span).expires(now);
        TokenSettings { description: DESCRIPTION.to_owned(), expires, ..TokenSettings::new(token) }
    }

    /// An [orphan](orphans) that is taken now, as the API server shall store it; not one that the token cleaner may be
    /// deleting. It never stays as it is, since its resource version would stay too, and another upload could delete it
    /// without noticing that it was taken: one that would have the same expiration ends a second earlier.
    pub fn taken(&self, orphan: &Secret, now: Timestamp) -> Option<Secret> {
        match token_secret::expiry(orphan).remaining(now) {
            Remaining::Expired => return None,
            Remaining::For(left) if left < LAST_SECONDS => return None,
            Remaining::For(_) | Remaining::Forever => {}
        }
        let token = token_secret::token(orphan).ok()?;
        let moments = [now, now.checked_sub(SignedDuration::from_secs(1)).ok()?];
        let tokens = moments.map(|moment| self.token(token.clone(), moment).secret());
        let mut taken = tokens.into_iter().find(|token| token.data != orphan.data)?;
        taken.metadata = orphan.metadata.clone();
        Some(taken)
    }
}

/// A live token with which a machine may read the Secret, if it ever ends, with what is left of it.
fn join_token(secret: &Secret, now: Timestamp) -> Option<(TokenId, Duration)> {
    let token = token_secret::token(secret).ok()?;
    let identity = usable::authenticates(secret, &token, now).ok()?;
    identity.groups.iter().find(|group| *group == NODE_GROUP)?;
    match token_secret::expiry(secret).remaining(now) {
        Remaining::For(left) if left >= LAST_SECONDS => Some((token.id, left)),
        Remaining::For(_) | Remaining::Forever | Remaining::Expired => None,
    }
}

/// TTL tokens that do not own the Secret, of machineadm or kubeadm: such as that of an upload that was interrupted
/// before it had written the Secret, and that of an upload which runs right now.
///
/// An upload that needs a token takes one of these, with a new expiration, before it creates one; and it deletes the
/// others after it has written the Secret, each only if it is still as it was when the upload began. Of uploads at the
/// same time, none can then end with a Secret whose owner another one has deleted: whoever takes a token changes it.
pub fn orphans<'a>(secrets: &'a [Secret], certs: Option<&KubeadmCerts<'_>>) -> Vec<&'a Secret> {
    let owner = certs.and_then(KubeadmCerts::owner);
    let tokens = secrets.iter().filter(|secret| is_ttl_token(secret));
    tokens.filter(|token| Owner::of(token).is_some_and(|token| owner.as_ref() != Some(&token))).collect()
}

/// Whether a token serves this purpose and no other.
fn is_ttl_token(secret: &Secret) -> bool {
    TokenSettings::read(secret)
        .is_ok_and(|token| token.description == DESCRIPTION && token.usages.is_empty() && token.groups.is_empty())
}

/// How far this machine's clock is from the API server's, where that is worth a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSkew {
    /// This machine's clock is ahead by so much.
    Ahead(Duration),
    /// This machine's clock is behind by so much.
    Behind(Duration),
}

impl ClockSkew {
    /// The skew in whole seconds, as a server's answer has its time, if it is more than a minute. `server` is the time of
    /// the API server's answer.
    pub fn between(machine: Timestamp, server: Timestamp) -> Option<Self> {
        let ahead = discovery::Moment::from(machine).since(server);
        let behind = discovery::Moment::from(server).since(machine);
        let whole = |skew: Duration| Duration::seconds(skew.as_nanoseconds() / 1_000_000_000);
        if ahead > SKEW {
            Some(Self::Ahead(whole(ahead)))
        } else if behind > SKEW {
            Some(Self::Behind(whole(behind)))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret_object;
    use std::collections::BTreeMap;

    fn now() -> Timestamp {
        "2026-11-16T12:00:00Z".parse().unwrap()
    }

    fn join_token_ending_in(id: &str, seconds: i64) -> TokenSettings {
        let mut token = TokenSettings::new(format!("{id}.0123456789abcdef").parse().unwrap());
        token.usages = ["authentication".to_owned(), "signing".to_owned()].into();
        token.groups = vec![NODE_GROUP.to_owned()];
        token.expires = Lifetime::For(Duration::seconds(seconds)).expires(now());
        token
    }

    fn ttl(tokens: &[TokenSettings]) -> (i64, Option<String>) {
        let secrets: Vec<_> = tokens.iter().map(TokenSettings::secret).collect();
        let Ttl { span, limited_by } = Ttl::new(&secrets, now());
        (span.as_nanoseconds() / 1_000_000_000, limited_by.map(|id| id.to_string()))
    }

    #[test]
    fn the_secret_lives_two_hours_or_half_of_what_is_left_of_the_first_join_token_to_end() {
        const HOUR: i64 = 3600;
        let limited = |seconds, id: &str| (seconds, Some(id.to_owned()));
        assert_eq!(ttl(&[]), (2 * HOUR, None));
        assert_eq!(ttl(&[join_token_ending_in("aaaaaa", 24 * HOUR)]), (2 * HOUR, None));
        assert_eq!(ttl(&[join_token_ending_in("aaaaaa", 4 * HOUR)]), (2 * HOUR, None));
        assert_eq!(ttl(&[join_token_ending_in("aaaaaa", 4 * HOUR - 2)]), limited(2 * HOUR - 1, "aaaaaa"));
        let several = [("aaaaaa", 3 * HOUR), ("bbbbbb", HOUR), ("cccccc", 2 * HOUR)];
        assert_eq!(ttl(&several.map(|(id, left)| join_token_ending_in(id, left))), limited(HOUR / 2, "bbbbbb"));
    }

    #[test]
    fn only_live_tokens_that_may_read_the_secret_count() {
        let short = || join_token_ending_in("aaaaaa", 600);
        assert_eq!(ttl(&[short()]), (300, Some("aaaaaa".to_owned())));
        let changes: [fn(&mut TokenSettings); 5] = [
            |token| token.usages.retain(|usage| usage != "authentication"),
            |token| token.groups = vec!["system:bootstrappers:others".to_owned()],
            |token| token.groups.clear(),
            |token| token.expires = None,
            |token| token.expires = Lifetime::For(Duration::seconds(-1)).expires(now()),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut token = short();
            change(&mut token);
            assert_eq!(ttl(&[token]), (7200, None), "change {number}");
        }
        assert_eq!(ttl(&[join_token_ending_in("aaaaaa", 2)]), (1, Some("aaaaaa".to_owned())));
        assert_eq!(ttl(&[join_token_ending_in("aaaaaa", 1)]), (7200, None));
    }

    #[test]
    fn the_token_has_kubeadms_keys_and_no_usage_and_no_group() {
        let ttl = Ttl::new(&[], now());
        let secret = ttl.token("abcdef.0123456789abcdef".parse().unwrap(), now()).secret();
        let data: Vec<_> = secret.data.iter().map(|(key, value)| (key.as_str(), value.expose())).collect();
        let expected: [(&str, &[u8]); 4] = [
            ("description", b"Proxy for managing TTL for the kubeadm-certs secret"),
            ("expiration", b"2026-11-16T14:00:00Z"),
            ("token-id", b"abcdef"),
            ("token-secret", b"0123456789abcdef"),
        ];
        assert_eq!(data, expected);
        let token = token_secret::token(&secret).unwrap();
        assert!(usable::signs(&secret, now()).is_err() && usable::authenticates(&secret, &token, now()).is_err());
    }

    fn stored(id: &str, uid: &str) -> Secret {
        let token = format!("{id}.0123456789abcdef").parse().unwrap();
        let mut secret = Ttl::new(&[], now()).token(token, now()).secret();
        secret.metadata.uid = Some(uid.to_owned());
        secret
    }

    #[test]
    fn ttl_tokens_that_do_not_own_the_secret_are_orphans() {
        let tokens = [stored("aaaaaa", "1"), stored("bbbbbb", "2"), stored("cccccc", "3")];
        let owner = |secret: &Secret| Owner::of(secret).unwrap();
        let certs = Secret::new(owner(&tokens[1]).metadata(secret_object::NAME), "Opaque", BTreeMap::new());
        let certs = KubeadmCerts::read(&certs).unwrap();
        assert_eq!(orphans(&tokens, Some(&certs)), [&tokens[0], &tokens[2]]);
        assert_eq!(orphans(&tokens, None).len(), 3);
        // A new token of the owner's name is not the owner.
        let renewed = [stored("bbbbbb", "9")];
        assert_eq!(orphans(&renewed, Some(&certs)), [&renewed[0]]);
    }

    #[test]
    fn an_orphan_that_is_taken_is_the_same_object_with_a_new_expiration() {
        let mut orphan = stored("aaaaaa", "1");
        orphan.metadata.resource_version = Some("7".to_owned());
        let later = now() + jiff::SignedDuration::from_secs(60);
        let taken = Ttl::new(&[], later).taken(&orphan, later).unwrap();
        assert_eq!(taken.metadata, orphan.metadata);
        assert_eq!(taken.value("expiration"), Some(&b"2026-11-16T14:01:00Z"[..]));
        orphan.data.insert("expiration".to_owned(), "2026-11-16T14:01:00Z".into());
        assert_eq!(taken, orphan);
    }

    #[test]
    fn an_orphan_that_is_about_to_end_is_not_taken() {
        let orphan = stored("aaaaaa", "1");
        let after = |seconds| now() + jiff::SignedDuration::from_secs(seconds);
        let is_taken = |seconds| Ttl::new(&[], after(seconds)).taken(&orphan, after(seconds)).is_some();
        assert_eq!([0, 1, 7198, 7199, 7200, 9000].map(is_taken), [true, true, true, false, false, false]);
    }

    #[test]
    fn an_orphan_that_is_taken_in_the_second_of_its_creation_changes_each_time() {
        let mut orphan = stored("aaaaaa", "1");
        let mut ends = Vec::new();
        for _ in 0..3 {
            orphan = Ttl::new(&[], now()).taken(&orphan, now()).unwrap();
            ends.push(String::from_utf8(orphan.value("expiration").unwrap().to_vec()).unwrap());
        }
        assert_eq!(ends, ["2026-11-16T13:59:59Z", "2026-11-16T14:00:00Z", "2026-11-16T13:59:59Z"]);
    }

    #[test]
    fn a_token_that_serves_anything_else_is_never_an_orphan() {
        let changes: [fn(&mut Secret); 6] = [
            |secret| drop(secret.data.insert("usage-bootstrap-signing".to_owned(), "true".into())),
            |secret| drop(secret.data.insert("auth-extra-groups".to_owned(), NODE_GROUP.into())),
            |secret| drop(secret.data.insert("description".to_owned(), "mine".into())),
            |secret| drop(secret.data.remove("description")),
            |secret| secret.secret_type = "Opaque".to_owned(),
            |secret| secret.metadata.uid = None,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut secret = stored("aaaaaa", "1");
            change(&mut secret);
            assert_eq!(orphans(&[secret], None), Vec::<&Secret>::new(), "change {number}");
        }
    }

    #[test]
    fn a_skew_of_more_than_a_minute_is_reported_with_its_direction() {
        let skew = |seconds| ClockSkew::between(now() + jiff::SignedDuration::from_secs(seconds), now());
        assert_eq!([skew(0), skew(60), skew(-60)], [None; 3]);
        assert_eq!(skew(61), Some(ClockSkew::Ahead(Duration::seconds(61))));
        assert_eq!(skew(-90), Some(ClockSkew::Behind(Duration::seconds(90))));
        let now_and_a_bit = now() - jiff::SignedDuration::from_millis(90_391);
        assert_eq!(ClockSkew::between(now_and_a_bit, now()), Some(ClockSkew::Behind(Duration::seconds(90))));
    }
}
