//! Several endpoints and a control plane that comes late: asked in turn, again, and not for ever.
use crate::fake::*;
use machineadm_discovery::{
    Method, discover,
    method::{Attempt, Patience, Pinning, Refusal},
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
    assert_eq!(discover(&method, &mut files(), &mut net, Patience::default()).unwrap().cluster_info, real_info());
    assert_eq!(net.pauses, 0);
}

#[test]
fn a_control_plane_that_comes_late_is_still_joined() {
    let unsigned = serde_json::to_vec(&real_info().config_map()).unwrap();
    let mut net = FakeNetwork::new(|_, _, pauses| match pauses {
        0 => Err(refused()),
        1 => Err(unreached("status 503", Some(503), true)),
        2 => Ok(b"{\"kind\":\"ConfigMap\"}".to_vec()),
        3 => Ok(unsigned.clone()),
        _ => Ok(good()),
    });
    assert!(discover(&method(&["a:1"]), &mut files(), &mut net, Patience::default()).is_ok());
    assert_eq!(net.pauses, 4);
    let told = &net.told[..3];
    assert_eq!(told[0], "Trying { place: \"a:1\" }");
    assert_eq!(told[1], "Refused { place: \"a:1\", text: \"connection refused\" }");
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
            "no cluster could be trusted, 3 tried\n  \
             10.0.0.10:6443   cluster-info carries no signature for token ae23dc: it has expired or may not sign\n  \
             10.0.0.11:6443   connection refused\n  \
             10.0.0.12:6443   certificate is for another cluster: its key {} is not among the pins",
            pin(OTHER_CA)
        )
    );
}

#[test]
fn when_all_refuse_for_good_nobody_waits() {
    let hostile = signed(&info("https://evil.example.com", OTHER_CA).kubeconfig(), &token());
    let mut net = FakeNetwork::new(|place, _, _| match place {
        "a:6443" => Ok(hostile.clone()),
        _ => Err(unreached("status 404", Some(404), false)),
    });
    let error = discover(&method(&["a", "b"]), &mut files(), &mut net, Patience::default()).unwrap_err();
    assert_eq!((net.pauses, error.attempts.len()), (0, 2));
    assert!(error.attempts.iter().all(|Attempt { refusal, .. }| refusal.is_final()));
    let steps: Vec<_> = error.attempts.iter().map(|attempt| attempt.refusal.step()).collect();
    assert_eq!(steps, ["pins", "fetch"]);
}

#[test]
fn no_patience_means_one_round() {
    let mut net = FakeNetwork::new(|_, _, _| Err(refused()));
    let none = Patience { every: Duration::from_secs(5), total: Duration::ZERO };
    let error = discover(&method(&["a", "b"]), &mut files(), &mut net, none).unwrap_err();
    assert_eq!((net.pauses, net.asked.len()), (0, 2));
    assert_eq!(error.attempts[1].refusal, Refusal::Unreached(refused()));
}
