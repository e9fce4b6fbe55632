//! Whatever a stranger sends, every parser ends with a value or a reason, never with a panic.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
use machineadm_discovery::{
    BootstrapToken, Endpoint, Expiry, Lifetime, Pin, TokenSettings,
    cache::Cached,
    certificate::CaBundle,
    cluster_info::{self, Origin},
    jws,
};
use objects::Secret;
use proptest::prelude::*;

const KUBECONFIG: &str = include_str!("vectors/real/cluster-info.kubeconfig.yaml");
const SECRETS: &str = include_str!("vectors/real/secrets-after-bootstrap-token-phase.json");

/// Replaces and removes parts of a text.
fn spoiled(text: &str, changes: &[(prop::sample::Index, u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (place, length, with) in changes {
        let at = place.index(bytes.len() + 1);
        let end = (at + usize::from(*length)).min(bytes.len());
        bytes.splice(at..end, with.iter().copied());
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, Vec<u8>)>> {
    let with = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..4),
        "[-:{}\\[\\]'\" \n&*<|>]{0,6}".prop_map(String::into_bytes)
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0..40_u8, with), 0..5)
}

fn every_parser(bytes: &[u8]) {
    for origin in [Origin::Signed, Origin::Elsewhere, Origin::File] {
        if let Ok(read) = cluster_info::read(bytes, origin) {
            assert!(read.info.endpoint().url("").starts_with("https://"));
        }
    }
    if let Ok(secret) = serde_json::from_slice::<Secret>(bytes) {
        let _ = TokenSettings::read(&secret);
    }
    let _ = (Expiry::read(Some(bytes)), CaBundle::read(bytes.to_vec()), Cached::read(bytes));
    let text = String::from_utf8_lossy(bytes);
    let _ = (text.parse::<BootstrapToken>(), text.parse::<Pin>(), text.parse::<Endpoint>(), Lifetime::read(&text));
    let token: BootstrapToken = "abcdef.0123456789abcdef".parse().unwrap();
    assert!(jws::verify(&text, &token, b"content").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]
    #[test]
    fn anything_is_read_or_refused(bytes: Vec<u8>, text: String) {
        every_parser(&bytes);
        every_parser(text.as_bytes());
    }

    #[test]
    fn a_spoiled_kubeconfig_is_read_or_refused(changes in changes()) {
        every_parser(&spoiled(KUBECONFIG, &changes));
    }

    #[test]
    fn a_spoiled_secret_is_read_or_refused(changes in changes()) {
        let list: serde_json::Value = serde_json::from_str(SECRETS).unwrap();
        every_parser(&spoiled(&list["items"][0].to_string(), &changes));
    }

    #[test]
    fn a_spoiled_endpoint_or_time_is_read_or_refused(changes in changes()) {
        for text in ["https://[2001:db8::6]:6443/x", "2026-11-15T12:00:00.123456789+24:00", "file:///etc/x"] {
            every_parser(&spoiled(text, &changes));
        }
    }
}
