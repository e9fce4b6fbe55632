//! The look outranks the journal; what the journal alone knows is whose unfinished work it is.
use crate::support::{
    FORWARDING, FakeCluster, FakeRuntime, INIT, NoDownloads, PATIENCE, TRACES, file, fresh, has, look, run, turn,
    wanted,
};
use host::{Host, Inspect, Memory, Played, Progress};
use machineadm_engine::{
    Ask, Checks, Line, Mode, PlanError, Prune, Remark, Run, Step, Unanswered, Wanted, World, bootstrap,
    check_unfinished, preview,
};
use std::time::Duration;

const SEEN: (&str, &str, &str) = ("CommandsConfig", "c", "{commands: [{name: a, argv: [touch, /a], creates: /a}]}");
const UNSEEN: (&str, &str, &str) = ("CommandsConfig", "c", "{commands: [{name: a, argv: ['true']}]}");

/// The journal's id of the only command.
fn id(wanted: &Wanted) -> String {
    let mut host = fresh();
    run(Mode::Provision, wanted, &mut host).unwrap();
    let journal = serde_json::to_value(host.journal().unwrap()).unwrap();
    journal["acts"].as_object().unwrap().keys().next().unwrap().clone()
}

fn verbs(wanted: &Wanted, host: &Memory) -> Vec<&'static str> {
    let preview = look(Mode::Provision, wanted, host).unwrap();
    let steps = preview.0.iter().flat_map(|(_, planned)| &planned.steps);
    let verb = |step: &Step| match step {
        Step::Ensure(_) => "ensure",
        Step::Run(_) => "run",
        Step::Redo(_) => "redo",
        Step::Close(_) => "close",
        Step::Wait(..) => "wait",
    };
    steps.map(verb).collect()
}

#[test]
fn the_look_outranks_the_journal() {
    let wanted = wanted(&[SEEN]);
    let id = id(&wanted);
    for (is_there, progress, expected) in [
        (false, Progress::New, &["run"][..]),
        (false, Progress::Started, &["run"]),
        (false, Progress::Failed, &["run"]),
        (false, Progress::Ended, &["run"]),
        (true, Progress::New, &[]),
        (true, Progress::Started, &["close"]),
        (true, Progress::Failed, &["close"]),
        (true, Progress::Ended, &[]),
    ] {
        let mut host = Memory::default();
        host.files.extend(is_there.then(|| ("/a".to_owned(), file(""))));
        host.note(&id, progress).unwrap();
        assert_eq!(verbs(&wanted, &host), expected, "effect {is_there}, journal {progress:?}");
    }
}

#[test]
fn a_command_without_a_way_to_see_it_runs_once_and_is_never_clean() {
    let (once, always) =
        (wanted(&[UNSEEN]), wanted(&[("CommandsConfig", "c", "{commands: [{name: a, argv: ['true'], run: always}]}")]));
    let id = id(&once);
    for (progress, expected) in [
        (Progress::New, &["run"][..]),
        (Progress::Started, &["redo"]),
        (Progress::Failed, &["run"]),
        (Progress::Ended, &[]),
    ] {
        let mut host = Memory::default();
        host.note(&id, progress).unwrap();
        assert_eq!(verbs(&once, &host), expected, "{progress:?}");
    }
    let mut host = Memory::default();
    host.note(&id, Progress::Ended).unwrap();
    let preview = look(Mode::Provision, &once, &host).unwrap();
    assert_eq!(turn(&preview, "CommandsConfig c").remarks, [Remark::Unverifiable("c/a".into())]);
    assert_eq!(verbs(&always, &host), ["run"]);
}

#[test]
fn another_definition_under_the_same_name_is_another_act() {
    let mut host = fresh();
    run(Mode::Provision, &wanted(&[UNSEEN]), &mut host).unwrap();
    let changed = wanted(&[("CommandsConfig", "c", "{commands: [{name: a, argv: ['false']}]}")]);
    assert_eq!(verbs(&changed, &host), ["run"]);
    // A renewed token is no new work.
    let token = wanted(&[("CommandsConfig", "c", "{commands: [{name: a, argv: ['true'], environment: {T: new}}]}")]);
    assert_eq!(verbs(&token, &host), Vec::<&str>::new());
}

#[test]
fn a_command_that_failed_has_ended_and_may_be_corrected_or_dropped() {
    let mut host = fresh();
    host.programs.insert("true".into(), vec![Played::Fail]);
    let failure = run(Mode::Provision, &wanted(&[UNSEEN]), &mut host).unwrap_err();
    assert_eq!(
        (failure.at.to_string().as_str(), failure.step_in_words().as_deref()),
        ("CommandsConfig c", Some("run c/a"))
    );
    assert_eq!(host.unfinished().unwrap(), Vec::<String>::new());
    assert!(run(Mode::Provision, &wanted(&[FORWARDING]), &mut host).is_ok());
}

#[test]
fn a_started_command_that_the_stream_no_longer_has_stops_the_run_before_any_change() {
    let mut host = fresh();
    host.note(&id(&wanted(&[UNSEEN])), Progress::Started).unwrap();
    let before = host.clone();
    let failure = run(Mode::Provision, &wanted(&[FORWARDING]), &mut host).unwrap_err();
    assert_eq!((failure.at.to_string().as_str(), host), ("start", before.clone()));
    assert!(failure.cause.needs_operator() && failure.cause.to_string().ends_with("pass --abandon c/a"), "{failure:?}");
    assert!(look(Mode::Provision, &wanted(&[FORWARDING]), &before).is_err());
    // With another definition it is still there; under a longer name it is not.
    let corrected = wanted(&[("CommandsConfig", "c", "{commands: [{name: a, argv: ['false']}]}")]);
    assert!(run(Mode::Provision, &corrected, &mut before.clone()).is_ok());
    let longer = wanted(&[("CommandsConfig", "c", "{commands: [{name: ab, argv: ['true']}]}")]);
    assert!(run(Mode::Provision, &longer, &mut before.clone()).is_err());
}

#[test]
fn a_journal_that_cannot_be_used_stops_plan_and_run_before_any_change() {
    let wanted = wanted(&[UNSEEN, FORWARDING]);
    let mut ran = fresh();
    run(Mode::Provision, &wanted, &mut ran).unwrap();
    let with_journal = |text: &str| {
        let mut host = ran.clone();
        host.files.insert("/var/lib/machineadm/journal.json".into(), file(text));
        host
    };
    let nameless = Memory { machine_id: String::new(), ..ran.clone() };
    for (mut host, reason) in [
        (with_journal(""), "is damaged"),
        (with_journal("{\"version\": 2}"), "has version 2"),
        (nameless, "/etc/machine-id is missing"),
    ] {
        let before = host.clone();
        for failure in
            [look(Mode::Provision, &wanted, &host).unwrap_err(), run(Mode::Provision, &wanted, &mut host).unwrap_err()]
        {
            assert!(failure.cause.needs_operator() && failure.cause.to_string().contains(reason), "{failure:?}");
        }
        assert_eq!(host, before);
    }
}

#[test]
fn a_success_ends_an_interrupted_run_of_an_earlier_definition() {
    let mut host = fresh();
    host.note(&id(&wanted(&[UNSEEN])), Progress::Started).unwrap();
    let corrected = wanted(&[("CommandsConfig", "c", "{commands: [{name: a, argv: ['false']}]}")]);
    run(Mode::Provision, &corrected, &mut host).unwrap();
    assert_eq!(host.unfinished().unwrap(), Vec::<String>::new());
    assert!(run(Mode::Provision, &wanted(&[FORWARDING]), &mut host).is_ok());
}

#[test]
fn what_the_operator_gives_up_does_not_stop_a_run() {
    let mut host = fresh();
    let id = id(&wanted(&[UNSEEN]));
    host.note(&id, Progress::Started).unwrap();
    let (other, cluster) = (wanted(&[FORWARDING]), FakeCluster::answering(Ok(true)));
    assert!(check_unfinished(&other, &[], &host, &cluster).is_err());
    assert!(check_unfinished(&other, &[id], &host, &cluster).is_ok());
}

#[test]
fn a_started_cluster_that_the_stream_no_longer_has_names_reset() {
    let mut host = fresh();
    host.files.insert(TRACES[0].into(), file(""));
    host.note("kubeadm init", Progress::Started).unwrap();
    let failure = run(Mode::Provision, &wanted(&[FORWARDING]), &mut host).unwrap_err();
    assert!(failure.cause.to_string().contains("run \"machineadm reset\""), "{failure:?}");
    // The operator has done so: what happens to kubeadm later is no longer machineadm's.
    host.files.remove(TRACES[0]);
    assert!(run(Mode::Provision, &wanted(&[FORWARDING]), &mut host).is_ok());
    assert_eq!(host.unfinished().unwrap(), Vec::<String>::new());
    host.files.insert(TRACES[0].into(), file("the operator's own cluster"));
    assert!(run(Mode::Provision, &wanted(&[FORWARDING]), &mut host).is_ok());
}

/// A machine on which kubeadm has left these traces.
fn with_traces(count: usize, progress: Progress) -> Memory {
    let mut host = fresh();
    host.sysctls.insert("net/ipv4/ip_forward".into(), "1".into());
    host.files.extend(TRACES[..count].iter().map(|path| ((*path).to_owned(), file("k"))));
    host.note("kubeadm init", progress).unwrap();
    host
}

#[test]
fn what_kubeadm_left_decides_and_the_cluster_has_the_last_word() {
    let yes = || Ok(true);
    let no = || Ok(false);
    let silent = || Err(Unanswered("it did not answer".into()));
    let all = TRACES.len();
    type Answer = fn() -> Result<bool, Unanswered>;
    type Case<'a> = (usize, Progress, Answer, Result<&'a [&'a str], ()>);
    let cases: [Case<'_>; 12] = [
        (0, Progress::New, no, Ok(&["run"])),
        (0, Progress::Started, no, Ok(&["run"])),
        (3, Progress::Started, no, Ok(&["redo"])),
        (3, Progress::New, no, Err(())),
        (3, Progress::Ended, no, Ok(&[])),
        (all, Progress::Ended, yes, Ok(&[])),
        (all, Progress::New, yes, Ok(&[])),
        (all, Progress::Started, yes, Ok(&["close"])),
        (all, Progress::Started, no, Ok(&["redo"])),
        (all, Progress::Ended, silent, Ok(&[])),
        (all, Progress::Started, silent, Ok(&["redo"])),
        (all, Progress::New, silent, Err(())),
    ];
    let wanted = wanted(&[INIT]);
    for (traces, progress, answer, expected) in cases {
        let (host, cluster) = (with_traces(traces, progress), FakeCluster::answering(answer()));
        let ask = Ask {
            mode: Mode::Provision,
            wanted: &wanted,
            prune: Prune::List,
            manifests: machineadm_engine::Manifests::Respected,
            checks: Checks::Executed,
            patience: PATIENCE,
        };
        let case = format!("{traces} traces, {progress:?}, {:?}", answer());
        match (preview(&ask, &host, &cluster, &FakeRuntime::running()), expected) {
            (Ok(preview), Ok(expected)) => {
                let init = turn(&preview, "InitConfig");
                let verbs: Vec<_> = init
                    .steps
                    .iter()
                    .map(|step| match step {
                        Step::Run(_) => "run",
                        Step::Redo(_) => "redo",
                        Step::Close(_) => "close",
                        other => panic!("{other:?}"),
                    })
                    .collect();
                assert_eq!(verbs, expected, "{case}");
                let unasked = init.remarks.iter().any(|remark| matches!(remark, Remark::Unasked { .. }));
                assert_eq!(unasked, answer().is_err(), "{case}");
            }
            (Err(failure), Err(())) => {
                let expected = matches!(
                    (&*failure.cause, answer()),
                    (PlanError::Foreign(_), Ok(_)) | (PlanError::Unknown { .. }, Err(_))
                );
                assert!(expected && failure.cause.needs_operator(), "{case}: {failure:?}");
            }
            (other, _) => panic!("{case}: {other:?}"),
        }
        assert!(cluster.asked.borrow().iter().all(|within| *within == PATIENCE), "{case}");
    }
}

#[test]
fn a_plan_without_checks_executes_no_unless_and_says_so() {
    let wanted = wanted(&[("CommandsConfig", "c", "{commands: [{name: a, argv: [touch, /a], unless: 'test -e /a'}]}")]);
    let ask = |checks| Ask {
        mode: Mode::Provision,
        wanted: &wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        checks,
        patience: PATIENCE,
    };
    let cluster = FakeCluster::answering(Ok(true));
    let executed = preview(&ask(Checks::Executed), &fresh(), &cluster, &FakeRuntime::running()).unwrap();
    assert_eq!(turn(&executed, "CommandsConfig c").steps.len(), 1);
    let left_out = preview(&ask(Checks::LeftOut), &fresh(), &cluster, &FakeRuntime::running()).unwrap();
    let planned = turn(&left_out, "CommandsConfig c");
    assert_eq!((planned.steps.len(), &planned.remarks[..]), (0, &[Remark::NotChecked("c/a".into())][..]));
    assert!(left_out.is_open() && planned.remarks[0].to_string().contains("not checked"));
}

#[test]
fn what_was_not_checked_may_still_bring_what_a_node_needs() {
    let install = ("CommandsConfig", "i", "{commands: [{name: kubeadm, argv: [touch, /x], unless: 'test -e /x'}]}");
    let wanted = wanted(&[install, FORWARDING, INIT]);
    let host = Memory { outputs: Default::default(), ..fresh() };
    let ask = Ask {
        mode: Mode::Provision,
        wanted: &wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        checks: Checks::LeftOut,
        patience: PATIENCE,
    };
    let preview = preview(&ask, &host, &FakeCluster::answering(Ok(true)), &FakeRuntime::running()).unwrap();
    let known_after = turn(&preview, "preflight").known_after.clone().unwrap();
    assert_eq!(known_after.reference(), "document 1 (CommandsConfig i)");
}

#[test]
fn a_check_that_hangs_fails_a_run_and_shows_as_not_checked_in_a_plan() {
    let wanted = wanted(&[("CommandsConfig", "c", "{commands: [{name: a, argv: [touch, /a], unless: hangs}]}")]);
    let mut host = Memory { hanging: ["hangs".into()].into(), ..fresh() };
    let preview = look(Mode::Provision, &wanted, &host).unwrap();
    assert_eq!(turn(&preview, "CommandsConfig c").remarks, [Remark::NotChecked("c/a".into())]);
    let failure = run(Mode::Provision, &wanted, &mut host).unwrap_err();
    assert!(failure.cause.to_string().contains("did not end"), "{failure:?}");
}

#[test]
fn an_unless_that_hangs_is_named_with_its_own_time_limit() {
    let command = "{name: a, argv: [touch, /a], unless: hangs, timeout: 10m}";
    let wanted = wanted(&[("CommandsConfig", "c", &format!("{{commands: [{command}]}}"))]);
    let mut host = Memory { hanging: ["hangs".into()].into(), ..fresh() };
    let cause = run(Mode::Provision, &wanted, &mut host).unwrap_err().cause.to_string();
    assert!(cause.starts_with("unless of command \"c/a\" did not end within 60s; "), "{cause}");
    assert!(cause.contains("the command's timeout does not change it"), "{cause}");
}

#[test]
fn a_reboot_is_asked_for_until_the_machine_has_rebooted() {
    let wanted = wanted(&[("CommandsConfig", "c", "{commands: [{name: a, argv: ['true'], needsReboot: true}]}")]);
    let mut host = fresh();
    assert_eq!(run(Mode::Provision, &wanted, &mut host).unwrap().reboot.as_deref(), Some("c/a needs one"));
    assert!(run(Mode::Provision, &wanted, &mut host).unwrap().reboot.is_some());
    host.files.retain(|path, _| !path.starts_with("/run/"));
    assert_eq!(run(Mode::Provision, &wanted, &mut host).unwrap().reboot, None);
    host.files.insert("/run/reboot-required".into(), file(""));
    let reason = run(Mode::Provision, &wanted, &mut host).unwrap().reboot;
    assert_eq!(reason.as_deref(), Some("/run/reboot-required exists"));
    let mut image = Memory { live: false, ..fresh() };
    assert_eq!(run(Mode::Provision, &wanted, &mut image).unwrap().reboot, None);
    assert!(!has(&image, "/run/machineadm/reboot-required"));
}

#[test]
fn acts_show_what_they_are() {
    let preview = look(Mode::Provision, &wanted(&[FORWARDING, INIT]), &fresh()).unwrap();
    let line = Line::of(&turn(&preview, "InitConfig").steps[0]);
    assert_eq!((line.to_string().as_str(), line.mark()), ("run kubeadm init", "▸"));
    assert_eq!(line.detail, "kubeadm v1.36.4, kubeadm.k8s.io/v1beta4");
    let host = with_traces(3, Progress::Started);
    let preview = look(Mode::Provision, &wanted(&[INIT]), &host).unwrap();
    let again = Line::of(&turn(&preview, "InitConfig").steps[0]).detail;
    assert!(again.ends_with(", again: its first run was interrupted"), "{again}");
    let closed = look(Mode::Provision, &wanted(&[INIT]), &with_traces(6, Progress::Started)).unwrap();
    assert_eq!(Line::of(&turn(&closed, "InitConfig").steps[0]).mark(), "·");
}

#[test]
fn post_runs_nothing_for_its_effect() {
    let mut host = fresh();
    run(Mode::Post, &crate::support::everything(), &mut host).unwrap();
    assert!(host.log.iter().all(|entry| !entry.starts_with("run")), "{:?}", host.log);
    let journal = serde_json::to_value(host.journal().unwrap()).unwrap();
    assert_eq!(journal["acts"], serde_json::json!({}));
}

#[test]
fn a_run_waits_as_long_as_its_world_says() {
    let (wanted, mut host) = (wanted(&[INIT]), with_traces(TRACES.len(), Progress::Ended));
    let cluster = FakeCluster::answering(Err(Unanswered("it did not answer".into())));
    let run = Run {
        mode: Mode::Provision,
        wanted: &wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: None,
    };
    let world = &mut World {
        host: &mut host,
        cluster: &cluster,
        runtime: &FakeRuntime::running(),
        downloads: &NoDownloads,
        patience: Duration::from_secs(77),
    };
    bootstrap(&run, world, &mut |_| ()).unwrap();
    assert_eq!(cluster.asked.borrow()[..], [Duration::from_secs(77)]);
}
