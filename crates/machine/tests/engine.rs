//! The engine on a machine in memory: what it plans, that it can be cut anywhere, and what it refuses.
use host::{Act, Effect, FileState, Host, Inspect, Memory, Progress};
use machineadm_machine::{
    Failure, Machine, Mode, PlanError, Planned, Remark, Reviewed, SavedPlan, Step, bootstrap, phases, preview,
    steps_for,
};

use documents::{
    Secret, Source,
    v1alpha1::{Command, Program, Repeat},
};

/// A configuration from the spec of each kind.
fn machine(kinds: &[(&str, &str)]) -> Machine {
    let document = |(kind, spec): &(&str, &str)| {
        format!("---\napiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: {kind}\nspec: {spec}\n")
    };
    let text: String = kinds.iter().map(document).collect();
    let read = documents::read(vec![Source { name: "test".into(), bytes: text.into_bytes().into() }]);
    assert!(read.report.is_empty(), "{}", read.report);
    Machine::of(read.documents)
}

/// A document for every phase of every mode.
fn everything() -> Machine {
    machine(&[
        ("TrustBundleConfig", &format!("{{certificates: {:?}}}", certificate())),
        ("ProxyConfig", "{httpProxy: 'http://proxy.example:3128', services: [containerd, kubelet]}"),
        ("KernelModulesConfig", "{modules: [overlay, br_netfilter]}"),
        ("SysctlConfig", "{parameters: {net.ipv4.ip_forward: '1', net.bridge.bridge-nf-call-iptables: '1'}}"),
        (
            "FilesConfig",
            "{files: [{path: /etc/motd, content: hello}, {path: /etc/hosts, block: a, content: 10.0.0.1 a}, \
             {path: /etc/hosts, block: b, content: 10.0.0.2 b}, {path: /etc/key, content: s3cret, mode: '0600'}, \
             {path: /etc/kubernetes/pki/ca.crt, content: the user's own}]}",
        ),
        (
            "CommandsConfig",
            "{commands: [{name: seen, argv: [touch, /seen], creates: /seen}, {name: unseen, shell: 'true'}]}",
        ),
        ("InitConfig", "{kubernetesVersion: v1.36.4}"),
        ("CommandsConfig", "{commands: [{name: late, argv: ['true'], unless: 'true'}]}"),
    ])
}

/// The certificate of the kind's own example.
fn certificate() -> String {
    let trust_bundle = documents::KINDS.iter().find(|kind| kind.kind == "TrustBundleConfig");
    trust_bundle
        .expect("the kind is listed")
        .example
        .lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("-----BEGIN"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn file(text: &str) -> FileState {
    FileState { contents: Secret::new(text.into()), mode: 0o644, uid: 0, gid: 0 }
}

fn fresh() -> Memory {
    Memory {
        files: [
            ("/etc/hosts".into(), file("127.0.0.1 localhost\n")),
            ("/run/containerd/containerd.sock".into(), file("")),
        ]
        .into(),
        kubeadm: Some("v1.36.4".into()),
        sysctls: [("net/ipv4/ip_forward".into(), "0".into())].into(),
        sysctls_of: [("net/bridge/bridge-nf-call-iptables".into(), ("br_netfilter".into(), "0".into()))].into(),
        services: [("containerd".into(), true), ("kubelet".into(), false)].into(),
        ..Memory::default()
    }
}

fn run(mode: Mode, machine: &Machine, host: &mut Memory) -> Result<(), Failure> {
    bootstrap(mode, machine, None, host, &mut |_| ())
}

fn command(name: &str) -> Command {
    Command {
        name: name.into(),
        program: Program::Argv(vec!["true".into()]),
        repeat: Repeat::Once,
        creates: None,
        unless: None,
        environment: Default::default(),
        timeout: std::time::Duration::from_secs(1),
        needs_reboot: false,
    }
}

#[test]
fn after_applying_nothing_is_left_to_do_in_any_phase() {
    for mode in Mode::ALL {
        let (machine, mut host) = (everything(), fresh());
        let before = preview(mode, &machine, &host).unwrap();
        for (phase, planned) in &before.0 {
            let idle = planned.steps.is_empty() && planned.known_after.is_none();
            assert!(!idle, "{phase} has nothing to do, so it proves nothing");
        }
        run(mode, &machine, &mut host).unwrap();
        let after = preview(mode, &machine, &host).unwrap();
        for (phase, planned) in &after.0 {
            assert_eq!((&planned.steps, planned.known_after), (&vec![], None), "{phase}");
        }
    }
}

#[test]
fn a_power_cut_after_any_change_is_finished_by_the_next_run() {
    for mode in Mode::ALL {
        let machine = everything();
        let mut whole = fresh();
        run(mode, &machine, &mut whole).unwrap();
        let mut cuts = 0;
        for power in 0.. {
            let mut host = Memory { power: Some(power), ..fresh() };
            let cut = run(mode, &machine, &mut host).is_err();
            host.power = None;
            run(mode, &machine, &mut host).unwrap();
            assert_eq!(host, whole, "{mode:?}: power failed after {power} changes");
            if !cut {
                break;
            }
            cuts += 1;
        }
        assert!(cuts > phases(mode).len(), "only {cuts} cuts in {mode:?}");
    }
}

#[test]
fn every_phase_has_a_name_of_its_own() {
    for mode in Mode::ALL {
        let mut names: Vec<_> = phases(mode).iter().map(|phase| phase.name()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

#[test]
fn post_runs_no_commands() {
    let (machine, mut host) = (everything(), fresh());
    run(Mode::Post, &machine, &mut host).unwrap();
    assert_eq!(host.effects, Default::default());
}

#[test]
fn what_a_module_brings_is_known_after_it() {
    let (machine, host) = (everything(), fresh());
    let preview = preview(Mode::Provision, &machine, &host).unwrap();
    let (_, kernel) = preview.0.iter().find(|(phase, _)| *phase == "kernel").unwrap();
    assert_eq!(kernel.known_after, Some("modules"));
}

#[test]
fn a_parameter_that_no_module_brings_stops_the_run_at_its_step() {
    let machine = machine(&[("SysctlConfig", "{parameters: {no.such.thing: '1'}}")]);
    let failure = run(Mode::Provision, &machine, &mut fresh()).unwrap_err();
    assert_eq!((failure.phase, failure.step.as_deref()), ("kernel", Some("change no.such.thing")));
}

#[test]
fn a_file_that_is_not_ours_keeps_what_we_do_not_say() {
    let machine = machine(&[("FilesConfig", "{files: [{path: /etc/hosts, block: a, content: x}]}")]);
    let mut host = fresh();
    let theirs = FileState { mode: 0o640, uid: 7, gid: 8, ..file("theirs\n") };
    host.files.insert("/etc/hosts".into(), theirs);
    run(Mode::Post, &machine, &mut host).unwrap();
    let got = &host.files["/etc/hosts"];
    assert_eq!((got.mode, got.uid, got.gid), (0o640, 7, 8));
    let text = String::from_utf8(got.contents.expose().clone()).unwrap();
    assert_eq!(text, "theirs\n# BEGIN machineadm a\nx\n# END machineadm a\n");
}

#[test]
fn a_service_that_does_not_run_is_not_started() {
    let machine = machine(&[("ProxyConfig", "{httpProxy: 'http://p:1', services: [kubelet]}")]);
    let mut host = fresh();
    run(Mode::Provision, &machine, &mut host).unwrap();
    assert!(!host.services["kubelet"]);
    assert!(host.read.contains_key("kubelet"));
}

#[test]
fn without_a_service_manager_the_plan_says_when_it_counts() {
    let machine = machine(&[("ProxyConfig", "{httpProxy: 'http://p:1', services: [kubelet]}")]);
    let host = Memory { live: false, ..fresh() };
    let preview = preview(Mode::Provision, &machine, &host).unwrap();
    let remarks: Vec<_> = preview.0.into_iter().flat_map(|(_, planned)| planned.remarks).collect();
    assert_eq!(remarks, [Remark::AtServiceStart("kubelet".into())]);
}

#[test]
fn the_look_outranks_the_journal() {
    let seen = |name: &str| Act::Command(Command { creates: Some("/x".into()), ..command(name) });
    type Noted = fn(&mut Memory, &Act);
    type Wanted = fn(Act) -> Vec<Step>;
    let cases: [(Option<bool>, Noted, Wanted); 6] = [
        (None, |_, _| (), |act| vec![Step::Run(act)]),
        (None, |host, act| host.begin(act).unwrap(), |act| vec![Step::Run(act)]),
        (None, |host, act| host.end(act).unwrap(), |act| vec![Step::Run(act)]),
        (Some(true), |_, _| (), |_| vec![]),
        (Some(true), |host, act| host.begin(act).unwrap(), |act| vec![Step::Close(act)]),
        (Some(false), |host, act| host.begin(act).unwrap(), |act| vec![Step::Redo(act)]),
    ];
    for (effect, journal, wanted) in cases {
        let mut host = Memory::default();
        host.effects.extend(effect.map(|effect| ("a".to_owned(), effect)));
        journal(&mut host, &seen("a"));
        let progress = host.progress(&seen("a")).unwrap();
        let planned = steps_for(seen("a"), Repeat::Once, &host).unwrap();
        assert_eq!(planned.steps, wanted(seen("a")), "effect {effect:?}, journal {progress:?}");
    }
}

#[test]
fn somebody_elses_half_done_work_is_left_alone() {
    let act = Act::Command(Command { creates: Some("/x".into()), ..command("a") });
    let host = Memory { effects: [("a".into(), false)].into(), ..Memory::default() };
    assert_eq!(host.effect(&act).unwrap(), Effect::Partial);
    assert!(matches!(steps_for(act, Repeat::Once, &host), Err(PlanError::Foreign(_))));
}

#[test]
fn a_command_without_a_way_to_see_it_is_unverifiable_and_never_clean() {
    let act = || Act::Command(command("a"));
    let mut host = Memory::default();
    assert_eq!(steps_for(act(), Repeat::Once, &host).unwrap().steps, [Step::Run(act())]);
    host.begin(&act()).unwrap();
    assert_eq!(steps_for(act(), Repeat::Once, &host).unwrap().steps, [Step::Redo(act())]);
    host.end(&act()).unwrap();
    let done = steps_for(act(), Repeat::Once, &host).unwrap();
    assert_eq!(done, Planned { remarks: vec![Remark::Unverifiable("a".into())], ..Planned::default() });
    assert_eq!(steps_for(act(), Repeat::Always, &host).unwrap().steps, [Step::Run(act())]);
}

#[test]
fn another_definition_under_the_same_name_is_another_act() {
    let changed = Command { program: Program::Argv(vec!["false".into()]), ..command("a") };
    let mut host = Memory::default();
    host.end(&Act::Command(command("a"))).unwrap();
    assert_eq!(host.progress(&Act::Command(changed)).unwrap(), Progress::New);
}

#[test]
fn a_reviewed_plan_is_refused_after_any_drift() {
    let machine = everything();
    let saved = |host: &Memory| {
        let preview = preview(Mode::Provision, &machine, host).unwrap();
        let (mode, preview) = (Mode::Provision, &preview);
        let reviewed =
            Reviewed { mode, machine_id: "id", machine: "name", configuration: b"", fetched: &["a".into()], preview };
        SavedPlan::read(SavedPlan::new(&reviewed).bytes().expose()).unwrap()
    };
    type Drift = fn(&mut Memory);
    let drifts: [(&str, Drift); 5] = [
        ("files", |host| drop(host.files.insert("/etc/motd".into(), file("somebody's")))),
        ("files", |host| drop(host.files.insert("/etc/hosts".into(), file("127.0.0.1 localhost\nnew\n")))),
        ("modules", |host| assert!(host.modules.insert("overlay".into()))),
        ("proxy", |host| host.services.extend([("containerd".into(), false)])),
        ("commands/before", |host| host.effects.extend([("seen".into(), true)])),
    ];
    for (phase, drift) in drifts {
        let mut host = fresh();
        let plan = saved(&host);
        drift(&mut host);
        let failure = bootstrap(Mode::Provision, &machine, Some(&plan), &mut host, &mut |_| ()).unwrap_err();
        assert_eq!(failure.phase, phase);
        assert!(matches!(failure.cause, PlanError::Drifted(_)), "{failure:?}");
    }
    let mut host = fresh();
    let plan = saved(&host);
    bootstrap(Mode::Provision, &machine, Some(&plan), &mut host, &mut |_| ()).unwrap();
    assert!(plan.allows_parts(&["a".into()]).is_ok());
    assert!(matches!(plan.allows_parts(&["b".into()]), Err(PlanError::Exchanged)));
    assert!(plan.allows_parts(&[]).is_err());
}

#[test]
fn preflight_lists_everything_that_is_wrong_at_once() {
    let machine = machine(&[("InitConfig", "{kubernetesVersion: v1.36.4}")]);
    let mut host = Memory { kubeadm: Some("v1.35.9".into()), ports: [6443, 10250].into(), ..Memory::default() };
    let failure = run(Mode::Provision, &machine, &mut host).unwrap_err();
    let PlanError::Unfit(problems) = &failure.cause else { panic!("{failure:?}") };
    assert_eq!(failure.phase, "preflight");
    assert_eq!(problems.len(), 5, "{problems:?}");
    assert_eq!(host.effects, Default::default());
}

#[test]
fn a_cluster_that_somebody_else_half_began_is_left_alone() {
    let machine = machine(&[("InitConfig", "{kubernetesVersion: v1.36.4}")]);
    let mut host = Memory { effects: [("kubeadm init".into(), false)].into(), ..fresh() };
    host.sysctls.insert("net/ipv4/ip_forward".into(), "1".into());
    let failure = run(Mode::Provision, &machine, &mut host).unwrap_err();
    assert!(matches!(failure.cause, PlanError::Foreign(_)), "{failure:?}");
    assert!(!host.effects["kubeadm init"]);
}

#[test]
fn a_root_that_does_not_run_begins_no_cluster() {
    let machine = machine(&[("InitConfig", "{kubernetesVersion: v1.36.4}")]);
    let failure = run(Mode::Provision, &machine, &mut Memory { live: false, ..fresh() }).unwrap_err();
    assert_eq!(failure.phase, "preflight");
}

#[test]
fn a_command_that_always_runs_does_not_keep_the_cluster_waiting() {
    let machine = machine(&[
        ("CommandsConfig", "{commands: [{name: always, argv: ['true'], run: always}]}"),
        ("SysctlConfig", "{parameters: {net.ipv4.ip_forward: '1'}}"),
        ("InitConfig", "{kubernetesVersion: v1.36.4}"),
    ]);
    let mut host = fresh();
    run(Mode::Provision, &machine, &mut host).unwrap();
    assert!(host.effects["kubeadm init"]);
}

#[test]
fn certificates_of_the_user_survive_a_beginning_that_is_taken_back() {
    let (machine, mut host) = (everything(), fresh());
    run(Mode::Provision, &machine, &mut host).unwrap();
    let whole = host.clone();
    host.effects.insert("kubeadm init".into(), false);
    host.begin(&init_act(&machine, &host)).unwrap();
    run(Mode::Provision, &machine, &mut host).unwrap();
    assert_eq!(host, whole);
    assert!(host.files.contains_key("/etc/kubernetes/pki/ca.crt"));
}

/// The act that the machine's own workflow proposes.
fn init_act(machine: &Machine, host: &Memory) -> Act {
    let mut blank = Memory { effects: Default::default(), ..host.clone() };
    blank.journal = Memory::default().journal;
    let machine = Machine { commands: Vec::new(), ..machine.clone() };
    let preview = preview(Mode::Provision, &machine, &blank).expect("a plan");
    let acts = preview.0.into_iter().flat_map(|(_, planned)| planned.steps).filter_map(|step| match step {
        Step::Run(act) => Some(act),
        _ => None,
    });
    acts.into_iter().next().expect("a cluster is to begin")
}
