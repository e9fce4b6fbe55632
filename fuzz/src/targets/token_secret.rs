//! A Secret that may keep a token, as an API server sends it.
use crate::{Seen, Target};
use discovery::{
    Moment, TokenSettings,
    expiry::rfc3339,
    token_secret,
    usable::{self, Cleaning, NotUsable},
};
use jiff::Timestamp;
use objects::Secret;
use serde_json::Value;

const REAL: &str = include_str!("../seeds/token-list.secrets.json");

pub(super) const TARGET: Target = Target {
    name: "token_secret",
    inputs: 100_000,
    seeds,
    words: &[
        "\"token-id\": \"YWJjZGVm\",",
        "\"token-secret\": \"MDEyMzQ1Njc4OWFiY2RlZg==\",",
        "\"expiration\": \"MjAyNi0xMS0xNVQxMjozNDo1Nlo=\",",
        "\"usage-bootstrap-signing\": \"dHJ1ZQ==\",",
        "\"usage-bootstrap-authentication\": \"dHJ1ZQ==\",",
        "\"auth-extra-groups\": \"c3lzdGVtOmJvb3RzdHJhcHBlcnM6YSw=\",",
        "\"description\": \"/w==\",",
        "\"deletionTimestamp\": \"2026-11-15T12:34:56Z\",",
        "\"type\": \"bootstrap.kubernetes.io/token\"",
        "bootstrap-token-abcdef",
        "kube-system",
        "null",
    ],
    read: target,
};

fn seeds() -> Vec<Vec<u8>> {
    let list: Value = serde_json::from_str(REAL).unwrap_or_default();
    let items = list["items"].as_array().map_or(&[][..], Vec::as_slice);
    items.iter().map(|item| item.to_string().into_bytes()).collect()
}

/// What is read as a token is written back to the same one, and lists, signer, authenticator and cleaner agree on it.
fn target(input: &[u8]) -> Seen {
    let Ok(secret) = serde_json::from_slice::<Secret>(input) else { return Seen::new("no Secret") };
    let wire = serde_json::to_vec(&secret).unwrap_or_default();
    assert_eq!(serde_json::from_slice::<Secret>(&wire).ok().as_ref(), Some(&secret), "a Secret is not written back");
    let now = Timestamp::UNIX_EPOCH;
    let (listed, cleaning, signs) =
        (usable::listed(&secret), usable::cleaning(&secret, now), usable::signs(&secret, now));
    if let Ok(settings) = &listed {
        written_back(settings);
        shown(settings, &secret);
        authenticated(settings, &secret, now);
    }
    assert_eq!(
        token_secret::id(&secret).is_err(),
        matches!(cleaning, Cleaning::Ignore(_)),
        "an id by one measure alone"
    );
    if let Ok(token) = &signs {
        assert_eq!(listed.as_ref().ok().map(|settings| &settings.token), Some(token), "it signs, but is no token");
        assert!(!matches!(cleaning, Cleaning::Delete | Cleaning::Ignore(_) | Cleaning::BeingDeleted));
    }
    let kind = format!("{cleaning:?}").split('(').next().unwrap_or_default().to_owned();
    let groups = listed.as_ref().map_or(0, |settings| settings.groups.len().min(4));
    Seen::new((listed.err().map(|error| error.to_string()), kind, signs.err().map(|error| error.to_string()), groups))
}

/// All that is lost is what no Secret of ours holds: parts of a second, and years that can't be written.
fn written_back(settings: &TokenSettings) {
    let whole = |moment: Moment| rfc3339(&moment.to_string());
    let expected = TokenSettings { expires: settings.expires.and_then(whole), ..settings.clone() };
    if settings.expires.is_some() && expected.expires.is_none() {
        return;
    }
    assert_eq!(TokenSettings::read(&settings.secret()).as_ref(), Ok(&expected), "a token is not written back");
    assert_eq!(TokenSettings::read(&expected.secret()), Ok(expected), "a second writing differs");
}

/// The secret half stands in no form that could be printed, unless it also stands where anybody may read it.
fn shown(settings: &TokenSettings, secret: &Secret) {
    let half = settings.token.secret.expose();
    let public = [&settings.description].into_iter().chain(&settings.usages).chain(&settings.groups);
    let elsewhere = public.into_iter().any(|text| text.contains(half))
        || secret.rest.keys().chain(secret.data.keys()).any(|name| name.contains(half));
    let metadata = serde_json::to_string(&secret.metadata).unwrap_or_default();
    let printed = format!("{settings:?} {secret:?}");
    assert!(elsewhere || metadata.contains(half) || !printed.contains(half), "the secret half is shown");
}

fn authenticated(settings: &TokenSettings, secret: &Secret, now: Timestamp) {
    match usable::authenticates(secret, &settings.token, now) {
        Ok(identity) => {
            assert_eq!(identity.user, format!("system:bootstrap:{}", settings.token.id));
            assert!(identity.groups.is_sorted() && identity.groups.iter().any(|group| group == "system:bootstrappers"));
            assert!(
                identity.groups.iter().all(|group| group.starts_with("system:bootstrappers")),
                "a stranger's group"
            );
            assert!(settings.usages.contains("authentication"));
        }
        Err(error) => assert!(!matches!(error, NotUsable::NotAToken(_) | NotUsable::OtherToken), "{error}"),
    }
}
