//! Several endpoints and a control plane that comes late: asked in turn, again, and not for ever.
use crate::fake::*;
use machineadm_discovery::{
    Method, discover, jws,
    method::{Patience, Pinning, Refusal, Roots},
};
use std::time::Duration;

fn method(endpoints: &[&str]) -> Method {
    let endpoints = endpoints.iter().map(|endpoint| endpoint.parse().unwrap()).collect();
    Method::Token { endpoints, token: token(), pinning: Pinning::Pins(vec![pin(CA)]) }
}

fn files() -> FakeFiles {
    FakeFiles::default()
}

#[test]
fn a_hostile_endpoint_does_not_keep_the_right_one_from_being_found() {
    let hostile = signed(&info("https://evil.example.com", OTHER_CA).kubeconfig(), &token());
    let mut net = FakeNetwork::new(|place, _, _| match place {
        "10.0.0.10:6443" => Ok(hostile.clone()),
        "10.0.0.11:6443" => Err(refused()),
        _ => Ok(good()),
    });
    let method = method(&["10.0.0.10:6443", "10.0.0.11:6443", "10.0.0.12:6443"]);
    assert_eq!(
        discover(&method, &mut files(), &mut net, Patience::default()).unwrap().kubeconfig,
        kubeconfig(&real_info())
    );
    assert_eq!(net.pauses, 0);
}

#[test]
fn a_control_plane_that_comes_late_is_still_joined() {
    let unsigned = serde_json::to_vec(&real_info().config_map()).unwrap();
    let mut net = FakeNetwork::new(|_, _, pauses| match pauses {
        0 => Err(refused()),
        1 => Err(unreached("status 503", Some(503))),
        2 => Ok(b"{\"kind\":\"ConfigMap\"}".to_vec()),
        3 => Ok(unsigned.clone()),
        _ => Ok(good()),
    });
    assert!(discover(&method(&["a:1"]), &mut files(), &mut net, Patience::default()).is_ok());
    assert_eq!(net.pauses, 4);
    let told = &net.told[..3];
    assert_eq!(told[0], "Trying { place: \"a:1\" }");
    let next_step = "check the address and the port, and that the API server runs there";
    let refused = format!("Refused {{ place: \"a:1\", text: \"connection refused\", next_step: {next_step:?} }}");
    assert_eq!(told[1], refused);
    assert_eq!(told[2], "Again { after: 5s }");
}

#[test]
fn when_time_is_up_every_endpoint_has_its_last_reason() {
    let unsigned = serde_json::to_vec(&real_info().config_map()).unwrap();
    let hostile = signed(&info("https://evil.example.com", OTHER_CA).kubeconfig(), &token());
    let mut net = FakeNetwork::new(|place, _, _| match place {
        "10.0.0.10:6443" => Ok(unsigned.clone()),
        "10.0.0.11:6443" => Err(refused()),
        _ => Ok(hostile.clone()),
    });
    let method = method(&["10.0.0.10", "10.0.0.11", "10.0.0.12"]);
    let error = discover(&method, &mut files(), &mut net, Patience::default()).unwrap_err();
    assert_eq!((net.pauses, error.spent), (60, Duration::from_secs(300)));
    assert_eq!(
        error.to_string(),
        format!(
            "cannot discover the cluster from any of 3 locations:\n  \
             10.0.0.10:6443   cluster-info has no signature for token ae23dc: the token has expired or has no signing usage\n  \
             10.0.0.11:6443   connection refused\n  \
             10.0.0.12:6443   another cluster: its CA key {} is not among the CA pins",
            pin(OTHER_CA)
        )
    );
}

/// Whoever stands between could give any answer, and a cluster-info may be in the middle of a change.
#[test]
fn no_answer_ends_the_waiting() {
    let (kubeconfig, other) = (real_info().kubeconfig(), info("https://new.example.com", CA).kubeconfig());
    let stale = with_signature(&kubeconfig, &jws::sign(&token(), other.as_bytes()));
    let foreign = signed(&info("https://evil.example.com", OTHER_CA).kubeconfig(), &token());
    let insecure = signed(&kubeconfig.replace("https", "http"), &token());
    let strange = [Ok(stale), Ok(foreign), Ok(insecure), Err(unreached("redirects", Some(301)))];
    for first in strange.into_iter().chain([Err(unreached("not valid yet", None))]) {
        let mut net = FakeNetwork::new(|_, _, pauses| if pauses == 0 { first.clone() } else { Ok(good()) });
        let found = discover(&method(&["a"]), &mut files(), &mut net, Patience::default());
        assert_eq!(
            (found.map(|found| found.kubeconfig), net.pauses),
            (Ok(self::kubeconfig(&real_info())), 1),
            "{first:?}"
        );
    }
    let mut net = FakeNetwork::new(|_, roots, pauses| match roots {
        Roots::Unverified if pauses == 0 => Ok(signed(&other, &token())),
        _ => Ok(good()),
    });
    assert!(discover(&method(&["a"]), &mut files(), &mut net, Patience::default()).is_ok(), "just changed");
    assert_eq!(net.pauses, 1);
}

#[test]
fn a_refusal_is_told_once_while_it_stays_the_same() {
    let mut net = FakeNetwork::new(|_, _, pauses| if pauses < 3 { Err(refused()) } else { Ok(b"{}".to_vec()) });
    discover(&method(&["a"]), &mut files(), &mut net, Patience::within(Duration::from_secs(25))).unwrap_err();
    let told: Vec<_> = net.told.iter().filter(|told| told.starts_with("Refused")).collect();
    assert_eq!(told.len(), 2, "{told:?}");
}

/// The next endpoint may take long, or be the right one.
#[test]
fn a_refusal_is_told_before_the_next_endpoint_is_asked() {
    let mut net = FakeNetwork::new(|place, _, _| if place == "a:1" { Err(refused()) } else { Ok(good()) });
    assert!(discover(&method(&["a:1", "b:1"]), &mut files(), &mut net, Patience::default()).is_ok());
    let told: Vec<_> = net.told.iter().map(|told| told.split(',').next().unwrap()).collect();
    assert_eq!(told, ["Trying { place: \"a:1\" }", "Refused { place: \"a:1\"", "Trying { place: \"b:1\" }"]);
}

#[test]
fn no_endpoint_uses_up_the_time_of_another() {
    let mut net = FakeNetwork::new(|_, _, _| Ok(good()));
    net.slow = Duration::from_secs(60);
    let total = Duration::from_secs(1);
    let places = method(&["a", "b", "c", "d"]);
    let error = discover(&places, &mut files(), &mut net, Patience::within(total)).unwrap_err();
    assert_eq!((error.spent, net.asked.len(), error.attempts.len()), (total, 4, 4));
    assert!(net.asked.iter().all(|asked| asked.within == total / 4), "{:?}", net.asked);
}

#[test]
fn little_time_is_still_time_for_several_tries() {
    let mut net = FakeNetwork::new(|_, _, pauses| if pauses < 4 { Err(refused()) } else { Ok(good()) });
    let found = discover(&method(&["a"]), &mut files(), &mut net, Patience::within(Duration::from_millis(500)));
    assert!(found.is_ok(), "{found:?}");
    assert_eq!(Patience::default().every, Duration::from_secs(5));
}

/// The last try has what is left of the time, which may be too little to learn anything.
#[test]
fn a_try_that_was_cut_short_does_not_hide_an_earlier_reason() {
    let mut net = FakeNetwork::new(|_, _, _| Ok(b"{}".to_vec()));
    net.slow = Duration::from_secs(4);
    let patience = Patience { every: Duration::from_secs(5), total: Duration::from_secs(10) };
    let error = discover(&method(&["a"]), &mut files(), &mut net, patience).unwrap_err();
    assert_eq!((net.asked.len(), error.spent), (2, Duration::from_secs(10)));
    assert_eq!(error.attempts[0].refusal, Refusal::NoKubeconfig);
}

#[test]
fn no_patience_means_one_round() {
    let mut net = FakeNetwork::new(|_, _, _| Err(refused()));
    let none = Patience { every: Duration::from_secs(5), total: Duration::ZERO };
    let error = discover(&method(&["a", "b"]), &mut files(), &mut net, none).unwrap_err();
    assert_eq!((net.pauses, net.asked.len()), (0, 2));
    assert_eq!(error.attempts[1].refusal, Refusal::Unreached(refused()));
}
