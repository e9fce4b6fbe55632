//! What is kept follows the cluster, but never loses what it is known by.
use crate::fake::*;
use jiff::Timestamp;
use machineadm_discovery::{
    ClusterInfo, Method, Proof,
    cache::{Answer, Cached, Consent, Decision, Kept, NoCache, NotFound, Refused, Search, follow},
    method::{Network, Patience, Refusal, Roots, Source, Unreached, Verification},
    proof::Refreshed,
};

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

fn cached(pinned: bool) -> Cached {
    let pins = if pinned { vec![pin(CA)] } else { Vec::new() };
    let proof = Proof::Token { token_id: "ae23dc".to_owned(), pins: pins.clone() };
    let updated = "2026-11-14T12:00:00Z".parse::<Timestamp>().unwrap().into();
    Cached::new(kubeconfig(&real_info()), pins, proof, updated).unwrap()
}

/// The same, but of another cluster.
fn of(info: &ClusterInfo, like: &Cached) -> Cached {
    Cached::new(kubeconfig(info), like.pins().to_vec(), like.proof().clone(), like.updated()).unwrap()
}

fn body(info: &ClusterInfo) -> Vec<u8> {
    serde_json::to_vec(&info.config_map()).unwrap()
}

/// What becomes of it when the cluster says this at the kept address and at every other.
fn update(pinned: bool, newer: &ClusterInfo, consent: Consent) -> Decision<Cached> {
    refreshed(&cached(pinned), consent, |_| Ok(body(newer)))
}

fn refreshed(
    cached: &Cached,
    consent: Consent,
    answer: impl Fn(&str) -> Result<Vec<u8>, Unreached>,
) -> Decision<Cached> {
    let mut net = FakeNetwork::new(|place, _, _| answer(place));
    cached.refresh(consent, &mut net, Patience::default(), now())
}

#[test]
fn what_is_kept_is_read_back() {
    let cached = cached(true);
    assert_eq!(cached.kubeconfig(), kubeconfig(&real_info()).text());
    assert_eq!(Cached::read(&cached.bytes()), Ok(cached));
}

#[test]
fn what_is_damaged_or_does_not_fit_its_pins_is_not_used() {
    assert_eq!(Cached::read(b"{}"), Err(NoCache::Damaged));
    let kept = String::from_utf8(cached(true).bytes()).unwrap();
    let spoiled = |from: &str, to: &str| {
        assert!(kept.contains(from), "{from}");
        Cached::read(kept.replace(from, to).as_bytes())
    };
    for (from, to) in [("https://", "http://"), ("kind: Config", "kind: Pod"), ("users: null", "users: [{name: a}]")] {
        assert_eq!(spoiled(from, to), Err(NoCache::Damaged), "{from}");
    }
    assert_eq!(spoiled(&pin(CA).to_string(), &pin(OTHER_CA).to_string()), Err(NoCache::NotPinned));
    let (proof, updated) = (cached(true).proof().clone(), cached(true).updated());
    let swapped = Cached::new(kubeconfig(&real_info()), vec![pin(OTHER_CA)], proof, updated);
    assert_eq!(swapped, Err(NoCache::NotPinned));
}

#[test]
fn a_changed_address_and_a_rotated_bundle_are_followed() {
    let newer = info("https://new.example.com:6443", &[OTHER_CA, CA].concat());
    for pinned in [true, false] {
        let Decision::Replace(found) = update(pinned, &newer, Consent::Withheld) else { panic!() };
        assert_eq!((found.info(), found.pins()), (&newer, cached(pinned).pins()));
        assert_eq!(found.updated().to_string(), "2026-11-15T12:00:00Z");
    }
}

#[test]
fn nothing_new_and_no_answer_leave_it_as_it_is() {
    assert_eq!(update(true, &real_info(), Consent::Withheld), Decision::Keep(Kept::Same));
    let silent = refreshed(&cached(true), Consent::Given, |_| Err(refused()));
    assert_eq!(silent, Decision::Keep(Kept::Unreached(refused())));
    assert_eq!(cached(true).confirmed(now()).updated().to_string(), "2026-11-15T12:00:00Z");
}

#[test]
fn the_kept_cluster_is_asked_until_it_answers() {
    let newer = info("https://new.example.com:6443", CA);
    let mut net = FakeNetwork::new(|_, _, pauses| if pauses < 3 { Err(refused()) } else { Ok(body(&newer)) });
    let decision = cached(true).refresh(Consent::Withheld, &mut net, Patience::default(), now());
    assert!(matches!(decision, Decision::Replace(_)));
    assert_eq!(net.asked.last().map(|asked| asked.place.as_str()), Some("new.example.com:6443"));
}

/// The next refresh would find nobody whom it could believe.
#[test]
fn what_leads_nowhere_or_to_somebody_else_is_not_followed_whoever_agrees() {
    let dead = info("https://127.0.0.1:9", CA);
    let foreign = info("https://api.example.com:6443", OTHER_CA);
    for (newer, pinned) in [(&dead, true), (&dead, false), (&foreign, false), (&foreign, true)] {
        let mut net = FakeNetwork::new(|place, roots, _| match (place, roots) {
            ("api.example.com:6443", Roots::Only(roots)) if text(roots).as_bytes() == CA => Ok(body(newer)),
            _ => Err(unreached("signed by an unknown authority", None)),
        });
        let decision = cached(pinned).refresh(Consent::Given, &mut net, Patience::default(), now());
        let Decision::Refuse(Refused::Unusable(refusal)) = decision else { panic!("{decision:?}") };
        assert!(matches!(refusal, Refusal::Unconfirmed { .. }), "{refusal}");
    }
    let liar = refreshed(&cached(true), Consent::Given, |place| match place {
        "api.example.com:6443" => Ok(body(&dead)),
        _ => Ok(body(&real_info())),
    });
    assert!(
        matches!(&liar, Decision::Refuse(refused) if refused.to_string().ends_with("it publishes another cluster-info there"))
    );
}

#[test]
fn an_unverified_answer_changes_nothing_whoever_agrees() {
    let evil = info("https://evil.example.com", CA).config_map();
    let decision = follow(&real_info(), &[], Answer::Unverified(&evil), Consent::Given);
    assert_eq!(decision, Decision::Refuse(Refused::Unverified));
}

#[test]
fn an_answer_that_cannot_be_used_changes_nothing() {
    let insecure = signed(&real_info().kubeconfig().replace("https", "http"), &token());
    for body in [&b"{\"kind\":\"ConfigMap\"}"[..], &insecure] {
        let decision = refreshed(&cached(false), Consent::Given, |_| Ok(body.to_vec()));
        assert!(matches!(decision, Decision::Refuse(Refused::Unusable(_))), "{decision:?}");
    }
}

#[test]
fn a_pinned_root_is_replaced_by_an_unpinned_one_only_with_consent() {
    let newer = info("https://api.example.com:6443", OTHER_CA);
    let refused = Decision::Refuse(Refused::NotPinned(vec![pin(OTHER_CA)]));
    assert_eq!(update(true, &newer, Consent::Withheld), refused);
    let Decision::Replace(found) = update(true, &newer, Consent::Given) else { panic!() };
    assert_eq!(found.pins(), [pin(OTHER_CA)]);
    let says =
        format!("followed from https://api.example.com:6443 on 2026-11-15; a user accepted the key {}", pin(OTHER_CA));
    assert_eq!(found.proof().to_string(), says);
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
    let public = of(&info("https://api.example.com", b""), &cached(false));
    let decision = refreshed(&public, Consent::Withheld, |_| Ok(body(&real_info())));
    assert!(matches!(decision, Decision::Replace(_)));
}

#[test]
fn consent_that_nobody_needs_changes_no_proof() {
    let newer = info("https://new.example.com:6443", CA);
    let Decision::Replace(found) = update(true, &newer, Consent::Given) else { panic!() };
    assert_eq!(found.proof(), cached(true).proof());
}

/// By a file, which brings no pins.
fn brought(info: &ClusterInfo) -> Cached {
    let proof = Proof::File { path: "f".to_owned(), refreshed: Refreshed::Same };
    Cached::new(kubeconfig(info), Vec::new(), proof, cached(false).updated()).unwrap()
}

/// The same, known by a pin.
fn pinned(cached: &Cached, by: &[u8]) -> Cached {
    Cached::new(kubeconfig(cached.info()), vec![pin(by)], cached.proof().clone(), cached.updated()).unwrap()
}

fn succeeded(found: &ClusterInfo, consent: Consent, answer: Result<Vec<u8>, Unreached>) -> Result<Cached, Refused> {
    let mut net = FakeNetwork::new(|_, _, _| answer.clone());
    cached(true).succeeded_by(brought(found), consent, &mut net, Patience::default())
}

#[test]
fn pins_outlive_a_discovery_without_any_where_they_fit() {
    let moved = info("https://new.example.com:6443", &[OTHER_CA, CA].concat());
    for found in [&real_info(), &moved] {
        let kept = succeeded(found, Consent::Withheld, Ok(body(found))).unwrap();
        assert_eq!((kept.pins(), kept.proof()), (&[pin(CA)][..], brought(found).proof()));
    }
}

#[test]
fn a_pinned_cluster_is_given_up_for_an_unpinned_one_only_with_consent() {
    let other = info("https://api.example.com:6443", OTHER_CA);
    let refused = Err(Refused::NotPinned(vec![pin(OTHER_CA)]));
    assert_eq!(succeeded(&other, Consent::Withheld, Ok(body(&other))), refused);
    let agreed = succeeded(&other, Consent::Given, Ok(body(&other))).unwrap();
    let (from, on, pins) = (real_info().server().to_owned(), cached(true).updated(), vec![pin(OTHER_CA)]);
    assert_eq!(agreed.pins(), pins);
    assert_eq!(agreed.proof(), &Proof::Agreed { from, on, pins }, "the file alone didn't make it so");
    let public = info("https://api.example.com:6443", b"");
    assert_eq!(succeeded(&public, Consent::Withheld, Ok(body(&public))), Err(Refused::RootsDropped));
    let pinned = pinned(&brought(&other), OTHER_CA);
    let mut net = FakeNetwork::new(|_, _, _| Ok(body(&other)));
    let kept = cached(true).succeeded_by(pinned.clone(), Consent::Withheld, &mut net, Patience::default());
    assert_eq!(kept, Ok(pinned), "whoever gives a pin has decided");
}

#[test]
fn a_good_cluster_is_not_given_up_for_one_that_nobody_reaches() {
    let dead = info("https://127.0.0.1:9", CA);
    let refusal = succeeded(&dead, Consent::Given, Err(refused())).unwrap_err();
    assert!(matches!(refusal, Refused::Unusable(Refusal::Unconfirmed { .. })), "{refusal}");
    assert!(succeeded(&real_info(), Consent::Withheld, Err(refused())).is_ok(), "it is the same");
}

#[test]
fn the_keys_to_compare_are_told() {
    let other = info("https://api.example.com:6443", OTHER_CA);
    let refused = succeeded(&other, Consent::Withheld, Ok(body(&other))).unwrap_err();
    assert!(refused.to_string().contains(&format!("whose key is {}: accept", pin(OTHER_CA))), "{refused}");
    assert_eq!(refused.keys(), [pin(OTHER_CA)]);
}

/// Whoever forbids is verified by the roots that somebody brought, so that it is the cluster.
#[test]
fn a_cluster_that_hides_its_cluster_info_is_reached_if_its_roots_were_brought() {
    let (moved, public) = (info("https://new.example.com:6443", CA), info("https://new.example.com:6443", b""));
    for status in [401, 403] {
        let hidden = || Err(unreached("may not", Some(status)));
        assert_eq!(succeeded(&moved, Consent::Withheld, hidden()).unwrap().info(), &moved);
        let anybody = succeeded(&public, Consent::Given, hidden());
        assert!(matches!(anybody, Err(Refused::Unusable(Refusal::Unconfirmed { .. }))), "{anybody:?}");
        let by_token = of(&moved, &cached(true));
        let mut net = FakeNetwork::new(|_, _, _| hidden());
        let by_token = cached(true).succeeded_by(by_token, Consent::Given, &mut net, Patience::default());
        assert!(by_token.is_err(), "{by_token:?}");
    }
    assert!(succeeded(&moved, Consent::Withheld, Err(unreached("redirects", Some(302)))).is_err());
}

#[test]
fn the_same_roots_found_without_a_pin_keep_the_proof_that_had_one() {
    let moved = info("https://new.example.com:6443", CA);
    let beside = info("https://new.example.com:6443", &[CA, OTHER_CA].concat());
    for (found, is_better) in [(&real_info(), true), (&moved, true), (&beside, false)] {
        let unpinned = of(found, &cached(false));
        let mut net = FakeNetwork::new(|_, _, _| Ok(body(found)));
        let kept = cached(true).succeeded_by(unpinned, Consent::Withheld, &mut net, Patience::default()).unwrap();
        assert_eq!((kept.pins(), kept.proof().risk().is_none()), (&[pin(CA)][..], is_better));
        assert_eq!(kept.proof(), cached(is_better).proof());
    }
}

/// A pinned root is public: whoever holds the token could put it beside his own, and his own address before both.
#[test]
fn a_root_beside_the_pinned_one_vouches_for_nothing_until_somebody_agrees() {
    let evil = info("https://evil.example.com:6443", &[CA, OTHER_CA].concat());
    let found = || of(&evil, &cached(false));
    for (consent, is_kept) in [(Consent::Withheld, false), (Consent::Given, true)] {
        let mut net = FakeNetwork::new(|_, roots, _| match roots {
            Roots::Only([_, _]) => Ok(body(&evil)),
            _ => Err(unreached("signed by an unknown authority this request trusts", None)),
        });
        let kept = cached(true).succeeded_by(found(), consent, &mut net, Patience::default());
        assert_eq!(kept.is_ok(), is_kept, "{kept:?}");
    }
    let mut net = FakeNetwork::new(|_, _, _| Ok(body(&evil)));
    let given = pinned(&found(), OTHER_CA);
    assert!(cached(true).succeeded_by(given, Consent::Withheld, &mut net, Patience::default()).is_ok());
}

/// The address that the kubeconfig names is where nobody is ever reached.
#[test]
fn finding_a_cluster_and_reaching_it_have_one_time_together() {
    let moved = info("https://new.example.com:6443", CA);
    let mut net = FakeNetwork::new(|place, _, pauses| match place {
        "https://files.example.com/info" if pauses >= 40 => Ok(moved.kubeconfig().into_bytes()),
        _ => Err(refused()),
    });
    let (begun, kept) = (net.elapsed(), cached(true));
    let method = Method::File {
        source: Source::Url("https://files.example.com/info".to_owned()),
        verification: Verification::Required,
    };
    let patience = Patience::default();
    let search = Search { method: &method, kept: Some(&kept), consent: Consent::Withheld, patience };
    let found = search.run(&mut FakeFiles::default(), &mut net, now());
    assert!(matches!(found, Err(NotFound::NotReplaced(Refused::Unusable(_)))), "{found:?}");
    assert_eq!(net.elapsed() - begun, patience.total);
}
