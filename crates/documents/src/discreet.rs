//! Paths in documents that came sealed: only names that everybody knows from the schema are shown, none of the
//! document's own.
use crate::schema::without_null;
use serde_json::{Value as Schema, json};

/// The part of a path that the schema knows.
pub(crate) fn known_part<'a>(path: &'a str, schema: &Schema) -> &'a str {
    let mut here = without_null(schema);
    let mut end = 0;
    while let Some((step, length)) = next(&path[end..], here) {
        here = without_null(step);
        end += length;
    }
    &path[..end]
}

/// What every document has, for those whose kind nobody knows.
pub(crate) fn any_document() -> Schema {
    json!({"properties": {"apiVersion": {}, "kind": {}, "metadata": {}, "spec": {}}})
}

/// The schema of a path's next step, and how much of the path that step is.
fn next<'a>(path: &str, schema: &'a Schema) -> Option<(&'a Schema, usize)> {
    let (found, length) = match path.strip_prefix('[') {
        Some(index) => {
            let digits = index.split(']').next().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
            (&schema["items"], digits.len() + 2)
        }
        None => {
            let name = path.strip_prefix('.').unwrap_or(path);
            let name = &name[..name.find(['.', '[']).unwrap_or(name.len())];
            (&schema["properties"][name], name.len() + usize::from(path.starts_with('.')))
        }
    };
    (found.is_object() && length > 0).then_some((found, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KINDS;

    fn part<'a>(kind: &str, path: &'a str) -> &'a str {
        known_part(path, &(KINDS.iter().find(|known| known.kind == kind).unwrap().schema)())
    }

    #[test]
    fn names_of_the_schema_stay_and_those_of_the_document_go() {
        assert_eq!(part("FilesConfig", "spec.files[0].path"), "spec.files[0].path");
        assert_eq!(part("FilesConfig", "spec.files[0].hunter2"), "spec.files[0]");
        assert_eq!(part("SysctlConfig", "spec.parameters[a.b[0]]"), "spec.parameters");
        assert_eq!(part("CommandsConfig", "spec.commands[10].environment.HUNTER2"), "spec.commands[10].environment");
        assert_eq!(part("InitConfig", "spec.kubelet.hunter2"), "spec.kubelet");
        assert_eq!(known_part("hunter2.a", &any_document()), "");
        assert_eq!(known_part("spec.hunter2", &any_document()), "spec");
    }
}
