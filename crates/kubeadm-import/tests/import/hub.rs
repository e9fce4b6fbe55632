//! kubeadm's documents for tests, written as the hub's YAML, and what the import says of them.
use kubeadm::hub::Documents;
use machineadm_kubeadm_import::{
    FieldNote, ImportReport, ImportedInit, ImportedJoin, UnsupportedField, init_config, join_config,
};
use serde_json::Value;

/// The tree of a YAML text.
pub(crate) fn tree(yaml: &str) -> Value {
    kubeadm::parse_yaml(yaml).expect("YAML")
}

/// Documents by the names of the hub: `cluster`, `init`, `join`.
pub(crate) fn documents(yaml: &str) -> Documents {
    serde_json::from_value(tree(yaml)).expect("the hub")
}

/// The InitConfig of `init` and `cluster`.
pub(crate) fn init(yaml: &str) -> ImportedInit {
    let Documents { init, cluster, .. } = documents(yaml);
    init_config(init, cluster, &[])
}

/// The JoinConfig of `join`.
pub(crate) fn join(yaml: &str) -> ImportedJoin {
    join_config(documents(yaml).join.expect("a join"))
}

/// Each unsupported field in a line: `path = value (why)`, without the reason that holds for most.
pub(crate) fn unsupported(report: &ImportReport) -> Vec<String> {
    let usual = report.no_field();
    let line = |UnsupportedField { path, value, why }: &UnsupportedField| match *why == usual {
        true => format!("{path} = {value}"),
        false => format!("{path} = {value} ({why})"),
    };
    report.unsupported.iter().map(line).collect()
}

/// Each note in a line.
pub(crate) fn notes(report: &ImportReport) -> Vec<String> {
    report.notes.iter().map(|FieldNote { path, text }| format!("{path} {text}")).collect()
}
