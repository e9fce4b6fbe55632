//! Which flags mean which method, which exclude each other, and upstream's table of verdicts.
use crate::fake::*;
use machineadm_discovery::{
    Method, discover,
    method::{Flags, Patience, Pinning, Purpose, Source, choose},
};
use secret::Secret;
use serde_json::Value;

fn secret(text: &str) -> Option<Secret<String>> {
    Some(Secret::new(text.to_owned()))
}

fn by_token() -> Flags {
    let (endpoints, pins) = (vec!["10.0.0.10".to_owned()], vec![pin(CA).to_string()]);
    Flags { endpoints, pins, discovery_token: secret(TOKEN), ..Flags::default() }
}

fn by_file(file: &str) -> Flags {
    Flags { file: Some(file.to_owned()), ..Flags::default() }
}

fn flags_at_fault(flags: &Flags) -> Vec<&'static str> {
    choose(flags).unwrap_err().iter().map(|problem| problem.flag).collect()
}

#[test]
fn token_endpoint_and_pin_mean_discovery_by_token() {
    let Ok(Method::Token { endpoints, token: found, pinning }) = choose(&by_token()) else { panic!() };
    assert_eq!((endpoints[0].to_string().as_str(), found), ("10.0.0.10:6443", token()));
    assert_eq!(pinning, Pinning::Pins(vec![pin(CA)]));
    let other = Flags { token: secret(TOKEN), discovery_token: None, ..by_token() };
    assert_eq!(choose(&other), choose(&by_token()));
    let from_file = Flags { token_file: secret(TOKEN), discovery_token: None, ..by_token() };
    assert_eq!(choose(&from_file), choose(&by_token()));
    let bad = Flags { token_file: secret("hunter2"), ..from_file };
    let problems = choose(&bad).unwrap_err();
    assert!(problems[0].to_string().starts_with("--token-file is not a bootstrap token"), "{}", problems[0]);
}

#[test]
fn a_pin_or_the_flag_that_says_what_it_risks() {
    let without = Flags { pins: Vec::new(), ..by_token() };
    let problems = choose(&without).unwrap_err();
    assert!(
        problems[0].to_string().starts_with("--discovery-token-ca-cert-hash is missing: anyone else who has the token")
    );
    let skip = Flags { skip_ca_verification: true, ..without };
    assert!(matches!(choose(&skip), Ok(Method::Token { pinning: Pinning::Without, .. })));
    let both = Flags { skip_ca_verification: true, ..by_token() };
    assert!(matches!(choose(&both), Ok(Method::Token { pinning: Pinning::Pins(_), .. })));
}

#[test]
fn a_bad_value_is_told_by_its_number_only_where_there_are_several() {
    let told = |endpoints: &[&str]| {
        let endpoints = endpoints.iter().map(|text| (*text).to_owned()).collect();
        choose(&Flags { endpoints, ..by_token() }).unwrap_err()[0].to_string()
    };
    assert!(told(&["http://a"]).starts_with("endpoint must be https"), "{}", told(&["http://a"]));
    let several = told(&["10.0.0.10", "http://a"]);
    assert!(several.starts_with("endpoint (number 2) must be https"), "{several}");
}

#[test]
fn methods_exclude_each_other() {
    assert_eq!(flags_at_fault(&Flags::default()), ["--token"]);
    for purpose in [Purpose::Discover, Purpose::Join] {
        let token = Flags { token: secret(TOKEN), purpose, ..by_file("f") };
        assert_eq!(flags_at_fault(&token), ["--token"], "--token means --discovery-token");
        let token_file = Flags { token_file: secret(TOKEN), purpose, ..by_file("f") };
        assert_eq!(flags_at_fault(&token_file), ["--token-file"]);
    }
    assert_eq!(
        flags_at_fault(&Flags { file: Some("f".to_owned()), ..by_token() }),
        ["--discovery-token", "--discovery-token-ca-cert-hash", "endpoint"]
    );
    let skip = Flags { skip_ca_verification: true, ..by_file("f") };
    assert_eq!(flags_at_fault(&skip), ["--discovery-token-unsafe-skip-ca-verification"]);
}

#[test]
fn two_different_tokens_make_sense_to_join_only() {
    let two = Flags { token: secret("zzzzzz.0123456789abcdef"), ..by_token() };
    assert_eq!(flags_at_fault(&two), ["--token"]);
    let join = Flags { purpose: Purpose::Join, ..two };
    assert!(matches!(choose(&join), Ok(Method::Token { token: found, .. }) if found == token()));
    assert!(choose(&Flags { token: secret(TOKEN), ..by_token() }).is_ok());
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_nothing_quoted() {
    let flags = Flags {
        endpoints: vec!["ok:1".to_owned(), "http://hunter2@x".to_owned()],
        pins: vec!["md5:00".to_owned()],
        discovery_token: secret("hunter2"),
        token: secret(""),
        ..Flags::default()
    };
    let problems = choose(&flags).unwrap_err();
    let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 4, "{texts:?}");
    assert!(texts[2].starts_with("endpoint (number 2) must be https"), "{texts:?}");
    assert!(!texts.concat().contains("hunter2"), "{texts:?}");
}

#[test]
fn a_file_is_a_path_a_url_or_standard_input() {
    let source = |text: &str| match choose(&by_file(text)) {
        Ok(Method::File { source, .. }) => Ok(source),
        Ok(Method::Token { .. }) => panic!("not by token"),
        Err(problems) => Err(problems[0].text.clone()),
    };
    assert_eq!(source("-"), Ok(Source::StandardInput));
    assert_eq!(source("info.yaml"), Ok(Source::Path("info.yaml".to_owned())));
    assert_eq!(source("file:///etc/info.yaml"), Ok(Source::Path("/etc/info.yaml".to_owned())));
    assert_eq!(source("HTTPS://x/y?z"), Ok(Source::Url("HTTPS://x/y?z".to_owned())));
    for (text, why) in [
        ("", "is empty"),
        ("http://x/y", "must be https"),
        ("ftp://x/y", "must be https"),
        ("file://host/x", "must have the absolute path"),
        ("https://me:pw@x/y", "must not have a user or password"),
        ("https:///y", "has no host name"),
        ("https://x/a b", "has an invalid path"),
    ] {
        assert!(source(text).unwrap_err().starts_with(why), "{text}");
    }
}

/// A file that isn't there is found when it is read, before anything is sent.
#[test]
fn upstreams_verdicts_hold_but_for_standard_input() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../vectors/discovery-validation.json")).unwrap();
    let (mut laxer, text) = (Vec::new(), |value: &Value| value.as_str().map(str::to_owned));
    assert!(rows.len() >= 7);
    for row in &rows {
        let (by_token, file) = (&row["discovery"]["bootstrapToken"], &row["discovery"]["file"]["kubeConfigPath"]);
        let flags = Flags {
            purpose: Purpose::Join,
            endpoints: text(&by_token["apiServerEndpoint"]).into_iter().collect(),
            discovery_token: text(&by_token["token"]).map(Secret::new),
            pins: by_token["caCertHashes"].as_array().into_iter().flatten().filter_map(text).collect(),
            skip_ca_verification: by_token["unsafeSkipCAVerification"] == true,
            token_file: None,
            file: text(file),
            token: None,
            accept_untrusted_certificate: false,
        };
        let mut files = FakeFiles([("-", real_info().kubeconfig().into_bytes())].into());
        let mut net = FakeNetwork::new(|_, _, _| Ok(good()));
        let valid = match choose(&flags) {
            Ok(method @ Method::File { .. }) => discover(&method, &mut files, &mut net, Patience::default()).is_ok(),
            chosen => chosen.is_ok(),
        };
        if valid != row["errors"].is_null() {
            laxer.push(row["case"].as_str().unwrap());
        }
    }
    assert_eq!(laxer, ["file stdin"]);
}
