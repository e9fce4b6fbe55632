//! Discovery by a kubeconfig that was brought: what it may hold, and what the cluster itself may change about it.
use crate::fake::*;
use machineadm_discovery::{
    ClusterInfo, Discovered, Method, NotTrusted, Proof, discover,
    method::{Patience, Refusal, Source, Unreached, Verification},
    proof::Refreshed,
};
use std::time::Duration;

const FILE: &str = "/etc/cluster/info.yaml";

fn run(source: Source, files: FakeFiles, net: &mut FakeNetwork<'_>) -> Result<Discovered, NotTrusted> {
    let mut files = files;
    let method = Method::File { source, verification: Verification::Required };
    discover(&method, &mut files, net, Patience::default())
}

fn from_path(kubeconfig: &str, answer: Result<Vec<u8>, Unreached>) -> Result<Discovered, NotTrusted> {
    let files = FakeFiles([(FILE, kubeconfig.as_bytes().to_vec()), ("/etc/cluster/ca.crt", CA.to_vec())].into());
    run(Source::Path(FILE.to_owned()), files, &mut FakeNetwork::new(move |_, _, _| answer.clone()))
}

fn refreshed(found: &Discovered) -> &Refreshed {
    match &found.proof {
        Proof::File { refreshed, .. } | Proof::Url { refreshed, .. } | Proof::StandardInput { refreshed } => refreshed,
        other => panic!("{other}"),
    }
}

#[test]
fn a_file_is_confirmed_by_the_cluster_that_its_roots_verify() {
    let found = from_path(&real_info().kubeconfig(), Ok(good())).unwrap();
    assert_eq!((found.kubeconfig.info(), refreshed(&found)), (&real_info(), &Refreshed::Same));
    assert_eq!(found.proof.to_string(), "by the file /etc/cluster/info.yaml; the cluster confirmed it");
}

/// The specification: "when retrieving this ConfigMap the client MUST validate the certificate chain".
#[test]
fn the_update_is_asked_for_with_the_certificate_verified_wherever_the_kubeconfig_comes_from() {
    const URL: &str = "https://files.example.com/info.yaml";
    let newer = info("https://new.example.com:6443", OTHER_CA);
    for (roots, verified_by) in [(CA, std::str::from_utf8(CA).unwrap()), (b"", "system")] {
        let brought = info("https://api.example.com:6443", roots).kubeconfig().into_bytes();
        for source in [Source::Path(FILE.to_owned()), Source::StandardInput, Source::Url(URL.to_owned())] {
            let files = FakeFiles([(FILE, brought.clone()), ("-", brought.clone())].into());
            let mut net = FakeNetwork::new(|place, _, _| match place {
                URL => Ok(brought.clone()),
                _ => Ok(signed(&newer.kubeconfig(), &token())),
            });
            let found = run(source, files, &mut net).unwrap();
            assert_eq!(refreshed(&found), &Refreshed::Updated);
            let asked = net.asked.iter().filter(|asked| asked.place != URL);
            let asked: Vec<_> = asked.map(|asked| (asked.place.as_str(), asked.roots.as_str())).collect();
            let confirmed = ("new.example.com:6443", std::str::from_utf8(OTHER_CA).unwrap());
            assert_eq!(asked, [("api.example.com:6443", verified_by), confirmed]);
        }
    }
}

#[test]
fn the_update_has_the_time_that_is_left_and_no_more() {
    let mut net = FakeNetwork::new(|place, _, _| match place {
        "https://files.example.com/info.yaml" => Ok(real_info().kubeconfig().into_bytes()),
        _ => Ok(good()),
    });
    net.slow = Duration::from_secs(40);
    let source = Source::Url("https://files.example.com/info.yaml".to_owned());
    run(source, FakeFiles::default(), &mut net).unwrap();
    let given: Vec<_> = net.asked.iter().map(|asked| asked.within.as_secs()).collect();
    assert_eq!(given, [300, 260]);
}

#[test]
fn a_file_is_enough_when_the_cluster_is_silent_or_forbids_to_ask() {
    for unreached in [unreached("status 403: forbidden", Some(403)), refused()] {
        let found = from_path(&real_info().kubeconfig(), Err(unreached.clone())).unwrap();
        assert_eq!((found.kubeconfig.info(), refreshed(&found)), (&real_info(), &Refreshed::Not(unreached.text)));
    }
}

#[test]
fn a_file_without_ca_certificates_whose_server_the_system_does_not_trust_is_refused_unless_the_user_accepts_it() {
    let unverified = info("https://api.example.com:6443", b"");
    let run = |info: &ClusterInfo, verification| {
        let mut files = FakeFiles([(FILE, info.kubeconfig().into_bytes())].into());
        let method = Method::File { source: Source::Path(FILE.to_owned()), verification };
        discover(&method, &mut files, &mut FakeNetwork::new(|_, _, _| Err(untrusted())), Patience::default())
    };
    let refused = run(&unverified, Verification::Required).unwrap_err();
    assert_eq!(refused.attempts[0].refusal, Refusal::Untrusted(untrusted()));
    let accepted = run(&unverified, Verification::Waived).unwrap();
    assert_eq!(refreshed(&accepted), &Refreshed::Untrusted(untrusted().text));
    assert!(accepted.proof.risk().is_some());
    // The file's own CA certificates decide about every later connection.
    let own = run(&real_info(), Verification::Required).unwrap();
    assert_eq!((refreshed(&own), own.proof.risk()), (&Refreshed::Not(untrusted().text), None));
}

#[test]
fn a_changed_address_and_a_rotated_bundle_are_followed() {
    let newer = info("https://new.example.com:6443", &[CA, OTHER_CA].concat());
    let found = from_path(&real_info().kubeconfig(), Ok(signed(&newer.kubeconfig(), &token()))).unwrap();
    assert_eq!((found.kubeconfig.info(), refreshed(&found)), (&newer, &Refreshed::Updated));
    assert_eq!(found.kubeconfig, kubeconfig(&newer));
}

/// What the cluster says of itself is followed where it is reached under it, and nowhere else.
#[test]
fn an_address_or_roots_under_which_nobody_is_reached_are_not_followed() {
    let newer = info("https://new.example.com:6443", OTHER_CA);
    let other = info("https://new.example.com:6443", CA);
    for at_new in [Err(refused()), Ok(signed(&other.kubeconfig(), &token())), Ok(b"{}".to_vec())] {
        let files = FakeFiles([(FILE, real_info().kubeconfig().into_bytes())].into());
        let mut net = FakeNetwork::new(|place, _, _| match place {
            "api.example.com:6443" => Ok(signed(&newer.kubeconfig(), &token())),
            _ => at_new.clone(),
        });
        let found = run(Source::Path(FILE.to_owned()), files, &mut net).unwrap();
        assert_eq!(found.kubeconfig.info(), &real_info());
        let Refreshed::Not(reason) = refreshed(&found) else { panic!("{:?}", found.proof) };
        assert!(reason.starts_with("at https://new.example.com:6443 the cluster does not confirm it: "), "{reason}");
        assert_eq!((net.asked[1].place.as_str(), net.asked[1].roots.as_bytes()), ("new.example.com:6443", OTHER_CA));
    }
}

#[test]
fn an_answer_that_may_not_be_trusted_changes_nothing() {
    let insecure = real_info().kubeconfig().replace("  name:", "    insecure-skip-tls-verify: true\n  name:");
    let no_roots = info("https://new.example.com:6443", b"").kubeconfig();
    for kubeconfig in [insecure, no_roots, "{".to_owned()] {
        let found = from_path(&real_info().kubeconfig(), Ok(signed(&kubeconfig, &token()))).unwrap();
        assert_eq!(found.kubeconfig.info(), &real_info());
        assert!(matches!(refreshed(&found), Refreshed::Not(_)));
    }
}

#[test]
fn roots_in_a_file_beside_it_are_embedded() {
    let kubeconfig = "clusters: [{cluster: {server: 'https://api.example.com:6443', certificate-authority: ca.crt}}]";
    let found = from_path(kubeconfig, Err(refused())).unwrap();
    assert_eq!(found.kubeconfig, self::kubeconfig(&real_info()));
    let error = from_path(&kubeconfig.replace("ca.crt", "/no/such"), Err(refused())).unwrap_err();
    assert!(error.to_string().ends_with("no such file"), "{error}");
    let error = from_path(&kubeconfig.replace("ca.crt", FILE), Err(refused())).unwrap_err();
    assert!(error.to_string().ends_with("the file of CA certificates has no certificate"), "{error}");
}

/// Each of the two is small enough, but in base64 they are together more than anybody reads.
#[test]
fn roots_that_make_a_kubeconfig_too_large_are_refused_before_anything_is_sent() {
    let kubeconfig = "clusters: [{cluster: {server: 'https://api.example.com:6443', certificate-authority: ca.crt}}]";
    let roots = CA.repeat(1_000_000 / CA.len());
    let files = FakeFiles([(FILE, kubeconfig.as_bytes().to_vec()), ("/etc/cluster/ca.crt", roots)].into());
    let mut net = FakeNetwork::new(|_, _, _| Err(refused()));
    let error = run(Source::Path(FILE.to_owned()), files, &mut net).unwrap_err();
    assert!(error.to_string().contains("is larger than"), "{error}");
    assert_eq!(net.asked, []);
}

#[test]
fn credentials_are_refused_before_anything_is_sent() {
    let kubeconfig = real_info().kubeconfig().replace("users: null", "users: [{name: a, user: {token: hunter2}}]");
    for source in [Source::Path(FILE.to_owned()), Source::StandardInput] {
        let files = FakeFiles([(FILE, kubeconfig.clone().into_bytes()), ("-", kubeconfig.clone().into_bytes())].into());
        let mut net = FakeNetwork::new(|_, _, _| Err(refused()));
        let error = run(source, files, &mut net).unwrap_err();
        assert!(error.to_string().contains("users[0].user.token") && !format!("{error:?}").contains("hunter2"));
        assert_eq!(net.asked, []);
    }
}

#[test]
fn what_comes_from_elsewhere_may_not_name_local_files() {
    let kubeconfig = b"clusters: [{cluster: {server: 'https://x', certificate-authority: /etc/cluster/ca.crt}}]";
    let files = || FakeFiles([("-", kubeconfig.to_vec()), ("/etc/cluster/ca.crt", CA.to_vec())].into());
    let mut net = FakeNetwork::new(|_, _, _| Ok(kubeconfig.to_vec()));
    for source in [Source::StandardInput, Source::Url("https://x/y".to_owned())] {
        let error = run(source, files(), &mut net).unwrap_err();
        assert!(error.to_string().contains("has the path of a CA file"), "{error}");
    }
}

#[test]
fn a_url_is_asked_until_it_answers_and_its_query_stays_hidden() {
    let mut net = FakeNetwork::new(|place, _, pauses| match (place, pauses) {
        ("https://files.example.com/info.yaml?sig=hunter2", 0) => Err(refused()),
        ("https://files.example.com/info.yaml?sig=hunter2", _) => Ok(real_info().kubeconfig().into_bytes()),
        _ => Ok(good()),
    });
    let source = Source::Url("https://files.example.com/info.yaml?sig=hunter2".to_owned());
    let found = run(source.clone(), FakeFiles::default(), &mut net).unwrap();
    assert_eq!(found.kubeconfig.info(), &real_info());
    assert_eq!(format!("{source:?}"), "https://files.example.com/info.yaml");
    assert!(!format!("{:?} {:?}", found.proof, net.told).contains("hunter2"));
    let mut net = FakeNetwork::new(|_, _, _| Err(unreached("status 404", Some(404))));
    let error = run(source, FakeFiles::default(), &mut net).unwrap_err();
    assert_eq!((error.attempts[0].place.as_str(), net.pauses), ("https://files.example.com/info.yaml", 60));
}
