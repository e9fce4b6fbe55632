//! Right and wrong values of single fields: refused exactly where `kubeadm config validate` of 1.36.4 refuses them.
use machineadm_kubeadm::{Rules, Severity, Source, Strictness, check, read};
use serde_json::Value;

const CASES: &str = include_str!("../vectors/validate/kubeadm-1.36.4.json");

/// Whether a token has ended already, only a clock can tell.
const NEEDS_A_CLOCK: &str = "expires: '2001-";

#[test]
fn values_are_refused_exactly_where_kubeadm_refuses_them() {
    let cases: Value = serde_json::from_str(CASES).expect("the cases");
    let cases = cases.as_array().expect("a list");
    assert_eq!(cases.len(), 132);
    for case in cases.iter().filter(|case| !case["text"].as_str().is_some_and(|text| text.contains(NEEDS_A_CLOCK))) {
        let text = case["text"].as_str().expect("a text");
        let rules = Rules { strictness: Strictness::Strict, minor: Some(36) };
        let read = read(&[Source { name: "case", text }], rules);
        let refusals = check(&read.documents, Some(36));
        let refused = read.has_errors() || refusals.iter().any(|refusal| refusal.severity == Severity::Error);
        assert_eq!(Some(!refused), case["accepted"].as_bool(), "{}: {refusals:?} {:?}", case["case"], read.problems);
    }
}
