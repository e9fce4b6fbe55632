//! NodeRegistration, which both configurations have.
use crate::hub::{init, join, notes, unsupported};
use documents::v1alpha1::{ImagePull, PreflightCheck, TaintEffect};

#[test]
fn labels_of_repeated_flags_add_up_and_of_addresses_the_last_ones_count() {
    let imported = join(
        "join: {nodeRegistration: {kubeletExtraArgs: [{name: node-labels, value: 'a=b,,c'}, {name: node-labels, value: ' d = e'}, \
         {name: node-ip, value: 10.0.0.1}, {name: node-ip, value: ' 10.0.0.2, '}]}}",
    );
    let labels: Vec<_> = imported.document.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(labels, ["a=b", "c=", "d=e"]);
    assert_eq!(imported.document.node_addresses, ["10.0.0.2"]);
    let note = "JoinConfiguration.nodeRegistration.kubeletExtraArgs[node-ip] is repeated: the last one counts";
    assert_eq!((unsupported(&imported.report), notes(&imported.report)), (vec![], vec![note.to_owned()]));
}

#[test]
fn taints_that_are_not_named_differ_from_none() {
    let taints = |taints: &str| init(&format!("init: {{nodeRegistration: {{{taints}}}}}")).document.taints;
    assert_eq!(taints(""), None);
    assert_eq!(taints("taints: []"), Some(vec![]));
    let effects = "taints: [{effect: NoSchedule}, {effect: PreferNoSchedule}, {effect: NoExecute}, {}]";
    let effects: Vec<_> = taints(effects).expect("taints").into_iter().map(|taint| taint.effect).collect();
    assert_eq!(effects, [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute]);
}

#[test]
fn checks_are_tolerated_by_our_names_and_those_of_kubeadm_alone_are_noted() {
    let imported = join("join: {nodeRegistration: {ignorePreflightErrors: [Swap, swap, Firewalld, NumCPU]}}");
    assert_eq!(imported.document.tolerated_checks, [PreflightCheck::Swap, PreflightCheck::Cpu]);
    let note = "JoinConfiguration.nodeRegistration.ignorePreflightErrors[Firewalld] is not needed: machineadm has no \
                such check, and kubeadm only warns";
    assert_eq!((unsupported(&imported.report), notes(&imported.report)), (vec![], vec![note.to_owned()]));
}

#[test]
fn each_policy_of_pulling_images_has_its_word() {
    for (policy, wanted) in [
        ("Always", ImagePull::Always),
        ("IfNotPresent", ImagePull::IfNotPresent),
        ("Never", ImagePull::Never),
        ("''", ImagePull::default()),
    ] {
        let imported = init(&format!("init: {{nodeRegistration: {{imagePullPolicy: {policy}}}}}"));
        assert_eq!((imported.document.image_pull, unsupported(&imported.report)), (wanted, vec![]), "{policy}");
    }
}
