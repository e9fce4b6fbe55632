//! Token discovery against servers of every kind: only the right one is trusted, and each other has its own message.
use crate::fake::*;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use machineadm_discovery::{
    BootstrapToken, ClusterInfo, Discovered, Method, NotTrusted, Pin, Proof, discover, jws,
    method::{Patience, Pinning, Roots},
};

fn method(pinning: Pinning) -> Method {
    Method::Token { endpoints: vec!["10.0.0.10:6443".parse().unwrap()], token: token(), pinning }
}

fn pins(pins: &[Pin]) -> Pinning {
    Pinning::Pins(pins.to_vec())
}

fn run(method: &Method, net: &mut FakeNetwork<'_>) -> Result<Discovered, NotTrusted> {
    discover(method, &mut FakeFiles::default(), net, Patience::default())
}

/// What is said about a server whose first answer is this, and whose second is the same.
fn message(first: &[u8]) -> String {
    let mut net = FakeNetwork::new(|_, _, _| Ok(first.to_vec()));
    let error = run(&method(pins(&[pin(CA)])), &mut net).unwrap_err();
    let text = error.attempts[0].refusal.to_string();
    assert!(!format!("{error} {error:?} {:?}", net.told).contains("faddc87f5a5ab458"));
    assert!(net.asked.iter().all(|asked| asked.roots == "unverified"), "nothing is trusted: {text}");
    text
}

#[test]
fn the_right_server_is_trusted_by_token_pin_and_second_answer() {
    let mut net = FakeNetwork::new(|_, _, _| Ok(good()));
    let found = run(&method(pins(&[pin(OTHER_CA), pin(CA)])), &mut net).unwrap();
    assert_eq!(found.kubeconfig.info(), &real_info());
    assert_eq!(found.kubeconfig.text(), real_info().kubeconfig());
    assert_eq!(
        found.proof.to_string(),
        format!(
            "by token ae23dc and by the CA pin {}; the second fetch, over verified TLS, returned the same content",
            pin(CA)
        )
    );
    assert_eq!(found.proof.risk(), None);
    let roots: Vec<_> = net.asked.iter().map(|asked| asked.roots.as_bytes()).collect();
    assert_eq!(roots, [&b"unverified"[..], CA]);
}

#[test]
fn without_a_pin_the_risk_is_said() {
    let mut net = FakeNetwork::new(|_, _, _| Ok(good()));
    let found = run(&method(Pinning::Without), &mut net).unwrap();
    assert_eq!(found.proof, Proof::Token { token_id: "ae23dc".to_owned(), pins: Vec::new() });
    assert!(found.proof.risk().unwrap().contains("anyone else who has the token"));
    assert_eq!(net.asked[1].roots.as_bytes(), CA);
}

#[test]
fn without_roots_the_systems_verify_the_second_answer() {
    let kubeconfig = info("https://api.example.com", b"").kubeconfig();
    let mut net = FakeNetwork::new(|_, _, _| Ok(signed(&kubeconfig, &token())));
    run(&method(Pinning::Without), &mut net).unwrap();
    assert_eq!(net.asked[1].roots, "system");
    let error = run(&method(pins(&[pin(CA)])), &mut net).unwrap_err();
    assert!(error.to_string().contains("has no CA certificates"), "{error}");
}

#[test]
fn the_certificate_is_judged_for_the_name_that_was_signed() {
    let name = Some("kubernetes".to_owned());
    let info = ClusterInfo::new("https://api.example.com:6443".to_owned(), roots(CA), name).unwrap();
    let mut net = FakeNetwork::new(|_, _, _| Ok(signed(&info.kubeconfig(), &token())));
    run(&method(pins(&[pin(CA)])), &mut net).unwrap();
    let names: Vec<_> = net.asked.iter().map(|asked| asked.server_name.as_str()).collect();
    assert_eq!(names, ["10.0.0.10", "kubernetes"]);
}

#[test]
fn another_clusters_roots_are_told_by_their_key() {
    let kubeconfig = info("https://api.example.com:6443", OTHER_CA).kubeconfig();
    let text = message(&signed(&kubeconfig, &token()));
    assert_eq!(text, format!("another cluster: its CA key {} is not among the CA pins", pin(OTHER_CA)));
}

/// Whoever holds the token could sign a bundle with the pinned root and his own; his own must not verify anything.
#[test]
fn a_root_beside_the_pinned_one_verifies_nothing() {
    let kubeconfig = info("https://api.example.com:6443", &[OTHER_CA, CA].concat()).kubeconfig();
    let mut net = FakeNetwork::new(|_, _, _| Ok(signed(&kubeconfig, &token())));
    let found = run(&method(pins(&[pin(CA)])), &mut net).unwrap();
    assert_eq!(net.asked[1].roots.as_bytes(), CA);
    assert_eq!(found.kubeconfig.info().roots().certificates().len(), 2);
}

#[test]
fn a_relayed_answer_fails_at_the_verified_fetch() {
    for pinning in [pins(&[pin(CA)]), Pinning::Without] {
        let mut net = FakeNetwork::new(|_, roots, _| match roots {
            Roots::Unverified => Ok(good()),
            _ => Err(unreached("certificate signed by an unknown authority", None)),
        });
        let error = run(&method(pinning), &mut net).unwrap_err();
        let text = "the second fetch, over verified TLS, failed: certificate signed by an unknown authority";
        assert_eq!(error.attempts[0].refusal.to_string(), text);
    }
}

#[test]
fn a_second_answer_that_differs_is_not_trusted() {
    let kubeconfig = info("https://evil.example.com:6443", CA).kubeconfig();
    let mut net = FakeNetwork::new(|_, roots, _| match roots {
        Roots::Unverified => Ok(good()),
        _ => Ok(signed(&kubeconfig, &token())),
    });
    let error = run(&method(pins(&[pin(CA)])), &mut net).unwrap_err();
    assert!(
        error.attempts[0]
            .refusal
            .to_string()
            .starts_with("the second fetch, over verified TLS, returned other content"),
        "{error}"
    );
}

#[test]
fn every_forged_signature_has_its_own_message() {
    let kubeconfig = real_info().kubeconfig();
    let right = jws::sign(&token(), kubeconfig.as_bytes());
    let (header, mac) = right.split_once("..").unwrap();
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let other: BootstrapToken = "zzzzzz.faddc87f5a5ab458".parse().unwrap();
    let stranger: BootstrapToken = "ae23dc.0000000000000000".parse().unwrap();
    for (signature, text) in [
        (jws::sign(&other, kubeconfig.as_bytes()), "the signature names another token"),
        (jws::sign(&stranger, kubeconfig.as_bytes()), "the signature is invalid: the content was changed"),
        (jws::sign(&token(), b"something else"), "the signature is invalid: the content was changed"),
        (format!("{header}.{}.{mac}", encode(&kubeconfig)), "the signature contains a payload"),
        (format!("{}..", encode(r#"{"alg":"none","kid":"ae23dc"}"#)), "the signature names another algorithm"),
        (format!("{header}..{mac}="), "the signature is not base64url"),
        ("x".to_owned(), "the signature is not a detached JWS"),
    ] {
        let message = message(&with_signature(&kubeconfig, &signature));
        assert!(message.starts_with(text) && message.ends_with("(token ae23dc)"), "{message}");
    }
}

#[test]
fn what_no_cluster_info_may_hold_is_refused_even_when_signed() {
    let kubeconfig = real_info().kubeconfig();
    for (from, to, text) in [
        ("users: null", "users: [{name: a, user: {token: hunter2}}]", "has users"),
        ("  name: \"\"", "    insecure-skip-tls-verify: true\n  name: \"\"", "disables verification"),
        ("https://", "http://", "must be https"),
        ("  name: \"\"", "    proxy-url: http://p\n  name: \"\"", "has a proxy"),
        ("  name: \"\"", "    certificate-authority: /etc/x\n  name: \"\"", "has the path of a CA file"),
    ] {
        let changed = kubeconfig.replace(from, to);
        assert_ne!(changed, kubeconfig);
        let message = message(&signed(&changed, &token()));
        assert!(message.contains(text) && !message.contains("hunter2"), "{message}");
    }
}

#[test]
fn what_is_no_cluster_info_is_told_apart() {
    for (body, text) in [
        (&br#"{"kind":"ConfigMap","data":{}}"#[..], "cluster-info has no kubeconfig"),
        (br#"{"kind":"ConfigMap","data":{"kubeconfig":""}}"#, "cluster-info has no signature for token ae23dc"),
    ] {
        let message = message(body);
        assert!(message.starts_with(text), "{message}");
    }
}
