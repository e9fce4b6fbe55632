//! A reviewed plan is applied as it is, or refused.
use crate::support::{TRACES, everything, file, fresh, look, run, run_reviewed, text_of};
use host::{Host, Memory, Progress};
use machineadm_engine::{
    Mode, PlanError, PlanKey, PlanView, Prune, Reviewed, ReviewedPlan, SavedPlan, Wanted, is_done,
};

const KEY: PlanKey = PlanKey::new([1; 32]);

fn written(wanted: &Wanted, host: &Memory, prune: Prune) -> String {
    let preview = look(Mode::Provision, wanted, host).unwrap();
    let plan = SavedPlan::new(Reviewed {
        manifests: machineadm_engine::Manifests::Respected,
        prune,
        machine_id: "id",
        configuration: b"the configuration",
        fetched: &["a".into()],
        preview: &preview,
        shown: PlanView::new("name".into(), Mode::Provision, wanted, &preview),
        key: &KEY,
        number: "0123".into(),
    });
    String::from_utf8(plan.bytes().expose().clone()).unwrap()
}

/// The plan of a machine, saved and reviewed.
pub(crate) fn saved(wanted: &Wanted, host: &Memory) -> ReviewedPlan {
    SavedPlan::read(written(wanted, host, Prune::List).as_bytes()).unwrap().verified(&KEY).unwrap()
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
    assert!(
        matches!(&*failure.cause, PlanError::Drifted(why) if why.concat().contains("another order")),
        "{failure:?}"
    );
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
    let stranger = machineadm_engine::TurnId::from(machineadm_engine::outcome::AddedTurn::Certificates);
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
    let text = written(&everything(), &fresh(), Prune::Restore);
    let plan = SavedPlan::read(text.as_bytes()).unwrap();
    assert_eq!((plan.machine_id(), plan.shown().machine.as_str()), ("id", "name"));
    let plan = plan.verified(&KEY).unwrap();
    assert_eq!(plan.configuration().unwrap().expose(), b"the configuration");
    assert_eq!((plan.prune(), plan.mode()), (Prune::Restore, Mode::Provision));
    assert_eq!(saved(&everything(), &fresh()).prune(), Prune::List);
    assert!(SavedPlan::read(text.replace("SavedPlan", "Outcome").as_bytes()).is_err());
    assert!(SavedPlan::read(text.replacen("v1alpha1", "v1alpha9", 1).as_bytes()).is_err());
    assert!(SavedPlan::read(b"{}").is_err());
}

/// Every single member, also one that would switch a comparison off.
#[test]
fn a_plan_that_was_edited_or_is_of_another_machine_does_not_verify() {
    let text = written(&everything(), &fresh(), Prune::List);
    let verifies = |text: &str, key: &PlanKey| SavedPlan::read(text.as_bytes()).unwrap().verified(key).is_ok();
    assert!(verifies(&text, &KEY) && !verifies(&text, &PlanKey::new([2; 32])));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let configuration = value["plan"]["configuration"].as_str().unwrap();
    let fingerprint = value["plan"]["turns"][1]["steps"][0]["fingerprint"].as_str().unwrap();
    let authentication = value["authentication"].as_str().unwrap();
    for (from, to) in [
        (configuration, "AAAA"),
        (fingerprint, "00"),
        (authentication, ""),
        (authentication, "00"),
        ("\"number\": \"0123\"", "\"number\": \"0124\""),
        ("\"prune\": false", "\"prune\": true"),
        ("\"mode\": \"provision\"", "\"mode\": \"post\""),
        ("\"machineId\": \"id\"", "\"machineId\": \"other\""),
        ("\"steps\": [", "\"knownAfter\": \"x\", \"steps\": ["),
    ] {
        let edited = text.replacen(from, to, 1);
        assert!(edited != text && !verifies(&edited, &KEY), "{from}");
    }
    let turns = text.rfind("\"turns\"").unwrap();
    let open = text[turns..].replacen("\"steps\"", "\"knownAfter\": \"x\", \"steps\"", 1);
    assert!(!verifies(&format!("{}{open}", &text[..turns]), &KEY));
}

/// A plain digest of a secret lets whoever has the plan try one guess after the other.
#[test]
fn a_saved_plan_holds_no_digest_that_can_be_computed_without_the_key() {
    let wanted = everything();
    let of = |key: [u8; 32], number: &str| {
        let preview = look(Mode::Provision, &wanted, &fresh()).unwrap();
        let plan = SavedPlan::new(Reviewed {
            prune: Prune::List,
            manifests: machineadm_engine::Manifests::Respected,
            machine_id: "id",
            configuration: b"",
            fetched: &["a".into()],
            preview: &preview,
            shown: PlanView::new("name".into(), Mode::Provision, &wanted, &preview),
            key: &PlanKey::new(key),
            number: number.into(),
        });
        let value: serde_json::Value = serde_json::from_slice(plan.bytes().expose()).unwrap();
        let mut codes = vec![value["plan"]["fetched"][0].as_str().unwrap().to_owned()];
        for step in value["plan"]["turns"].as_array().unwrap().iter().flat_map(|turn| turn["steps"].as_array().unwrap())
        {
            codes.push(step["fingerprint"].as_str().unwrap().to_owned());
            codes.extend(step["act"].as_str().map(str::to_owned));
        }
        codes
    };
    let (one, other_key, other_number) = (of([1; 32], "1"), of([2; 32], "1"), of([1; 32], "2"));
    assert!(one.len() > 10 && one == of([1; 32], "1"));
    assert!(one.iter().all(|code| !other_key.contains(code) && !other_number.contains(code)));
}

#[test]
fn every_difference_of_a_turn_is_listed() {
    let files = "{files: [{path: /etc/a, content: a}, {path: /etc/b, content: b}, {path: /etc/c, content: c}]}";
    let wanted = crate::support::wanted(&[("FilesConfig", "", files)]);
    let mut host = fresh();
    let plan = saved(&wanted, &host);
    host.files.insert("/etc/a".into(), file("other"));
    host.files.insert("/etc/b".into(), file("other"));
    let failure = run_reviewed(&plan, &wanted, &mut host).unwrap_err();
    let PlanError::Drifted(differences) = &*failure.cause else { panic!("{failure:?}") };
    let about = |path: &str| differences.iter().filter(|line| line.contains(path)).count();
    assert_eq!((about("/etc/a"), about("/etc/b"), about("/etc/c")), (2, 2, 0), "{differences:?}");
}

#[test]
fn what_runs_at_every_run_does_not_keep_a_plan_from_being_done() {
    let commands = "{commands: [{name: always, argv: ['true'], run: always}, {name: once, argv: ['true']}]}";
    let wanted = crate::support::wanted(&[("CommandsConfig", "c", commands)]);
    let mut host = fresh();
    assert!(!is_done(&look(Mode::Provision, &wanted, &host).unwrap()));
    run(Mode::Provision, &wanted, &mut host).unwrap();
    assert!(is_done(&look(Mode::Provision, &wanted, &host).unwrap()));
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
    assert!(
        matches!(&*failure.cause, PlanError::Drifted(why) if why.concat().contains("after the undo")),
        "{failure:?}"
    );
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
    assert!(matches!(&*failure.cause, PlanError::Drifted(why) if why.concat().contains("run c/seen")), "{failure:?}");
    assert!(!host.log.contains(&"run touch /seen".to_owned()), "{:?}", host.log);
}
