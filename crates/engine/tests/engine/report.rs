//! What a run records and a plan shows.
use crate::support::{
    FORWARDING, FakeCluster, FakeRuntime, INIT, NoDownloads, PATIENCE, TRACES, everything, file, fresh, look, wanted,
};
use documents::Secret;
use host::{Host, Memory, Played, Progress};
use jiff::{Timestamp, ToSpan};
use machineadm_engine::{
    Done, Event, Failure, Line, Mode, Outcome, PlanError, PlanView, Prune, Recorder, Redactor, Run, Step, TurnId,
    Wanted, World, bootstrap, cause,
    outcome::{ActSort, Reason, Stage, State, chain},
};

/// A run with its outcome; the clock moves on by a second with every event.
fn recorded(wanted: &Wanted, host: &mut Memory) -> (Outcome, Result<Done, Failure>) {
    let (recorder, ended) = record(wanted, host);
    (recorder.outcome, ended)
}

fn record(wanted: &Wanted, host: &mut Memory) -> (Recorder, Result<Done, Failure>) {
    let mut now = Timestamp::UNIX_EPOCH;
    let mut recorder = Recorder::begin("1.2.3", "node-7".into(), Mode::Provision, wanted, now);
    let run = Run {
        mode: Mode::Provision,
        wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: None,
    };
    let cluster = FakeCluster::answering(Ok(true));
    let mut watch = |event: machineadm_engine::Event<'_>| {
        now += 1.second();
        recorder.note(&event, now);
    };
    let world = &mut World {
        host,
        cluster: &cluster,
        runtime: &FakeRuntime::running(),
        downloads: &NoDownloads,
        patience: PATIENCE,
    };
    let ended = bootstrap(&run, world, &mut watch);
    now += 1.second();
    recorder.end(ended.as_ref(), &Redactor::new([&b"s3cret-word"[..]]), now);
    (recorder, ended)
}

const TWO_FILES: (&str, &str, &str) =
    ("FilesConfig", "f", "{files: [{path: /etc/a, content: a}, {path: /etc/b, content: b}]}");
const COMMAND: (&str, &str, &str) = ("CommandsConfig", "c", "{commands: [{name: x, argv: ['fails']}]}");

#[test]
fn a_run_is_recorded_turn_by_turn_and_step_by_step() {
    let (outcome, ended) = recorded(&wanted(&[TWO_FILES, FORWARDING]), &mut fresh());
    assert!(ended.is_ok());
    assert_eq!((outcome.state, outcome.documents, outcome.failure.is_none()), (State::Succeeded, 2, true));
    assert_eq!((outcome.version.as_str(), outcome.machine.as_str()), ("1.2.3", "node-7"));
    let [files, sysctl] = &outcome.phases[..] else { panic!("{outcome:?}") };
    assert_eq!((files.name.as_str(), files.document, files.state), ("FilesConfig f", Some(1), State::Succeeded));
    assert_eq!((sysctl.name.as_str(), sysctl.document), ("SysctlConfig forwarding", Some(2)));
    let steps: Vec<_> = files.steps.iter().map(|step| (step.what.as_str(), step.state, step.seconds)).collect();
    assert_eq!(steps, [("create /etc/a", State::Succeeded, 1.0), ("create /etc/b", State::Succeeded, 1.0)]);
    // A turn comes, plans, starts and ends two steps, and is through.
    assert_eq!((files.started, files.seconds), (Some(Timestamp::UNIX_EPOCH + 1.second()), 6.0));
    assert_eq!(files.steps[1].started, Some(Timestamp::UNIX_EPOCH + 5.seconds()));
    assert_eq!(outcome.finished, Some(Timestamp::UNIX_EPOCH + 15.seconds()));
    let back: Outcome = serde_json::from_slice(&outcome.bytes()).unwrap();
    assert_eq!(back, outcome);
    assert!(outcome.bytes().ends_with(b"}\n"));
}

#[test]
fn a_failure_says_where_why_and_what_the_program_printed() {
    let mut host = fresh();
    host.programs.insert("fails".into(), vec![Played::Fail]);
    let (outcome, _) = recorded(&wanted(&[TWO_FILES, COMMAND, FORWARDING]), &mut host);
    assert_eq!(outcome.state, State::Failed);
    let states: Vec<_> = outcome.phases.iter().map(|turn| turn.state).collect();
    assert_eq!(states, [State::Succeeded, State::Failed, State::NotReached]);
    let command = &outcome.phases[1];
    assert_eq!((command.steps[0].state, command.steps[0].seconds, command.seconds), (State::Failed, 1.0, 3.0));
    let failure = outcome.failure.unwrap();
    assert_eq!((failure.phase.as_str(), failure.document), ("CommandsConfig c", Some(2)));
    assert_eq!(failure.step.as_deref(), Some("run c/x"));
    assert_eq!(failure.cause, "a played program ended with exit code 1");
    assert_eq!(failure.reason, Reason::CommandFailed);
    assert_eq!((failure.output, failure.advice), (vec!["it failed".to_owned()], None));
}

#[test]
fn output_is_redacted_and_stored_to_its_end_and_our_own_sentence_is_not_redacted() {
    let mut recorder = Recorder::begin("1", "m".into(), Mode::Provision, &wanted(&[FORWARDING]), Timestamp::UNIX_EPOCH);
    let lines: String = (0..30).map(|line| format!("line {line} s3cret-word\n")).collect();
    let error = host::Error::Program {
        program: "/etc/passwd".into(),
        how: ": no s3cret-word".into(),
        output: Secret::new(lines),
    };
    let failure = Failure::at(TurnId::from(Stage::Start), PlanError::Look(error));
    recorder.end(Err(&failure), &Redactor::new([&b"s3cret-word"[..]]), Timestamp::UNIX_EPOCH);
    let told = recorder.outcome.failure.unwrap();
    assert_eq!((told.output.len(), told.output[0].as_str()), (20, "line 10 [redacted]"));
    assert_eq!((told.cause.as_str(), told.document), ("/etc/passwd : no s3cret-word", None));
}

#[test]
fn what_an_api_server_answered_is_quoted_without_secrets() {
    let error = PlanError::Unknown { act: "kubeadm init".into(), why: "the server answered 403: pw".into() };
    let cause = cause(&error, &Redactor::new([&b"pw"[..]]));
    assert!(cause.starts_with("kubeadm init was run") && cause.contains("answered 403: [redacted];"), "{cause}");
}

#[test]
fn advice_comes_with_what_can_be_done() {
    let advice = |cause: PlanError| {
        let mut recorder = Recorder::begin("1", "m".into(), Mode::Provision, &Wanted::default(), Timestamp::UNIX_EPOCH);
        let failure = Failure::at(TurnId::from(Stage::Configuration), cause);
        recorder.end(Err(&failure), &Redactor::new([]), Timestamp::UNIX_EPOCH);
        recorder.outcome.failure.unwrap().advice
    };
    assert!(advice(PlanError::Wrong("x".into())).unwrap().contains("machineadm bootstrap -f FILE"));
    let unfit = host::Error::Unfit { what: "a".into(), why: "b".into(), advice: "do it".into() };
    assert_eq!(advice(PlanError::Look(unfit)).as_deref(), Some("do it"));
    assert_eq!(advice(PlanError::Unavailable("x".into())), None);
}

#[test]
fn a_restart_that_fails_is_the_failure_of_the_turn_that_asked_for_it() {
    let proxy = ("ProxyConfig", "p", "{httpProxy: 'http://p:1', services: [containerd]}");
    let mut host = fresh();
    host.failing_restarts.insert("containerd".into());
    let (outcome, _) = recorded(&wanted(&[proxy, TWO_FILES]), &mut host);
    let states: Vec<_> = outcome.phases.iter().map(|turn| turn.state).collect();
    assert_eq!(states, [State::Failed, State::Succeeded]);
    let failure = outcome.failure.unwrap();
    assert_eq!((failure.phase.as_str(), failure.step.as_deref()), ("ProxyConfig p", Some("restart containerd")));
    assert_eq!(outcome.phases[0].steps.last().unwrap().state, State::Failed);
}

#[test]
fn after_an_undo_every_turn_is_recorded_anew_and_says_why() {
    let mut host = fresh();
    host.files.insert(TRACES[0].into(), file(""));
    host.note("kubeadm init", Progress::Started).unwrap();
    let (outcome, ended) = recorded(&wanted(&[FORWARDING, INIT]), &mut host);
    assert!(ended.is_ok());
    assert!(outcome.phases.iter().all(|turn| turn.state == State::Succeeded), "{outcome:?}");
    let init = &outcome.phases[3];
    assert_eq!(init.steps.len(), 1);
    let why = "kubeadm init was interrupted before; it was undone, and the run started again";
    assert_eq!(init.remarks, [why]);
    // What was made so before the undo is not done twice.
    assert_eq!((outcome.phases[0].steps.len(), outcome.phases[0].remarks.len()), (0, 0));
    assert!(outcome.phases[0].started.unwrap() > Timestamp::UNIX_EPOCH + 5.seconds());
}

#[test]
fn an_act_has_run_when_this_run_has_ended_it() {
    let run = |progress: Option<Progress>| {
        let (mut host, wanted) = (fresh(), wanted(&[FORWARDING, INIT]));
        if let Some(progress) = progress {
            TRACES.iter().for_each(|path| drop(host.files.insert((*path).into(), file(""))));
            host.note("kubeadm init", progress).unwrap();
        }
        let (recorder, ended) = record(&wanted, &mut host);
        assert!(ended.is_ok(), "{ended:?}");
        recorder
    };
    let first = run(None);
    assert_eq!((first.has_run(ActSort::KubeadmInit), first.has_run(ActSort::KubeadmJoin)), (true, false));
    // An earlier run has run it; this one only takes note of its end.
    assert!(!run(Some(Progress::Started)).has_run(ActSort::KubeadmInit));
    let wanted = wanted(&[FORWARDING, INIT]);
    let mut recorder = Recorder::begin("1", "m".into(), Mode::Provision, &wanted, Timestamp::UNIX_EPOCH);
    assert!(!recorder.has_run(ActSort::KubeadmInit));
    let step = look(Mode::Provision, &wanted, &fresh()).unwrap().0.pop().unwrap().1.steps.remove(0);
    recorder.note(&Event::Done(0, 0, &step), Timestamp::UNIX_EPOCH);
    assert!(recorder.has_run(ActSort::KubeadmInit));
    recorder.note(&Event::Again("kubeadm init"), Timestamp::UNIX_EPOCH);
    assert!(!recorder.has_run(ActSort::KubeadmInit), "it was undone");
}

#[test]
fn a_reboot_is_recorded() {
    let command = ("CommandsConfig", "c", "{commands: [{name: x, argv: ['true'], needsReboot: true}]}");
    let (outcome, _) = recorded(&wanted(&[command]), &mut fresh());
    assert_eq!((outcome.state, outcome.reboot.as_deref()), (State::Succeeded, Some("c/x needs one")));
    let (outcome, _) = recorded(&wanted(&[FORWARDING]), &mut fresh());
    assert_eq!(outcome.reboot, None);
}

#[test]
fn an_error_is_one_line_with_its_causes_and_without_numbers_of_the_system() {
    let source = std::io::Error::from_raw_os_error(28);
    let error = PlanError::Look(host::Error::System { doing: "write /etc/a".into(), source });
    assert_eq!(chain(&error), "cannot write /etc/a: No space left on device");
}

#[test]
fn a_plan_is_shown_by_document() {
    let wanted = everything();
    let preview = look(Mode::Provision, &wanted, &fresh()).unwrap();
    let view = PlanView::new("node-7".into(), Mode::Provision, &wanted, &preview);
    assert_eq!((view.documents, view.changes, view.is_open), (13, preview.changes(), true));
    assert!(view.changes > 10);
    let names: Vec<_> = view.phases.iter().map(|turn| (turn.document, turn.name.as_str())).collect();
    assert_eq!(
        names[5..15],
        [
            (Some(6), "ContainerdConfig"),
            (Some(7), "CommandsConfig early"),
            (Some(8), "UsersConfig"),
            (Some(9), "ServicesConfig"),
            (Some(10), "ControlPlaneConfig"),
            (Some(11), "StaticPodsConfig"),
            (None, "services"),
            (None, "preflight"),
            (Some(12), "InitConfig"),
            (Some(13), "CommandsConfig late")
        ]
    );
    assert_eq!(view.phases[11].known_after.as_deref(), Some("document 9 (ServicesConfig)"));
    let json = serde_json::to_value(&view).unwrap();
    assert_eq!(json["kind"], "Plan");
    assert!(!json.to_string().contains("s3cret"), "{json}");
    assert_eq!(json["phases"][4]["steps"][0]["target"], "/etc/motd");
}

#[test]
fn steps_are_counted_as_an_operator_would() {
    let preview = look(Mode::Provision, &wanted(&[TWO_FILES]), &fresh()).unwrap();
    assert_eq!((preview.changes(), preview.is_open()), (2, true));
    let mut host = fresh();
    host.files.insert(TRACES[0].into(), file(""));
    let close = Step::Wait(machineadm_engine::Condition::ServiceActive("a".into()), PATIENCE);
    assert!(!close.is_change() && !close.is_act());
    assert_eq!(Line::of(&close).detail, "until it runs, 3 s at most");
    let done = recorded(&wanted(&[TWO_FILES]), &mut host).0;
    assert_eq!(done.phases[0].steps.len(), 2);
    assert!(!look(Mode::Provision, &wanted(&[TWO_FILES]), &host).unwrap().is_open());
}

#[test]
fn a_changed_file_shows_what_changes_and_a_secret_one_does_not() {
    let mut host = fresh();
    host.files.insert("/etc/a".into(), file("one\ntwo\nthree\n"));
    host.files.insert("/etc/key".into(), host::FileState { mode: 0o600, ..file("old") });
    let spec = "{files: [{path: /etc/a, content: \"one\\n2\\nthree\\n\", mode: '0640', owner: root}, {path: /etc/key, content: new}]}";
    let preview = look(Mode::Provision, &wanted(&[("FilesConfig", "", spec)]), &host).unwrap();
    let lines: Vec<Line> = preview.0[0].1.steps.iter().map(Line::of).collect();
    // Not everybody may read it afterwards.
    assert_eq!((lines[0].detail.as_str(), lines[0].diff.len()), ("contents, 12 bytes, not shown, mode 0644 → 0640", 0));
    assert_eq!((lines[1].detail.as_str(), lines[1].diff.len()), ("contents, 3 bytes, not shown", 0));
    let spec = "{files: [{path: /etc/a, content: \"one\\n2\\nthree\\n\"}]}";
    let preview = look(Mode::Provision, &wanted(&[("FilesConfig", "", spec)]), &host).unwrap();
    let line = Line::of(&preview.0[0].1.steps[0]);
    assert_eq!((line.detail.as_str(), line.mark()), ("+1 −1", "~"));
    assert_eq!(line.diff, [" one", "-two", "+2", " three"]);
}
