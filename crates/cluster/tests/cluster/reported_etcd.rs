//! An API server that does not return cluster-info is asked whether its etcd failed.
use crate::support::{FakeApiServer, Reply};
use cluster::RealNetwork;
use discovery::{
    Endpoint, cluster_info,
    method::{Cause, Event, Network, Roots, Unreached},
};
use std::{
    sync::{Mutex, mpsc},
    time::Duration,
};

const READINESS: &str = "GET /readyz?verbose";
const FAILED: &str = "[+]ping ok\n[-]etcd failed: reason withheld\n[-]etcd-readiness failed: reason withheld\n";
const PASSED: &str = "[+]ping ok\n[+]etcd ok\n[+]etcd-readiness ok\nreadyz check passed\n";

/// More than one request may take.
const WITHIN: Duration = Duration::from_secs(60);

/// Asks for cluster-info so often. Returns the last refusal and what the server was asked.
fn refusals(server: &FakeApiServer, times: usize) -> (Unreached, Vec<String>) {
    let endpoint: Endpoint = server.url().parse().expect("an endpoint");
    let mut tell = |_: Event<'_>| ();
    let mut network = RealNetwork::new(&mut tell);
    let mut ask = || network.cluster_info(&endpoint, Roots::Unverified, WITHIN).expect_err("no cluster-info");
    let refusal = (0..times).map(|_| ask()).last().expect("an answer");
    for (_, request) in server.seen() {
        assert!(!request.to_lowercase().contains("authorization"), "{request}");
    }
    (refusal, server.seen().into_iter().map(|(line, _)| line).collect())
}

fn cluster_info() -> String {
    format!("GET {}", cluster_info::path())
}

/// A server that returns this status for cluster-info, and this report.
fn server(status: &'static str, report: &'static str) -> FakeApiServer {
    FakeApiServer::start(move |_, line| match line {
        READINESS if report == PASSED => Reply::of("200 OK", report),
        READINESS => Reply::of("500 Internal Server Error", report),
        line => {
            assert_eq!(line, cluster_info());
            Reply::of(status, r#"{"kind":"Status","message":"no"}"#)
        }
    })
}

#[test]
fn a_server_error_is_explained_by_a_failed_etcd_and_asked_about_once() {
    let (refusal, asked) = refusals(&server("503 Service Unavailable", FAILED), 3);
    assert_eq!(refusal.cause, Cause::EtcdUnavailable);
    assert_eq!(refusal.text, "the API server answers, and reports that its etcd does not");
    assert_eq!(asked, [&cluster_info(), READINESS, &cluster_info(), &cluster_info()]);
    for report in [PASSED, "[-]informer-sync failed: reason withheld\n", ""] {
        let (refusal, asked) = refusals(&server("503 Service Unavailable", report), 2);
        assert_eq!(refusal.cause, Cause::Status(503), "{report}");
        assert_eq!(asked, [&cluster_info(), READINESS, &cluster_info()], "{report}");
    }
}

#[test]
fn a_server_that_answered_the_question_is_not_asked_about_its_etcd() {
    for status in ["200 OK", "401 Unauthorized", "403 Forbidden", "404 Not Found", "429 Too Many Requests"] {
        let (refusal, asked) = refusals(&server(status, FAILED), 1);
        assert_ne!(refusal.cause, Cause::EtcdUnavailable, "{status}");
        assert_eq!(asked, [cluster_info()], "{status}");
    }
}

#[test]
fn a_report_that_is_too_long_says_nothing() {
    let long = FakeApiServer::start(|_, line| match line {
        READINESS => Reply::of("500 Internal Server Error", &FAILED.repeat(1000)),
        _ => Reply::of("500 Internal Server Error", "{}"),
    });
    assert_eq!(refusals(&long, 1).0.cause, Cause::Status(500));
}

/// As a real one does whose etcd has lost its quorum. It takes as long as discovery waits for one answer.
#[test]
fn a_server_that_does_not_answer_in_time_is_explained_by_a_failed_etcd() {
    let (end, ended) = mpsc::channel::<()>();
    let ended = Mutex::new(ended);
    let silent = FakeApiServer::start(move |_, line| match line {
        READINESS => Reply::of("500 Internal Server Error", FAILED),
        _ => {
            // Until the test ends.
            let _ = ended.lock().expect("one request").recv();
            Reply::HangUp
        }
    });
    let (refusal, asked) = refusals(&silent, 1);
    drop(end);
    assert_eq!((refusal.cause, &asked[..]), (Cause::EtcdUnavailable, &[cluster_info(), READINESS.to_owned()][..]));
}
