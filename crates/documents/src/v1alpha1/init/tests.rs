//! InitConfig: what is accepted, and what is refused with its path.
use super::*;
use crate::testing::{found, problems, with_spec};

#[test]
fn every_member_is_judged() {
    let spec = "\
kubernetesVersion: '1.36'
controlPlaneEndpoint: https://x
advertiseAddress: here
nodeName: A_B
runtimeSocket: unix:///x
podSubnets: [10.0.0.0/33, x]
kubelet: {kind: X}
certificateKey: e6a2eb85";
    let wanted = [
        "spec.kubernetesVersion",
        "spec.controlPlaneEndpoint",
        "spec.advertiseAddress",
        "spec.nodeName",
        "spec.runtimeSocket",
        "spec.podSubnets[0]",
        "spec.podSubnets[1]",
        "spec.kubelet.kind",
        "spec.certificateKey",
    ];
    assert_eq!(problems("InitConfig", spec), wanted);
}

#[test]
fn endpoints_as_people_write_them() {
    for good in ["10.0.0.10:6443", "api.example.com:6443", "[fd00::1]:6443"] {
        assert!(is_endpoint(good), "{good}");
    }
    for bad in ["10.0.0.10", "https://x:6443", "fd00::1:6443", ":6443", "x:0", "x:70000"] {
        assert!(!is_endpoint(bad), "{bad}");
    }
}

fn problems_with(member: &str) -> Vec<String> {
    found(&with_spec("InitConfig", &format!("{{kubernetesVersion: v1.36.4, {member}}}")))
}

#[test]
fn an_advertise_address_that_no_other_machine_reaches_is_refused() {
    let message = "spec.advertiseAddress: must be an address at which other machines reach this one";
    for address in
        ["127.0.0.1", "::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "169.254.0.7", "fe80::1", "::ffff:127.0.0.1"]
    {
        assert_eq!(problems_with(&format!("advertiseAddress: '{address}'")), [message], "{address}");
    }
    assert_eq!(problems_with("advertiseAddress: 10.0.0.10"), [""; 0]);
    assert_eq!(problems_with("advertiseAddress: 'fd00::10'"), [""; 0]);
}

#[test]
fn pod_and_service_subnets_that_overlap_are_refused() {
    let both = "podSubnets: [10.0.0.0/8, 'fd00::/56'], serviceSubnets: [10.96.0.0/16, 'fd00::/112']";
    let expected =
        ["spec.serviceSubnets[0]: overlaps spec.podSubnets[0]", "spec.serviceSubnets[1]: overlaps spec.podSubnets[1]"];
    assert_eq!(problems_with(both), expected);
    let default = "spec.podSubnets[0]: overlaps 10.96.0.0/12, the default of `serviceSubnets`";
    assert_eq!(problems_with("podSubnets: [10.100.0.0/16]"), [default]);
    assert_eq!(problems_with("podSubnets: [10.100.0.0/16], serviceSubnets: [172.16.0.0/16]"), [""; 0]);
}

#[test]
fn two_subnets_of_one_family_are_refused() {
    let message = "spec.podSubnets[1]: must be at most one network of each family, IPv4 and IPv6";
    assert_eq!(problems_with("podSubnets: [10.244.0.0/16, 10.245.0.0/16]"), [message]);
    assert_eq!(problems_with("podSubnets: [10.244.0.0/16, 'fd00::/56']"), [""; 0]);
}
