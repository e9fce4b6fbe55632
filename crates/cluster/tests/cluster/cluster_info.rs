//! cluster-info without credentials.
use crate::support::{FakeApiServer, Reply};
use cluster::{Effect, Error, RealNetwork, anonymous_cluster_info};
use discovery::{
    ClusterInfo,
    certificate::CaBundle,
    method::{Network, Roots},
};
use fetch::{Identity, Limits, Reach, Settings, Trust};
use objects::ConfigMap;
use rcgen::{CertificateParams, KeyPair};
use secret::Secret;
use serde_json::json;
use std::{net::TcpListener, time::Duration};

fn settings(trust: Trust) -> Settings {
    Settings {
        reach: Reach::ANYWHERE,
        limits: Limits { body: usize::MAX, ..Limits::default() },
        ..Settings::new(trust)
    }
}

fn ask(status: &'static str, headers: &'static str, body: &str) -> Result<Option<ConfigMap>, Error> {
    let body = body.to_owned();
    let server = FakeApiServer::start(move |_, _| Reply::Answer { status, headers, body: body.clone() });
    let found = anonymous_cluster_info(&server.url(), settings(Trust::Only(server.certificate())));
    assert_eq!(server.seen().len(), 1);
    found
}

#[test]
fn nothing_that_tells_who_we_are_is_sent() {
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::default().self_signed(&key).expect("a certificate").pem();
    let identity = Identity::from_pem(certificate.as_bytes(), Secret::new(key.serialize_pem().into_bytes()));
    let server = FakeApiServer::start(|_, _| Reply::of("200 OK", r#"{"kind":"ConfigMap","data":{"a":"b"}}"#));
    let settings = Settings { identity: Some(identity.expect("an identity")), ..settings(Trust::Unverified) };
    let found = anonymous_cluster_info(&format!("{}/base/", server.url()), settings).expect("an answer");
    assert_eq!(found.expect("a map").data["a"], "b");
    let (line, head) = &server.seen()[0];
    assert_eq!(*line, format!("GET /base{}", discovery::cluster_info::path()));
    let names: Vec<_> =
        head.to_lowercase().lines().skip(1).filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect();
    assert_eq!(names, ["accept", "host", "user-agent", "accept-encoding"]);
    assert!(
        anonymous_cluster_info(&server.url().replace("//", "//jo:pw@"), self::settings(Trust::Unverified)).is_err()
    );
}

#[test]
fn every_other_answer_is_its_own() {
    let status = r#"{"kind":"Status","reason":"NotFound","message":"configmaps \"cluster-info\" not found"}"#;
    assert!(matches!(ask("404 Not Found", "", status), Ok(None)));
    assert!(matches!(ask("404 Not Found", "", "<html>"), Err(Error::Status { code: 404, .. })));
    assert!(matches!(ask("401 Unauthorized", "", "{}"), Err(Error::Unauthorized { .. })));
    assert!(matches!(ask("403 Forbidden", "", "{}"), Err(Error::Forbidden { .. })));
    for (body, wrong) in [
        ("<html>", "it is not JSON"),
        (r#"{"kind":"ConfigMap""#, "it is not JSON"),
        ("{}", "it is not a ConfigMap"),
        (r#"{"kind":"Secret"}"#, "it is not a ConfigMap"),
        (r#"{"kind":"ConfigMap","data":{"kubeconfig":7}}"#, "it is not a ConfigMap"),
    ] {
        let error = ask("200 OK", "", body).expect_err("refused");
        assert!(matches!(&error, Error::NotKubernetes { what, .. } if what == wrong), "{body}: {error}");
    }
}

#[test]
fn a_redirect_and_a_body_above_a_mebibyte_are_refused() {
    let error = ask("302 Found", "Location: /elsewhere\r\n", "").expect_err("refused");
    assert!(matches!(&error, Error::Unreachable { source: fetch::Error::TooManyRedirects { .. }, .. }), "{error:?}");
    let error = ask("200 OK", "", &"x".repeat((1 << 20) + 1)).expect_err("refused");
    assert!(
        matches!(&error, Error::Unreachable { source: fetch::Error::TooLarge { limit, .. }, .. } if *limit == 1 << 20)
    );
}

/// kubeadm takes a signature that doesn't fit for final, so that there must be none while the signer works.
#[test]
fn signatures_go_in_the_same_write_that_changes_the_kubeconfig() {
    let live = json!({
        "kind": "ConfigMap", "metadata": {"name": "cluster-info", "namespace": "kube-public", "resourceVersion": "7"},
        "data": {"kubeconfig": "old", "jws-kubeconfig-abcdef": "stale", "other": "stays"},
    });
    let server = FakeApiServer::start(move |_, line| match line {
        line if line.ends_with("/cluster-info") => Reply::of("200 OK", &live.to_string()),
        line if line.starts_with("GET ") => Reply::of("404 Not Found", r#"{"kind":"Status","reason":"NotFound"}"#),
        _ => Reply::of("201 Created", "{}"),
    });
    let info = ClusterInfo::new("https://a".to_owned(), CaBundle::default(), None).expect("a cluster");
    server.connect().ensure_bootstrap_objects(&info, Effect::Real, &mut |_| ()).expect("they are made");
    let seen = server.seen();
    let (_, put) = seen.iter().find(|(line, _)| line.starts_with("PUT ")).expect("a PUT");
    assert!(put.contains("https://a") && put.contains("stays") && !put.contains("jws-kubeconfig"), "{put}");
}

/// The silence lasts as long as the test holds the listener, so that only the limit ends the question.
#[test]
fn a_question_ends_with_the_time_that_it_is_given() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = silent.local_addr().expect("an address").to_string().parse().expect("an endpoint");
    let mut tell = |_: discovery::method::Event<'_>| ();
    let answer = RealNetwork::new(&mut tell).cluster_info(&endpoint, Roots::Unverified, Duration::from_millis(300));
    assert!(answer.as_ref().is_err_and(|none| none.text.contains("took longer than 0.")), "{answer:?}");
}
