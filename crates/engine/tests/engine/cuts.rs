//! A power cut after any change is finished by the next run, also in another order.
use crate::support::{FakeCluster, TRACES, everything, fresh, has, left, run, run_as, run_pruning, text_of, wanted};
use host::{Host, Memory, Progress};
use machineadm_engine::{Mode, PlanError, Prune, Run};

#[test]
fn a_power_cut_after_any_change_is_finished_by_the_next_run() {
    for mode in Mode::ALL {
        let wanted = everything();
        let mut whole = fresh();
        run(mode, &wanted, &mut whole).unwrap();
        let mut cuts = 0;
        for power in 0.. {
            let mut host = Memory { power: Some(power), ..fresh() };
            let cut = run(mode, &wanted, &mut host).is_err();
            host.power = None;
            run(mode, &wanted, &mut host).unwrap();
            assert_eq!(left(&host), left(&whole), "{mode:?}: power failed after {power} changes");
            if !cut {
                break;
            }
            cuts += 1;
        }
        assert!(cuts > wanted.documents.len(), "only {cuts} cuts in {mode:?}");
    }
}

#[test]
fn pruning_can_be_cut_anywhere_too() {
    let (all, none) = (everything(), wanted(&[("FilesConfig", "", "{files: [{path: /etc/motd, content: hello}]}")]));
    let before = || {
        let mut host = fresh();
        run(Mode::Post, &all, &mut host).unwrap();
        host
    };
    let mut whole = before();
    run_pruning(&none, &mut whole).unwrap();
    assert_eq!(text_of(&whole, "/etc/hosts"), "127.0.0.1 localhost\n");
    for power in 0.. {
        let mut host = Memory { power: Some(power), ..before() };
        let cut = run_pruning(&none, &mut host).is_err();
        host.power = None;
        run_pruning(&none, &mut host).unwrap();
        assert_eq!(left(&host), left(&whole), "power failed after {power} changes");
        if !cut {
            assert!(power > 10, "only {power} cuts");
            break;
        }
    }
}

#[test]
fn after_an_undo_every_document_is_looked_at_again_once() {
    let (wanted, mut host) = (everything(), fresh());
    run(Mode::Provision, &wanted, &mut host).unwrap();
    let whole = left(&host);
    // The power failed in the middle of kubeadm.
    host.files.remove(TRACES[5]);
    host.note("kubeadm init", Progress::Started).unwrap();
    // What a command had made goes with the reset as well.
    host.files.remove("/seen");
    host.log.clear();
    run(Mode::Provision, &wanted, &mut host).unwrap();
    assert_eq!(left(&host), whole);
    assert!(text_of(&host, "/etc/kubernetes/pki/ca.crt").contains("the user's own"));
    let kubeadm: Vec<&str> =
        host.log.iter().filter_map(|entry| entry.strip_prefix("run kubeadm ")?.split(' ').next()).collect();
    assert_eq!(kubeadm, ["reset", "init"]);
}

#[test]
fn an_undo_that_removes_nothing_is_not_repeated_for_ever() {
    let (wanted, mut host) = (everything(), fresh());
    host.programs.insert("kubeadm reset".into(), Vec::new());
    host.files.insert(TRACES[0].into(), crate::support::file(""));
    host.note("kubeadm init", Progress::Started).unwrap();
    let failure = run(Mode::Provision, &wanted, &mut host).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::NotUndone(_)) && failure.cause.needs_operator(), "{failure:?}");
    let resets = host.log.iter().filter(|entry| entry.starts_with("run kubeadm reset")).count();
    assert_eq!(resets, 2);
}

#[test]
fn a_failed_or_interrupted_kubeadm_leaves_no_file_with_a_secret() {
    let wanted = everything();
    let mut host = fresh();
    host.programs.insert("kubeadm init".into(), vec![host::Played::Fail]);
    run(Mode::Provision, &wanted, &mut host).unwrap_err();
    assert!(!has(&host, "/run/machineadm/kubeadm.yaml"));
    // A run that is cut while kubeadm works can't remove it; the next run does, also if it stops at once.
    let whole = Run {
        mode: Mode::Provision,
        wanted: &wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: None,
    };
    let none = crate::support::wanted(&[crate::support::FORWARDING]);
    let mut cuts = 0;
    for power in 0..200 {
        let mut host = Memory { power: Some(power), ..fresh() };
        let _ = run_as(&whole, &mut host, &FakeCluster::answering(Ok(true)));
        if has(&host, "/run/machineadm/kubeadm.yaml") {
            cuts += 1;
            host.power = None;
            let _ = run(Mode::Provision, &none, &mut host);
            assert!(!has(&host, "/run/machineadm/kubeadm.yaml"), "after {power} changes");
        }
    }
    assert!(cuts > 3, "only {cuts} cuts met kubeadm");
}

#[test]
fn a_cut_between_two_versions_of_a_document_is_pruned_like_a_whole_run() {
    let version = |text: &str| {
        format!("{{files: [{{path: /etc/a, content: {text}}}, {{path: /etc/hosts, block: b, content: {text}}}]}}")
    };
    let (one, two) = (version("one"), version("two"));
    let sysctl = |value: &str| format!("{{parameters: {{net.ipv4.ip_forward: '{value}'}}}}");
    let (low, high) = (sysctl("1"), sysctl("2"));
    let first = wanted(&[("FilesConfig", "f", &one), ("SysctlConfig", "s", &low)]);
    let second = wanted(&[("FilesConfig", "f", &two), ("SysctlConfig", "s", &high)]);
    let none = wanted(&[("FilesConfig", "k", "{files: [{path: /etc/k, content: k}]}")]);
    let mut clean = fresh();
    run(Mode::Post, &none, &mut clean).unwrap();
    for power in 0.. {
        let mut host = fresh();
        run(Mode::Post, &first, &mut host).unwrap();
        host.power = Some(power);
        let cut = run(Mode::Post, &second, &mut host).is_err();
        host.power = None;
        run_pruning(&none, &mut host).unwrap();
        assert_eq!(left(&host), left(&clean), "power failed after {power} changes");
        if !cut {
            assert!(power > 3, "only {power} cuts");
            break;
        }
    }
}
