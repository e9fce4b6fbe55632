//! What signer and cleaner decide as tokens come, change and end.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
use jiff::Timestamp;
use machineadm_discovery::{
    TokenSettings,
    bootstrap_signer::{self, Signing},
    cluster_info::{NAME, NAMESPACE},
    expiry::rfc3339,
    jws,
    token_cleaner::{self, Due, Reason},
};
use objects::{ConfigMap, ObjectMeta, Secret};

const NOW: &str = "2026-11-15T12:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn settings(id: &str, expires: Option<&str>) -> TokenSettings {
    let mut settings = TokenSettings::new(format!("{id}.0123456789abcdef").parse().unwrap());
    settings.usages.insert("signing".to_owned());
    settings.expires = expires.map(|time| rfc3339(time).unwrap());
    settings
}

fn cluster_info(data: &[(&str, &str)]) -> ConfigMap {
    let data = data.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    ConfigMap::new(ObjectMeta::named_in(NAMESPACE, NAME), data)
}

#[test]
fn without_something_to_sign_nothing_is_touched() {
    let tokens = [settings("aaaaaa", None).secret()];
    assert_eq!(bootstrap_signer::decide(None, &tokens, now()), Signing::NoConfigMap);
    let config_map = cluster_info(&[("jws-kubeconfig-zzzzzz", "stays")]);
    let signing = bootstrap_signer::decide(Some(&config_map), &tokens, now());
    assert_eq!(signing, Signing::NoKubeconfig);
    assert_eq!(signing.applied(&config_map), None);
}

#[test]
fn wrong_signatures_are_replaced_superfluous_ones_removed_and_all_else_stays() {
    let good = settings("bbbbbb", None);
    let signature = jws::sign(&good.token, b"k");
    let config_map = cluster_info(&[
        ("kubeconfig", "k"),
        ("jws-kubeconfig-aaaaaa", "tampered"),
        ("jws-kubeconfig-bbbbbb", &signature),
        ("jws-kubeconfig-stray", "x"),
        ("mine", "kept"),
    ]);
    let tampered = settings("aaaaaa", Some("2026-11-15T13:00:00Z"));
    let tokens = [tampered.secret(), good.secret(), settings("cccccc", Some("2026-11-16T12:00:00Z")).secret()];
    let signing = bootstrap_signer::decide(Some(&config_map), &tokens, now());
    let Signing::Write { set, remove, again } = &signing else { panic!("{signing:?}") };
    assert_eq!(set.keys().collect::<Vec<_>>(), ["jws-kubeconfig-aaaaaa", "jws-kubeconfig-cccccc"]);
    assert_eq!(remove, &["jws-kubeconfig-stray"]);
    assert_eq!(*again, rfc3339("2026-11-15T13:00:00Z"));
    let written = signing.applied(&config_map).unwrap();
    assert_eq!(written.data["mine"], "kept");
    assert!(matches!(bootstrap_signer::decide(Some(&written), &tokens, now()), Signing::Done { .. }));
}

#[test]
fn a_signature_does_not_outlive_its_token() {
    let token = settings("aaaaaa", Some(NOW));
    let config_map = cluster_info(&[("kubeconfig", "k"), ("jws-kubeconfig-aaaaaa", &jws::sign(&token.token, b"k"))]);
    let signing = bootstrap_signer::decide(Some(&config_map), &[token.secret()], now());
    let remove = vec!["jws-kubeconfig-aaaaaa".to_owned()];
    assert_eq!(signing, Signing::Write { set: Default::default(), remove, again: None });
}

#[test]
fn a_token_without_signing_usage_signs_nothing() {
    let mut token = settings("aaaaaa", None);
    token.usages = ["authentication".to_owned()].into();
    let config_map = cluster_info(&[("kubeconfig", "k")]);
    assert_eq!(bootstrap_signer::decide(Some(&config_map), &[token.secret()], now()), Signing::Done { again: None });
}

#[test]
fn the_cleaner_deletes_what_has_ended_and_waits_for_the_next() {
    let with_uid = |mut secret: Secret, uid: &str| {
        secret.metadata.uid = Some(uid.to_owned());
        secret
    };
    let mut unreadable = settings("bbbbbb", None).secret();
    unreadable.data.insert("expiration".to_owned(), "tomorrow".into());
    let mut leaving = settings("ffffff", Some(NOW)).secret();
    leaving.metadata.deletion_timestamp = Some(NOW.to_owned());
    let tokens = [
        with_uid(settings("aaaaaa", Some(NOW)).secret(), "1"),
        with_uid(unreadable, "2"),
        settings("cccccc", None).secret(),
        settings("dddddd", Some("2026-11-15T12:00:02Z")).secret(),
        settings("eeeeee", Some("2026-11-15T12:00:01Z")).secret(),
        leaving,
    ];
    let cleaning = token_cleaner::decide(&tokens, now());
    let due = |id: &str, uid: &str, reason| {
        Due { name: format!("bootstrap-token-{id}"), uid: Some(uid.to_owned()), reason } //
    };
    let expired = Reason::Expired(rfc3339(NOW).unwrap());
    assert_eq!(cleaning.delete, [due("aaaaaa", "1", expired), due("bbbbbb", "2", Reason::UnreadableExpiration)]);
    assert_eq!(cleaning.next, rfc3339("2026-11-15T12:00:01Z"));
}

#[test]
fn ten_thousand_tokens_are_decided_upon_at_once() {
    let tokens: Vec<_> =
        (0..10_000).map(|id| settings(&format!("{id:06}"), Some("2026-11-16T12:00:00Z")).secret()).collect();
    let config_map = cluster_info(&[("kubeconfig", "k")]);
    let signing = bootstrap_signer::decide(Some(&config_map), &tokens, now());
    assert_eq!(signing.applied(&config_map).unwrap().data.len(), 10_001);
    assert_eq!(token_cleaner::decide(&tokens, "2026-11-17T12:00:00Z".parse().unwrap()).delete.len(), 10_000);
}
