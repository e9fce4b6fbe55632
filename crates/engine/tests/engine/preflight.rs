//! Preflight lists every problem at once, and never guesses what only a command can bring.
use crate::support::{FORWARDING, INIT, TRACES, file, fresh, has, look, run, turn, wanted};
use host::Memory;
use machineadm_engine::{Label, Mode, PlanError};

#[test]
fn preflight_lists_everything_that_is_wrong_at_once() {
    let mut host = Memory {
        outputs: [("kubeadm version -o short".into(), "v1.35.9\n".into())].into(),
        ports: [6443, 10250].into(),
        ..Memory::default()
    };
    let failure = run(Mode::Provision, &wanted(&[INIT]), &mut host).unwrap_err();
    let PlanError::Unfit(problems) = &*failure.cause else { panic!("{failure:?}") };
    assert_eq!((failure.at.to_string().as_str(), problems.len()), ("preflight", 5), "{problems:?}");
    assert_eq!(host.log, Vec::<String>::new());
    assert!(!failure.cause.needs_operator(), "a machine that is put right goes on by itself");
    host.outputs.clear();
    let failure = run(Mode::Provision, &wanted(&[INIT]), &mut host).unwrap_err();
    assert!(failure.cause.to_string().starts_with("kubeadm is not installed; "), "{failure:?}");
}

#[test]
fn a_parameter_that_an_earlier_document_sets_is_no_problem_and_one_after_it_is() {
    assert!(look(Mode::Provision, &wanted(&[FORWARDING, INIT]), &fresh()).is_ok());
    let failure = look(Mode::Provision, &wanted(&[INIT, FORWARDING]), &fresh()).unwrap_err();
    assert!(failure.at == Label::added("preflight") && failure.cause.to_string().contains("ip_forward"), "{failure:?}");
}

#[test]
fn a_cluster_that_was_started_outside_is_left_alone() {
    let mut host = fresh();
    host.files.insert(TRACES[0].into(), file(""));
    let failure = run(Mode::Provision, &wanted(&[FORWARDING, INIT]), &mut host).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::Foreign(_)) && failure.cause.needs_operator(), "{failure:?}");
    assert!(has(&host, TRACES[0]));
    assert_eq!(host.log, ["enable containerd", "enable kubelet"]);
}

#[test]
fn a_root_that_does_not_run_creates_no_cluster() {
    let failure = run(Mode::Provision, &wanted(&[INIT]), &mut Memory { live: false, ..fresh() }).unwrap_err();
    assert_eq!(failure.at.to_string(), "preflight");
}

#[test]
fn what_commands_may_still_bring_is_known_after_their_document() {
    let command = ("CommandsConfig", "install", "{commands: [{name: kubeadm, argv: [touch, /x], creates: /x}]}");
    let late = ("CommandsConfig", "late", "{commands: [{name: y, argv: ['true']}]}");
    let wanted = wanted(&[command, FORWARDING, INIT, late]);
    let mut host = fresh();
    let preview = look(Mode::Provision, &wanted, &host).unwrap();
    for name in ["preflight", "InitConfig"] {
        let known_after = turn(&preview, name).known_after.clone().unwrap();
        assert_eq!(known_after.reference(), "document 1 (CommandsConfig install)", "{name}");
    }
    run(Mode::Provision, &wanted, &mut host).unwrap();
    assert!(has(&host, TRACES[5]));
}

#[test]
fn a_command_that_always_runs_does_not_keep_the_cluster_waiting() {
    let always = ("CommandsConfig", "", "{commands: [{name: always, argv: ['true'], run: always}]}");
    let mut host = fresh();
    run(Mode::Provision, &wanted(&[always, FORWARDING, INIT]), &mut host).unwrap();
    assert!(has(&host, TRACES[5]));
}
