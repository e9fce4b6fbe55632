//! A reviewed plan is applied as it is, or refused.
use crate::support::{TRACES, everything, file, fresh, look, run, run_reviewed, text_of};
use host::{Host, Memory, Progress};
use machineadm_engine::{Mode, PlanError, Prune, Reviewed, SavedPlan, Wanted};

fn saved(wanted: &Wanted, host: &Memory) -> SavedPlan {
    let preview = look(Mode::Provision, wanted, host).unwrap();
    let reviewed = Reviewed {
        mode: Mode::Provision,
        prune: Prune::List,
        machine_id: "id",
        machine: "name",
        configuration: b"the configuration",
        fetched: &["a".into()],
        preview: &preview,
    };
    SavedPlan::read(SavedPlan::new(&reviewed).bytes().expose()).unwrap()
}

#[test]
fn a_reviewed_plan_is_refused_after_any_drift() {
    let wanted = everything();
    type Drift = fn(&mut Memory);
    let drifts: [(&str, Drift); 5] = [
        ("FilesConfig", |host| drop(host.files.insert("/etc/motd".into(), file("somebody's")))),
        ("FilesConfig", |host| drop(host.files.insert("/etc/hosts".into(), file("127.0.0.1 localhost\nnew\n")))),
        ("KernelModulesConfig", |host| assert!(host.modules.insert("overlay".into()))),
        ("ProxyConfig", |host| host.services.extend([("containerd".into(), false)])),
        ("CommandsConfig early", |host| host.files.extend([("/seen".into(), file(""))])),
    ];
    for (turn, drift) in drifts {
        let mut host = fresh();
        let plan = saved(&wanted, &host);
        drift(&mut host);
        let failure = run_reviewed(&plan, &wanted, &mut host).unwrap_err();
        assert_eq!(failure.at.to_string(), turn);
        assert!(matches!(*failure.cause, PlanError::Drifted(_)), "{failure:?}");
    }
    let mut host = fresh();
    let plan = saved(&wanted, &host);
    run_reviewed(&plan, &wanted, &mut host).unwrap();
}

#[test]
fn fetched_parts_are_compared() {
    let plan = saved(&everything(), &fresh());
    assert!(plan.allows_parts(&["a".into()]).is_ok());
    assert!(matches!(plan.allows_parts(&["b".into()]), Err(PlanError::Exchanged)));
    assert!(plan.allows_parts(&[]).is_err());
}

#[test]
fn another_order_is_refused_before_any_change() {
    let wanted = everything();
    let plan = saved(&wanted, &fresh());
    let mut reordered = wanted.clone();
    reordered.documents.swap(3, 4);
    let mut host = fresh();
    let failure = run_reviewed(&plan, &reordered, &mut host).unwrap_err();
    assert!(matches!(&*failure.cause, PlanError::Drifted(why) if why.contains("another order")), "{failure:?}");
    assert_eq!(host, fresh());
    let mut fewer = wanted;
    fewer.documents.pop();
    assert!(run_reviewed(&plan, &fewer, &mut host).is_err());
    assert_eq!(host, fresh());
}

#[test]
fn steps_are_compared_in_both_directions_and_in_their_order() {
    let wanted = everything();
    let plan = saved(&wanted, &fresh());
    let preview = look(Mode::Provision, &wanted, &fresh()).unwrap();
    let (label, files) = &preview.0[4];
    assert_eq!(label.to_string(), "FilesConfig");
    assert!(plan.allows(4, label, files).is_ok());
    assert!(plan.allows(3, label, files).is_err() && plan.allows(99, label, files).is_err());
    let mut fewer = files.clone();
    fewer.steps.remove(0);
    let mut swapped = files.clone();
    swapped.steps.swap(0, 3);
    let mut more = files.clone();
    more.steps.push(preview.0[2].1.steps[0].clone());
    for (planned, why) in [(fewer, "no longer needs"), (swapped, "in another order"), (more, "now needs")] {
        let error = plan.allows(4, label, &planned).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let stranger = machineadm_engine::Label::added("stranger");
    assert!(plan.allows(4, &stranger, files).is_err());
}

#[test]
fn documents_without_a_name_are_told_apart_by_their_place() {
    let file = |name: &str| format!("{{files: [{{path: /etc/{name}, content: {name}}}]}}");
    let (a, b) = (file("a"), file("b"));
    let wanted = crate::support::wanted(&[("FilesConfig", "", &a), ("FilesConfig", "", &b)]);
    let mut host = fresh();
    let plan = saved(&wanted, &host);
    run_reviewed(&plan, &wanted, &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/b"), "b");
}

#[test]
fn a_plan_carries_its_configuration_and_whether_it_prunes() {
    let plan = saved(&everything(), &fresh());
    assert_eq!(plan.configuration().unwrap().expose(), b"the configuration");
    assert_eq!((plan.prune(), plan.mode, plan.machine_id.as_str()), (Prune::List, Mode::Provision, "id"));
    let text = String::from_utf8(plan.bytes().expose().clone()).unwrap();
    assert!(!text.contains("prune"), "{text}");
    let pruning = text.replace("\"turns\"", "\"prune\": true, \"turns\"");
    assert_eq!(SavedPlan::read(pruning.as_bytes()).unwrap().prune(), Prune::Restore);
    assert!(SavedPlan::read(text.replace("SavedPlan", "Outcome").as_bytes()).is_err());
    assert!(SavedPlan::read(text.replace("v1alpha1", "v1alpha9").as_bytes()).is_err());
    assert!(SavedPlan::read(b"{}").is_err());
    let damaged = text.replace(&plan_configuration(&text), "%");
    assert!(SavedPlan::read(damaged.as_bytes()).unwrap().configuration().is_err());
}

fn plan_configuration(text: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    value["configuration"].as_str().unwrap().to_owned()
}

#[test]
fn after_a_reviewed_undo_documents_are_made_so_again_and_nothing_else_runs() {
    let wanted = everything();
    let interrupted = || {
        let mut host = fresh();
        run(Mode::Provision, &wanted, &mut host).unwrap();
        host.files.remove(TRACES[5]);
        host.note("kubeadm init", Progress::Started).unwrap();
        host
    };
    let mut host = interrupted();
    let plan = saved(&wanted, &host);
    run_reviewed(&plan, &wanted, &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/kubernetes/pki/ca.crt"), "the user's own");
    // A command whose effect the reset removed was not reviewed.
    let mut host = interrupted();
    host.programs.insert(
        "kubeadm reset".into(),
        vec![host::Played::RemoveBelow("/etc/kubernetes/".into()), host::Played::RemoveBelow("/seen".into())],
    );
    let failure = run_reviewed(&plan, &wanted, &mut host).unwrap_err();
    assert!(matches!(&*failure.cause, PlanError::Drifted(why) if why.contains("after the undo")), "{failure:?}");
}

#[test]
fn after_a_reviewed_undo_another_command_of_a_reviewed_document_is_not_run() {
    let commands = "{commands: [{name: always, argv: ['true'], run: always}, \
        {name: seen, argv: [touch, /seen], creates: /seen}]}";
    let wanted =
        crate::support::wanted(&[("CommandsConfig", "c", commands), crate::support::FORWARDING, crate::support::INIT]);
    let mut host = fresh();
    run(Mode::Provision, &wanted, &mut host).unwrap();
    host.files.remove(TRACES[5]);
    host.note("kubeadm init", Progress::Started).unwrap();
    let plan = saved(&wanted, &host);
    let removed = ["/etc/kubernetes/", "/seen"].map(|start| host::Played::RemoveBelow(start.into()));
    host.programs.insert("kubeadm reset".into(), removed.to_vec());
    host.log.clear();
    let failure = run_reviewed(&plan, &wanted, &mut host).unwrap_err();
    assert!(matches!(&*failure.cause, PlanError::Drifted(why) if why.contains("run c/seen")), "{failure:?}");
    assert!(!host.log.contains(&"run touch /seen".to_owned()), "{:?}", host.log);
}
