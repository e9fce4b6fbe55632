//! Service restarts are queued and done once, before the next act, wait or the end.
use crate::support::{changes, fresh, look, run, turn, wanted};
use host::{Memory, Played};
use machineadm_engine::Mode;

const A: (&str, &str, &str) = ("ProxyConfig", "a", "{httpProxy: 'http://p:1', services: [containerd]}");
const B: (&str, &str, &str) = ("ProxyConfig", "b", "{httpProxy: 'http://p:2', services: [kubelet]}");
const COMMAND: (&str, &str, &str) = ("CommandsConfig", "c", "{commands: [{name: x, argv: ['true']}]}");

fn log(wanted: &machineadm_engine::Wanted, host: &mut Memory) -> Vec<String> {
    run(Mode::Provision, wanted, host).unwrap();
    std::mem::take(&mut host.log)
}

#[test]
fn a_restart_comes_before_the_next_act() {
    let mut host = fresh();
    host.services.insert("kubelet".into(), true);
    assert_eq!(log(&wanted(&[A, COMMAND, B]), &mut host), ["restart containerd", "run true", "restart kubelet"]);
    assert_eq!(log(&wanted(&[A, COMMAND, B]), &mut host), Vec::<String>::new());
}

#[test]
fn a_service_that_two_pruned_files_concern_is_restarted_once() {
    let mut host = fresh();
    run(Mode::Provision, &wanted(&[A]), &mut host).unwrap();
    host.log.clear();
    let other = wanted(&[("FilesConfig", "", "{files: [{path: /etc/motd, content: x}]}")]);
    crate::support::run_pruning(&other, &mut host).unwrap();
    assert_eq!(host.log, ["restart containerd"]);
}

#[test]
fn the_plan_shows_a_merged_restart_once() {
    let mut host = fresh();
    run(Mode::Provision, &wanted(&[A]), &mut host).unwrap();
    let other = wanted(&[("FilesConfig", "", "{files: [{path: /etc/motd, content: x}]}")]);
    let preview = crate::support::look_with(Mode::Post, &other, &host, machineadm_engine::Prune::Restore).unwrap();
    // Two files deleted, one file created, one restart.
    assert_eq!(preview.changes(), 4, "{preview:?}");
    assert_eq!(turn(&preview, "prune").steps.len(), 4);
}

#[test]
fn two_documents_with_different_files_of_one_service_do_not_restart_it_for_each_other() {
    let mut host = fresh();
    // Another tool's file of the same service, recorded as machineadm does it.
    host.read.insert("containerd".into(), [("/etc/other".to_owned(), None)].into());
    assert_eq!(log(&wanted(&[A]), &mut host), ["restart containerd"]);
    assert!(host.read["containerd"].contains_key("/etc/other"));
    assert_eq!(log(&wanted(&[A]), &mut host), Vec::<String>::new());
}

#[test]
fn an_act_that_fails_comes_after_the_restarts_that_were_queued() {
    let mut host = fresh();
    host.programs.insert("true".into(), vec![Played::Fail]);
    let failure = run(Mode::Provision, &wanted(&[A, COMMAND]), &mut host).unwrap_err();
    assert_eq!(
        (failure.at.to_string().as_str(), failure.step_in_words().as_deref()),
        ("CommandsConfig c", Some("run c/x"))
    );
    assert_eq!(host.log, ["restart containerd", "run true"]);
}

#[test]
fn a_failed_restart_is_the_failure_of_the_document_that_asked() {
    let mut host = fresh();
    host.failing_restarts.insert("containerd".into());
    let failure = run(Mode::Provision, &wanted(&[A, COMMAND]), &mut host).unwrap_err();
    assert_eq!(
        (failure.at.to_string().as_str(), failure.step_in_words().as_deref()),
        ("ProxyConfig a", Some("restart containerd"))
    );
    assert_eq!(host.log, ["restart containerd"]);
}

#[test]
fn a_service_that_does_not_run_is_not_started() {
    let mut host = fresh();
    let changes = changes(Mode::Provision, &wanted(&[B]), &mut host);
    assert!(changes.contains(&"restart kubelet".to_owned()), "{changes:?}");
    assert!(!host.services["kubelet"] && host.read.contains_key("kubelet"));
    assert!(!look(Mode::Provision, &wanted(&[B]), &host).unwrap().is_open());
}
