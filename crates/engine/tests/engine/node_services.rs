//! The services of a node: enabled before it is made, so that it is back after a reboot.
use crate::support::{FORWARDING, INIT, changes, fresh, look, run, turn, wanted};
use host::{Enablement, Memory};
use machineadm_engine::{Line, Mode};

fn planned(host: &Memory, init: &str) -> Vec<String> {
    let wanted = wanted(&[FORWARDING, ("InitConfig", "", init)]);
    let preview = look(Mode::Provision, &wanted, host).unwrap();
    turn(&preview, "services").steps.iter().map(|step| Line::of(step).to_string()).collect()
}

const INIT_SPEC: &str = "{kubernetesVersion: v1.36.4}";

#[test]
fn the_runtime_is_enabled_and_started_and_the_kubelet_is_only_enabled() {
    let mut host = fresh();
    host.services.insert("containerd".into(), false);
    let expected = ["enable containerd.service", "start containerd.service", "enable kubelet.service"];
    assert_eq!(planned(&host, INIT_SPEC), expected);
    host.files.remove("/run/containerd/containerd.sock");
    let preview = look(Mode::Provision, &wanted(&[FORWARDING, INIT]), &host).unwrap();
    let later = &turn(&preview, "preflight").known_after;
    assert_eq!(later.as_ref().map(ToString::to_string).as_deref(), Some("services"), "the start brings the socket");
}

#[test]
fn after_the_run_nothing_is_left_to_do() {
    let mut host = fresh();
    let wanted = wanted(&[FORWARDING, INIT]);
    let done = changes(Mode::Provision, &wanted, &mut host);
    assert!(done.contains(&"enable kubelet.service".to_owned()) && !host.services["kubelet"], "{done:?}");
    assert_eq!(host.enablement["containerd.service"], Enablement::Enabled);
    assert!(!look(Mode::Provision, &wanted, &host).unwrap().is_open());
    host.log.clear();
    run(Mode::Provision, &wanted, &mut host).unwrap();
    assert_eq!(host.log, [""; 0]);
}

#[test]
fn the_unit_follows_from_the_socket_and_what_is_masked_or_missing_is_left_alone() {
    let mut host = fresh();
    host.services.insert("crio".into(), false);
    host.files.insert("/run/crio/crio.sock".into(), crate::support::file(""));
    let crio = "{kubernetesVersion: v1.36.4, runtimeSocket: /run/crio/crio.sock}";
    assert_eq!(planned(&host, crio), ["enable crio.service", "start crio.service", "enable kubelet.service"]);
    host.files.insert("/run/x.sock".into(), crate::support::file(""));
    let other = "{kubernetesVersion: v1.36.4, runtimeSocket: /run/x.sock}";
    assert_eq!(planned(&host, other), ["enable kubelet.service"]);
    host.enablement.insert("containerd.service".into(), Enablement::Masked);
    host.services.remove("kubelet");
    // That the kubelet is missing is preflight's to report.
    let tolerant = "{kubernetesVersion: v1.36.4, toleratedChecks: [kubelet]}";
    assert_eq!(planned(&host, tolerant), [""; 0]);
}

#[test]
fn prepare_and_post_leave_services_alone() {
    let wanted = wanted(&[FORWARDING, INIT]);
    for mode in [Mode::Prepare, Mode::Post] {
        let mut host = fresh();
        run(mode, &wanted, &mut host).unwrap();
        assert_eq!(host.log, [""; 0], "{mode:?}");
    }
}
