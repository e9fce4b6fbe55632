//! A tree against its kind's JSON schema: every unknown field, wrong type and missing member, each with its place.
//! Only the form is judged here. What a value means is its kind's to check, once the form is right.
use crate::{
    findings::{Findings, Problem},
    nearest::nearest,
    path,
    scalar::{Type, type_of},
    tree::{Key, Node, Value},
};
use serde_json::Value as Schema;

/// The member of a mapping's schema that lists members of earlier versions, each with what to do instead.
pub(crate) const REMOVED_MARK: &str = "x-machineadm-removed";

/// Lists longer than this are no help as a hint.
const NAMES_IN_A_HINT: usize = 8;

/// Reports everything about a tree's form that its schema does not allow.
pub(crate) fn walk(node: &Node, schema: &Schema, here: &str, findings: &mut Findings<'_>) {
    let schema = without_null(schema);
    match &node.value {
        Value::Mapping(entries) if allows(schema, "object") => walk_mapping(node, entries, schema, here, findings),
        Value::Sequence(items) if allows(schema, "array") => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &schema["items"], &path::item(here, index), findings);
            }
        }
        Value::Scalar { text, plain } => {
            if let Some(words) = choices(schema) {
                walk_choice(node, text, &words, here, findings);
            } else if !type_fits(text, *plain, schema) {
                findings.push(wrong_type(node, schema, here));
            } else if let Some((least, most)) = missed_range(text, schema) {
                findings.push(Problem::error(node.place, here, format!("must be from {least} to {most}")));
            }
        }
        Value::Mapping(_) | Value::Sequence(_) => findings.push(wrong_type(node, schema, here)),
    }
}

fn walk_mapping(node: &Node, entries: &[(Key, Node)], schema: &Schema, here: &str, findings: &mut Findings<'_>) {
    let mut misspelt = Vec::new();
    for (key, child) in entries {
        let there = path::member(here, &key.text);
        match &schema["properties"][key.text.as_str()] {
            property if property.is_object() => {
                if !child.is_null() {
                    walk(child, property, &there, findings);
                }
            }
            // Passed on as it is.
            _ if schema["additionalProperties"] == true => {}
            _ if !schema["additionalProperties"].is_object() => {
                let (problem, meant) = unknown_field(key, there, schema);
                misspelt.extend(meant);
                findings.push(problem);
            }
            _ if child.is_null() => findings.push(Problem::error(key.place, there, "has no value")),
            _ => walk(child, &schema["additionalProperties"], &there, findings),
        }
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Schema::as_str);
    // A member that is there under a misspelt name is one problem, not two.
    for name in required.filter(|name| node.get(name).is_none() && !misspelt.contains(name)) {
        findings.push(Problem::error(node.place, path::member(here, name), "required, but missing"));
    }
}

fn walk_choice(node: &Node, text: &str, words: &[&str], here: &str, findings: &mut Findings<'_>) {
    if words.contains(&text) {
        return;
    }
    let problem = Problem::error(node.place, here, format!("must be {}", listed(words)));
    findings.push(match nearest(text, words.iter().copied()) {
        Some(word) => problem.hint(format!("did you mean `{word}`?")),
        None => problem,
    });
}

/// An unknown field, and the known one that was probably meant.
fn unknown_field<'a>(key: &Key, there: String, schema: &'a Schema) -> (Problem, Option<&'a str>) {
    let problem = Problem::error(key.place, there, "unknown field");
    if let Some(instead) = schema[REMOVED_MARK][key.text.as_str()].as_str() {
        return (problem.hint(instead), None);
    }
    let known = names(schema);
    match nearest(&key.text, known.iter().copied()) {
        Some(name) => (problem.hint(format!("did you mean `{name}`?")), Some(name)),
        None if known.len() <= NAMES_IN_A_HINT => (problem.hint(format!("known fields: {}", listed(&known))), None),
        None => (problem, None),
    }
}

fn wrong_type(node: &Node, schema: &Schema, here: &str) -> Problem {
    let expected: Vec<&str> = types(schema).into_iter().map(in_words).collect();
    let (found, hint) = match &node.value {
        Value::Mapping(_) => ("a mapping", None),
        Value::Sequence(_) => ("a list", None),
        Value::Scalar { text, .. } => {
            let quote = allows(schema, "string").then_some("put it in quotes");
            match type_of(text) {
                Type::Null => ("empty", None),
                Type::Bool => ("true or false", quote),
                // In quotes it would not be a whole number either.
                Type::Number if allows(schema, "integer") => ("a number with a point or an exponent", None),
                Type::Integer | Type::Number => ("a number", quote),
                Type::Text => ("text", None),
            }
        }
    };
    let problem = Problem::error(node.place, here, format!("must be {}, not {found}", expected.join(" or ")));
    match hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// The numbers that fit into an integer of this schema, by its type.
fn range(schema: &Schema) -> Option<(i128, i128)> {
    match without_null(schema)["format"].as_str()? {
        "uint8" => Some((0, u8::MAX.into())),
        "uint16" => Some((0, u16::MAX.into())),
        "uint32" => Some((0, u32::MAX.into())),
        "uint64" => Some((0, u64::MAX.into())),
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        "int64" => Some((i64::MIN.into(), i64::MAX.into())),
        _ => None,
    }
}

/// The numbers that would fit, where a whole number does not.
fn missed_range(text: &str, schema: &Schema) -> Option<(i128, i128)> {
    let (least, most) = range(schema).filter(|_| type_of(text) == Type::Integer)?;
    let fits = text.parse::<i128>().is_ok_and(|number| (least..=most).contains(&number));
    (!fits).then_some((least, most))
}

/// Whether a schema allows a scalar.
pub(crate) fn scalar_fits(text: &str, plain: bool, schema: &Schema) -> bool {
    type_fits(text, plain, schema) && missed_range(text, schema).is_none()
}

/// Whether a schema allows a scalar of this type.
fn type_fits(text: &str, plain: bool, schema: &Schema) -> bool {
    match if plain { type_of(text) } else { Type::Text } {
        Type::Null => false,
        Type::Bool => allows(schema, "boolean"),
        Type::Integer => allows(schema, "integer") || allows(schema, "number"),
        Type::Number => allows(schema, "number"),
        Type::Text => allows(schema, "string"),
    }
}

/// An optional field's schema also allows null; here null already counts as the field not being there.
pub(crate) fn without_null(schema: &Schema) -> &Schema {
    match &variants(schema)[..] {
        [only] => without_null(only),
        _ => schema,
    }
}

fn variants(schema: &Schema) -> Vec<&Schema> {
    let listed = schema.get("anyOf").or(schema.get("oneOf")).and_then(Schema::as_array);
    listed.into_iter().flatten().filter(|variant| variant["type"] != "null").collect()
}

/// The words that a field chooses from.
pub(crate) fn choices(schema: &Schema) -> Option<Vec<&str>> {
    let schema = without_null(schema);
    if let Some(words) = schema["enum"].as_array() {
        return Some(words.iter().filter_map(Schema::as_str).collect());
    }
    let one = schema["const"].as_str();
    let some = variants(schema).into_iter().filter_map(choices).flatten();
    let words: Vec<&str> = one.into_iter().chain(some).collect();
    (!words.is_empty()).then_some(words)
}

/// The members that a mapping may have.
pub(crate) fn names(schema: &Schema) -> Vec<&str> {
    schema["properties"].as_object().into_iter().flat_map(|known| known.keys()).map(String::as_str).collect()
}

/// The types that a field may have, null left out.
pub(crate) fn types(schema: &Schema) -> Vec<&str> {
    let schema = without_null(schema);
    let listed: Vec<&str> = match &schema["type"] {
        Schema::String(one) => vec![one],
        Schema::Array(some) => some.iter().filter_map(Schema::as_str).collect(),
        _ => variants(schema).into_iter().flat_map(types).collect(),
    };
    let mut listed: Vec<&str> = listed.into_iter().filter(|name| *name != "null").collect();
    listed.dedup();
    listed
}

/// Whether a field may have this type.
pub(crate) fn allows(schema: &Schema, name: &str) -> bool {
    match &schema["type"] {
        Schema::String(one) => one == name,
        Schema::Array(some) => some.iter().any(|one| one == name),
        _ => types(schema).contains(&name),
    }
}

/// A JSON type, as people say it.
pub(crate) fn in_words(name: &str) -> &str {
    match name {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a mapping",
        other => other,
    }
}

/// Words in quotes, as in `` `a`, `b` or `c` ``.
pub(crate) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match &quoted[..] {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{found, read_text, with_spec};
    use serde_json::json;

    #[test]
    fn a_free_member_without_a_value_is_named_so() {
        let found = found(&with_spec("SysctlConfig", "parameters: {a.b: , a.c: 1}"));
        assert_eq!(found, ["spec.parameters[a.b]: has no value"]);
    }

    #[test]
    fn many_known_names_are_no_hint() {
        let read = read_text(&with_spec("CommandsConfig", "commands: [{name: a, argv: [ls], zzzzzz: 1}]"));
        let note = &read.report.notes[0];
        assert_eq!((note.message.as_str(), note.hint.as_deref()), ("unknown field", None));
    }

    #[test]
    fn quotes_help_a_number_only_where_text_is_wanted() {
        let hint = |kind: &str, spec: &str| read_text(&with_spec(kind, spec)).report.notes[0].hint.clone();
        let text = hint("FilesConfig", "files: [{path: /a, content: 1.5}]");
        assert_eq!(text.as_deref(), Some("put it in quotes"));
        assert_eq!(hint("SysctlConfig", "parameters: {a.b: 1.5}"), None, "whole numbers are wanted as well");
    }

    #[test]
    fn null_beside_one_other_form_is_that_form() {
        let form = json!({"type": "object", "properties": {"a": {}}});
        assert_eq!(without_null(&json!({"anyOf": [form, {"type": "null"}]})), &form);
        let two = json!({"anyOf": [form, {"type": "string"}]});
        assert_eq!(without_null(&two), &two);
    }
}
