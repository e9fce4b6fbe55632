//! What is kept follows the cluster, but never loses what it is known by.
use crate::fake::*;
use jiff::Timestamp;
use machineadm_discovery::{
    ClusterInfo, Proof,
    cache::{Answer, Cached, Consent, Decision, Kept, NoCache, Refused},
};

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

fn cached(pinned: bool) -> Cached {
    let pins = if pinned { vec![pin(CA)] } else { Vec::new() };
    let proof = Proof::Token { token_id: "ae23dc".to_owned(), pins: pins.clone() };
    let updated = "2026-11-14T12:00:00Z".parse::<Timestamp>().unwrap().into();
    Cached { kubeconfig: real_info().kubeconfig(), pins, proof, updated }
}

fn body(info: &ClusterInfo) -> Vec<u8> {
    serde_json::to_vec(&info.config_map()).unwrap()
}

fn update(pinned: bool, newer: &ClusterInfo, consent: Consent) -> Decision<Cached> {
    cached(pinned).update(Answer::Verified(&body(newer)), consent, now()).unwrap()
}

#[test]
fn what_is_kept_is_read_back() {
    let cached = cached(true);
    assert_eq!(Cached::read(&cached.bytes()), Ok(cached));
}

#[test]
fn what_is_damaged_or_does_not_fit_its_pins_is_not_used() {
    assert_eq!(Cached::read(b"{}"), Err(NoCache::Damaged));
    let damaged = Cached { kubeconfig: "x".to_owned(), ..cached(true) };
    assert_eq!(Cached::read(&damaged.bytes()), Err(NoCache::Damaged));
    let swapped = Cached { pins: vec![pin(OTHER_CA)], ..cached(true) };
    assert_eq!(Cached::read(&swapped.bytes()), Err(NoCache::NotPinned));
}

#[test]
fn a_changed_address_and_a_rotated_bundle_are_followed() {
    let newer = info("https://new.example.com:6443", &[OTHER_CA, CA].concat());
    for pinned in [true, false] {
        let Decision::Replace(found) = update(pinned, &newer, Consent::Withheld) else { panic!() };
        assert_eq!((found.info(), found.pins), (Ok(newer.clone()), cached(pinned).pins));
        assert_eq!(found.updated.to_string(), "2026-11-15T12:00:00Z");
    }
}

#[test]
fn nothing_new_and_no_answer_leave_it_as_it_is() {
    assert_eq!(update(true, &real_info(), Consent::Withheld), Decision::Keep(Kept::Same));
    let silent = cached(true).update(Answer::None(&refused()), Consent::Given, now());
    assert_eq!(silent, Ok(Decision::Keep(Kept::Unreached(refused()))));
}

#[test]
fn an_unverified_answer_changes_nothing_whoever_agrees() {
    let body = body(&info("https://evil.example.com", CA));
    let decision = cached(false).update(Answer::Unverified(&body), Consent::Given, now());
    assert_eq!(decision, Ok(Decision::Refuse(Refused::Unverified)));
}

#[test]
fn an_answer_that_cannot_be_used_changes_nothing() {
    let insecure = signed(&real_info().kubeconfig().replace("https", "http"), &token());
    for body in [&b"<html>"[..], b"{\"kind\":\"ConfigMap\"}", &insecure] {
        let decision = cached(false).update(Answer::Verified(body), Consent::Given, now());
        assert!(matches!(decision, Ok(Decision::Refuse(Refused::Unusable(_)))), "{decision:?}");
    }
}

#[test]
fn a_pinned_root_is_replaced_by_an_unpinned_one_only_with_consent() {
    let newer = info("https://api.example.com:6443", OTHER_CA);
    let refused = Decision::Refuse(Refused::NotPinned(vec![pin(OTHER_CA)]));
    assert_eq!(update(true, &newer, Consent::Withheld), refused);
    let Decision::Replace(found) = update(true, &newer, Consent::Given) else { panic!() };
    assert_eq!(found.pins, [pin(OTHER_CA)]);
    assert_eq!(Cached::read(&found.bytes()), Ok(found));
    assert!(matches!(update(false, &newer, Consent::Withheld), Decision::Replace(_)));
}

#[test]
fn own_roots_give_way_to_the_systems_only_with_consent() {
    let newer = info("https://api.example.com:6443", b"");
    for pinned in [true, false] {
        assert_eq!(update(pinned, &newer, Consent::Withheld), Decision::Refuse(Refused::RootsDropped));
    }
    assert!(matches!(update(false, &newer, Consent::Given), Decision::Replace(_)));
}

#[test]
fn a_cluster_that_the_systems_roots_verified_may_name_its_own() {
    let public = Cached { kubeconfig: info("https://api.example.com", b"").kubeconfig(), ..cached(false) };
    let decision = public.update(Answer::Verified(&body(&real_info())), Consent::Withheld, now());
    assert!(matches!(decision, Ok(Decision::Replace(_))));
}
