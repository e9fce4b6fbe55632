//! Units: planned by what systemd shows, in an order that works, and started once.
use crate::{
    review::saved,
    support::{Document, changes, fresh, left, look, run, run_reviewed, turn, wanted},
};
use host::{Enablement, Memory};
use machineadm_engine::{Line, Mode, PlanError, Planned, TurnId};

fn services(entries: &str) -> machineadm_engine::Wanted {
    wanted(&[("ServicesConfig", "s", &format!("{{services: [{entries}]}}"))])
}

fn planned(entries: &str, host: &Memory) -> Planned {
    turn(&look(Mode::Post, &services(entries), host).unwrap(), "ServicesConfig s").clone()
}

fn lines(entries: &str, host: &Memory) -> Vec<String> {
    planned(entries, host).steps.iter().map(|step| Line::of(step).to_string()).collect()
}

fn refusal(entries: &str, host: &Memory) -> String {
    let failure = look(Mode::Post, &services(entries), host).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::Look(_)), "{failure:?}");
    failure.cause.to_string()
}

#[test]
fn a_unit_is_enabled_and_started_once() {
    let (wanted, mut host) = (services("{name: kubelet, enabled: true, state: started}"), fresh());
    let expected = ["enable kubelet.service", "start kubelet.service"];
    assert_eq!(changes(Mode::Post, &wanted, &mut host), expected);
    assert_eq!((host.enablement["kubelet.service"], host.services["kubelet"]), (Enablement::Enabled, true));
    assert!(changes(Mode::Post, &wanted, &mut host).is_empty());
}

#[test]
fn a_unit_is_stopped_before_it_is_masked_and_unmasked_before_it_starts() {
    let mut host = fresh();
    let masked = services("{name: containerd, masked: true, state: stopped}");
    assert_eq!(changes(Mode::Post, &masked, &mut host), ["stop containerd.service", "mask containerd.service"]);
    let again = services("{name: containerd, masked: false, enabled: true, state: started}");
    let expected = ["unmask containerd.service", "enable containerd.service", "start containerd.service"];
    assert_eq!(changes(Mode::Post, &again, &mut host), expected);
}

#[test]
fn an_unknown_unit_is_an_error_at_plan_and_can_only_be_masked() {
    let host = fresh();
    let why = "missing.service: systemd has no such unit, and no earlier document writes its unit file";
    assert_eq!(refusal("{name: missing, enabled: true}", &host), why);
    // What does not exist is not masked.
    assert_eq!(lines("{name: missing, masked: false}", &host), [""; 0]);
    assert_eq!(refusal("{name: missing, masked: false, state: started}", &host), why);
    assert_eq!(lines("{name: missing, masked: true}", &host), ["mask missing.service"]);
}

#[test]
fn an_unknown_unit_is_known_after_the_document_that_brings_it() {
    const SERVICE: Document<'_> = ("ServicesConfig", "s", "{services: [{name: agent@1, enabled: true}]}");
    let unit = ("FilesConfig", "unit", "{files: [{path: /etc/systemd/system/agent@.service, content: x}]}");
    let install = ("CommandsConfig", "install", "{commands: [{name: apt, argv: [apt-get, install, agent]}]}");
    let other = ("FilesConfig", "other", "{files: [{path: /etc/systemd/system/agent.conf, content: x}]}");
    for (number, documents) in [(1, [unit, other, SERVICE]), (1, [install, other, SERVICE])] {
        let preview = look(Mode::Provision, &wanted(&documents), &fresh()).unwrap();
        let known_after = turn(&preview, "ServicesConfig s").known_after.as_ref().and_then(TurnId::number);
        assert_eq!(known_after, Some(number));
    }
    assert!(look(Mode::Provision, &wanted(&[other, SERVICE]), &fresh()).is_err());
}

#[test]
fn a_unit_that_cannot_be_enabled_or_started_is_an_error_with_the_reason() {
    let mut host = fresh();
    host.enablement.insert("kubelet.service".into(), Enablement::Static);
    let why = "kubelet.service: cannot be enabled: its unit file has no [Install] section";
    assert_eq!(refusal("{name: kubelet, enabled: true}", &host), why);
    assert_eq!(lines("{name: kubelet, enabled: false, state: started}", &host), ["start kubelet.service"]);
    host.enablement.insert("kubelet.service".into(), Enablement::Masked);
    let why = "kubelet.service: is masked, so that it can be neither enabled nor started";
    assert_eq!(refusal("{name: kubelet, enabled: true}", &host), why);
    assert_eq!(refusal("{name: kubelet, state: started}", &host), why);
}

#[test]
fn below_a_root_units_are_enabled_and_their_states_wait_for_the_boot() {
    let host = Memory { live: false, ..fresh() };
    let entries = "{name: kubelet, enabled: true, state: started}, {name: chrony, masked: true, state: stopped}";
    assert_eq!(lines(entries, &host), ["enable kubelet.service", "mask chrony.service"]);
    let remarks: Vec<_> = planned(entries, &host).remarks.iter().map(ToString::to_string).collect();
    assert_eq!(remarks, ["states of services take effect when this root file system boots"]);
}

#[test]
fn a_service_that_is_started_after_its_proxy_is_set_is_not_restarted() {
    let proxy = ("ProxyConfig", "p", "{httpProxy: 'http://p:1', services: [kubelet]}");
    let start = ("ServicesConfig", "s", "{services: [{name: kubelet, state: started}]}");
    let mut host = fresh();
    run(Mode::Provision, &wanted(&[proxy, start]), &mut host).unwrap();
    // The first entry records what an inactive service will read.
    assert_eq!(host.log, ["restart kubelet", "start kubelet"]);
    host.log.clear();
    run(Mode::Provision, &wanted(&[proxy, start]), &mut host).unwrap();
    assert_eq!(host.log, [""; 0]);
}

#[test]
fn a_reviewed_plan_knows_that_an_earlier_document_starts_the_service() {
    let proxy = ("ProxyConfig", "p", "{httpProxy: 'http://p:1', services: [kubelet]}");
    let start = ("ServicesConfig", "s", "{services: [{name: kubelet, state: started}]}");
    let (wanted, mut host) = (wanted(&[start, proxy]), fresh());
    run_reviewed(&saved(&wanted, &host), &wanted, &mut host).unwrap();
    assert_eq!(host.log, ["start kubelet", "restart kubelet"]);
}

#[test]
fn a_reviewed_plan_knows_what_an_earlier_document_does_to_a_unit() {
    let enable = ("ServicesConfig", "a", "{services: [{name: kubelet, enabled: true}]}");
    let start = ("ServicesConfig", "b", "{services: [{name: kubelet, enabled: true, state: started}]}");
    let (wanted, mut host) = (wanted(&[enable, start]), fresh());
    assert_eq!(look(Mode::Provision, &wanted, &host).unwrap().changes(), 2);
    run_reviewed(&saved(&wanted, &host), &wanted, &mut host).unwrap();
    assert_eq!(host.log, ["enable kubelet", "start kubelet"]);
}

#[test]
fn a_failed_start_stops_the_run_at_its_step_and_the_next_run_finishes() {
    let (wanted, mut host) = (services("{name: kubelet, enabled: true, state: started}"), fresh());
    host.failing_restarts.insert("kubelet".into());
    let failure = run(Mode::Post, &wanted, &mut host).unwrap_err();
    assert_eq!(failure.step_in_words().as_deref(), Some("start kubelet.service"));
    host.failing_restarts.clear();
    host.services.insert("kubelet".into(), false);
    let mut whole = fresh();
    run(Mode::Post, &wanted, &mut whole).unwrap();
    run(Mode::Post, &wanted, &mut host).unwrap();
    assert_eq!(left(&host), left(&whole));
}
