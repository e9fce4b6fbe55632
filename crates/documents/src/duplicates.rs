//! Keys that are written twice in one mapping: YAML forbids them, and readers disagree about which one counts.
use crate::{
    findings::{Findings, Problem},
    path,
    tree::{Node, Value},
};

/// Reports every key that was already there, with both places.
pub(crate) fn find_duplicates(node: &Node, here: &str, findings: &mut Findings<'_>) {
    match &node.value {
        Value::Scalar { .. } => {}
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                find_duplicates(item, &path::item(here, index), findings);
            }
        }
        Value::Mapping(entries) => {
            let mut keys: Vec<_> = entries.iter().map(|(key, _)| key).collect();
            keys.sort_by(|a, b| a.text.cmp(&b.text).then(a.place.cmp(&b.place)));
            for same in keys.chunk_by(|a, b| a.text == b.text) {
                for key in &same[1..] {
                    let message =
                        format!("duplicate key, already set at {}:{}", same[0].place.line, same[0].place.column);
                    let problem = Problem::error(key.place, path::member(here, &key.text), message);
                    findings.push(problem.hint("remove one of the two"));
                }
            }
            let collections = entries.iter().filter(|(_, child)| !matches!(child.value, Value::Scalar { .. }));
            for (key, child) in collections {
                find_duplicates(child, &path::member(here, &key.text), findings);
            }
        }
    }
}
