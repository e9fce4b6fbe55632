//! Members that InitConfig passes on to the kubelet and kube-proxy: checked against the fields of the Kubernetes version.
use super::{
    init::Members,
    instance_value::{has_instance_values, instance_value_problem},
};
use crate::{findings::Findings, path, report::Severity};
use objects::component_fields::{self, Component, FieldProblem, Reason, Step};
use serde_json::Value;

/// Reports what the component would ignore or refuse. Without a minor version, fields of any version are accepted.
pub(super) fn check(component: Component, members: &Members, minor: Option<u32>, findings: &mut Findings<'_>) {
    let here = match component {
        Component::Kubelet => "spec.kubelet",
        Component::KubeProxy => "spec.kubeProxy",
    };
    for name in ["apiVersion", "kind"].iter().filter(|name| members.contains_key(**name)) {
        findings.error(&path::member(here, name), "is set by machineadm; remove it");
    }
    for (name, member) in members {
        check_texts(&path::member(here, name), member, findings);
    }
    for FieldProblem { path, reason } in component_fields::check(component, members, minor) {
        // A version that is newer than the tables may have the field.
        let is_uncertain = matches!(reason, Reason::NotKnownYet { .. });
        let severity = if is_uncertain { Severity::Warning } else { Severity::Error };
        let added = findings.add(severity, &below(here, &path), reason.to_string());
        if let Some(hint) = reason.hint() {
            added.hint(hint);
        }
    }
}

/// Reports texts in whose braces something else stands than a value of the instance.
fn check_texts(here: &str, member: &Value, findings: &mut Findings<'_>) {
    match member {
        Value::String(text) if has_instance_values(text) => {
            if let Some(problem) = instance_value_problem(text) {
                findings.error(here, problem);
            }
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| check_texts(&path::item(here, index), item, findings));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| check_texts(&path::member(here, name), member, findings));
        }
        _ => {}
    }
}

/// The path of a field below another one.
fn below(here: &str, steps: &[Step]) -> String {
    steps.iter().fold(here.to_owned(), |parent, step| match step {
        Step::Member(name) => path::member(&parent, name),
        Step::Item(index) => path::item(&parent, *index),
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, read_text, with_spec};

    fn problems_with(member: &str) -> Vec<String> {
        found(&with_spec("InitConfig", &format!("{{kubernetesVersion: v1.36.4, {member}}}")))
    }

    #[test]
    fn misspelt_and_mistyped_fields_of_the_kubelet_are_refused_at_every_level() {
        let kubelet =
            "kubelet: {maxPod: 1, failSwapOn: 'no', clusterDNS: [10], authentication: {webhook: {enabeld: true}}}";
        let expected = [
            "spec.kubelet.maxPod: unknown field",
            "spec.kubelet.failSwapOn: must be true or false, not text",
            "spec.kubelet.clusterDNS[0]: must be text, not a number",
            "spec.kubelet.authentication.webhook.enabeld: unknown field",
        ];
        assert_eq!(problems_with(kubelet), expected);
        let eviction = "spec.kubelet.evictionHard[memory.available]: must be text, not a number";
        assert_eq!(problems_with("kubelet: {evictionHard: {memory.available: 100}}"), [eviction]);
        assert_eq!(problems_with("kubeProxy: {mode: 5}").len(), 1);
        assert_eq!(problems_with("kubelet: {maxPods: 110, evictionHard: {memory.available: 100Mi}}"), [""; 0]);
    }

    #[test]
    fn a_field_of_the_kubelet_that_the_kubernetes_version_lacks_is_refused() {
        let of = |version: &str| {
            let spec = format!("{{kubernetesVersion: {version}, kubelet: {{failCgroupV1: false}}}}");
            found(&with_spec("InitConfig", &spec))
        };
        let expected = "spec.kubelet.failCgroupV1: unknown field in Kubernetes 1.30: it exists since Kubernetes 1.31";
        assert_eq!((of("v1.30.14"), of("v1.31.0")), (vec![expected.to_owned()], vec![]));
    }

    #[test]
    fn an_unknown_field_of_a_version_newer_than_the_table_is_only_a_warning() {
        let spec = "{kubernetesVersion: v1.38.0, kubelet: {brandNew: 1, maxPods: one}}";
        let report = read_text(&with_spec("InitConfig", spec)).report;
        let errors = report.notes.iter().filter(|note| note.severity.is_error()).map(|note| note.path.as_str());
        assert_eq!(errors.collect::<Vec<_>>(), ["spec.kubelet.maxPods"]);
        assert!(report.notes.iter().any(|note| note.path == "spec.kubelet.brandNew"), "{report}");
    }

    #[test]
    fn a_mistyped_value_of_the_kubelet_is_not_quoted() {
        for member in ["maxPods: hunter2", "syncFrequency: hunter2", "clusterDNS: hunter2", "evictionHard: [hunter2]"] {
            let report =
                read_text(&with_spec("InitConfig", &format!("{{kubernetesVersion: v1.36.4, kubelet: {{{member}}}}}")));
            let report = report.report.to_string();
            assert!(report.contains("must be") && !report.contains("hunter2"), "{report}");
        }
    }
}
