//! What the check says about configurations.
use super::{Component, Step, check};
use serde_json::Value;

/// The problems of a kubelet's configuration, one line each.
fn problems(text: &str, minor: Option<u32>) -> Vec<String> {
    problems_of(Component::Kubelet, text, minor)
}

fn problems_of(component: Component, text: &str, minor: Option<u32>) -> Vec<String> {
    let value = crate::yaml::value(text).expect("YAML");
    let members = value.as_object().expect("a mapping");
    let line = |problem: super::FieldProblem| {
        let path: String = problem.path.iter().map(step).collect();
        let hint = problem.reason.hint().map_or(String::new(), |hint| format!("; {hint}"));
        format!("{}: {}{hint}", path.trim_start_matches('.'), problem.reason)
    };
    check(component, members, minor).into_iter().map(line).collect()
}

fn step(step: &Step) -> String {
    match step {
        Step::Member(name) => format!(".{name}"),
        Step::Item(index) => format!("[{index}]"),
    }
}

const NONE: [&str; 0] = [];

#[test]
fn a_misspelt_field_is_found_at_every_level() {
    let text = "
maxPodz: 1
MaxPods: 1
nothingLikeIt: 1
authentication: {webhook: {enabeld: true}}
registerWithTaints: [{key: a}, {kye: b}]
reservedMemory: [{limit: {}}]
evictionHard: {memory.available: 1Gi, anything: 1Gi}
";
    let expected = [
        "maxPodz: unknown field; did you mean `maxPods`?",
        "MaxPods: unknown field; did you mean `maxPods`?",
        "nothingLikeIt: unknown field",
        "authentication.webhook.enabeld: unknown field; did you mean `enabled`?",
        "registerWithTaints[1].kye: unknown field; did you mean `key`?",
        "reservedMemory[0].limit: unknown field; did you mean `limits`?",
    ];
    let mut found = problems(text, Some(36));
    found.sort_by_key(|line| expected.iter().position(|expected| expected == line));
    assert_eq!(found, expected);
    assert_eq!(problems_of(Component::KubeProxy, "ipvs: {strictArp: true}", None).len(), 1);
}

#[test]
fn a_field_of_another_version_names_the_version() {
    let since = ["failCgroupV1: unknown field in Kubernetes 1.30: it exists since Kubernetes 1.31"];
    assert_eq!(problems("failCgroupV1: false", Some(30)), since);
    assert_eq!(problems("failCgroupV1: false", Some(31)), NONE);
    assert_eq!(problems("failCgroupV1: false", None), NONE);
    let until = ["logging.sanitization: unknown field in Kubernetes 1.24: it existed until Kubernetes 1.23"];
    assert_eq!(problems("logging: {sanitization: true}", Some(24)), until);
    assert_eq!(problems("logging: {sanitization: true}", Some(23)), NONE);
    assert_eq!(problems("logging: {sanitization: true}", None), NONE);
}

#[test]
fn a_field_whose_type_changed_is_read_as_its_version_reads_it() {
    assert_eq!(problems("logging: {flushFrequency: 5s}", Some(28)), NONE);
    let number = ["logging.flushFrequency: must be a whole number, not text"];
    assert_eq!(problems("logging: {flushFrequency: 5s}", Some(27)), number);
    assert_eq!(problems("logging: {flushFrequency: 5s}", None), NONE);
    assert_eq!(problems("logging: {flushFrequency: 5}", None), NONE);
}

#[test]
fn a_version_beyond_the_table_is_judged_by_its_nearest_one() {
    assert_eq!(problems("maxPods: 1", Some(13)), NONE);
    assert_eq!(problems("maxPods: 1", Some(40)), NONE);
    let newest = "unknown field in Kubernetes 1.37, the newest version that this machineadm knows";
    assert_eq!(problems("brandNew: 1", Some(38)), [format!("brandNew: {newest}")]);
}

#[test]
fn a_mistyped_value_names_the_type_and_not_the_value() {
    for (text, expected) in [
        ("failSwapOn: hunter2", "failSwapOn: must be true or false, not text"),
        ("maxPods: hunter2", "maxPods: must be a whole number, not text"),
        ("maxPods: 1.5", "maxPods: must be a whole number"),
        ("maxPods: 5000000000", "maxPods: must be a whole number from -2147483648 to 2147483647"),
        ("syncFrequency: hunter2", "syncFrequency: must be a duration such as `10s`"),
        ("syncFrequency: 10", "syncFrequency: must be a duration such as `10s`, not a number"),
        ("syncFrequency: null", "syncFrequency: must be a duration such as `10s`, not empty"),
        ("clusterDomain: 10", "clusterDomain: must be text, not a number; put it in quotes"),
        ("clusterDNS: hunter2", "clusterDNS: must be a list, not text"),
        ("clusterDNS: [a, 10]", "clusterDNS[1]: must be text, not a number; put it in quotes"),
        ("evictionHard: [hunter2]", "evictionHard: must be a mapping, not a list"),
        ("featureGates: {A: 'true'}", "featureGates.A: must be true or false, not text"),
        ("staticPodURLHeader: {a: hunter2}", "staticPodURLHeader.a: must be a list, not text"),
        ("logging: {verbosity: -1}", "logging.verbosity: must be a whole number from 0 to 4294967295"),
    ] {
        assert_eq!(problems(text, Some(36)), [expected], "{text}");
    }
}

#[test]
fn names_that_look_like_paths_of_the_table_are_unknown_fields() {
    for name in ["authentication.webhook", "clusterDNS[]", "evictionHard{}", ""] {
        let members = [(name.to_owned(), Value::Null)].into_iter().collect();
        assert_eq!(check(Component::Kubelet, &members, None).len(), 1, "{name}");
    }
}

#[test]
fn many_unknown_fields_are_all_reported() {
    let members = (0..20_000).map(|n| (format!("maxPods{n}"), Value::Null)).collect();
    assert_eq!(check(Component::Kubelet, &members, Some(36)).len(), 20_000);
}
