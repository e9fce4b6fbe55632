//! What a kind or a field means, from its schema: the text of `machineadm explain`.
use crate::{
    KINDS, Kind, SECRET_MARK,
    nearest::did_you_mean,
    printable::printable,
    schema::{choices, in_words, listed, names, types, without_null},
};
use serde_json::Value as Schema;
use std::fmt::Write;

/// A path that names nothing, with what may have been meant.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExplainError(String);

const WIDTH: usize = 88;

/// Explains `KIND` or `KIND.field…`, such as `FilesConfig.spec.files.mode`; without a path it lists the kinds.
/// The kind's case does not matter.
pub fn explain(path: &str) -> Result<String, ExplainError> {
    let mut parts = path.split('.').map(|part| part.split('[').next().unwrap_or_default());
    let name = parts.next().unwrap_or_default();
    if name.is_empty() {
        return Ok(all_kinds());
    }
    let Some(kind) = KINDS.iter().find(|known| known.kind.eq_ignore_ascii_case(name)) else {
        let known: Vec<&str> = KINDS.iter().map(|known| known.kind).collect();
        return Err(unknown(format!("unknown kind `{}`", printable(name)), name, &known));
    };
    let schema = (kind.schema)();
    let mut here = kind.kind.to_owned();
    let mut field = Field { schema: &schema, required: true };
    for part in parts {
        field = field
            .member(part)
            .map_err(|known| unknown(format!("`{here}` has no field `{}`", printable(part)), part, &known))?;
        here = format!("{here}.{part}");
    }
    Ok(if here == kind.kind { explain_kind(kind, field) } else { explain_field(&here, field) })
}

fn unknown(message: String, written: &str, known: &[&str]) -> ExplainError {
    let hint = did_you_mean(written, known.iter().copied());
    ExplainError(match hint {
        Some(hint) => format!("{message}; {hint}"),
        None if known.is_empty() => format!("{message}; it has none"),
        None => format!("{message}; use one of {}", known.join(", ")),
    })
}

fn all_kinds() -> String {
    let width = KINDS.iter().map(|kind| kind.kind.len()).max().unwrap_or_default();
    KINDS.iter().map(|kind| format!("{:width$}   {}\n", kind.kind, kind.summary)).collect()
}

fn explain_kind(kind: &Kind, field: Field<'_>) -> String {
    let example: String = kind.example.lines().map(|line| format!("  {line}\n")).collect();
    let mut fields = String::new();
    field.write_members(1, &mut fields);
    format!(
        "{}   {}\n\n{}\nFields\n{fields}\nExample\n{example}",
        kind.kind,
        kind.api_version,
        wrapped(kind.summary, 2)
    )
}

fn explain_field(path: &str, field: Field<'_>) -> String {
    let mut text = format!("{path}   {}\n\n{}", field.facts(), wrapped(field.description(), 2));
    let item = field.contained();
    if item.description() != field.description() && !item.description().is_empty() {
        text.push_str(&wrapped(item.description(), 2));
    }
    let mut fields = String::new();
    field.write_members(1, &mut fields);
    if !fields.is_empty() {
        text.push_str(&format!("\nFields\n{fields}"));
    }
    text
}

/// A field's schema, and whether the field must be there.
#[derive(Clone, Copy)]
struct Field<'a> {
    schema: &'a Schema,
    required: bool,
}

impl<'a> Field<'a> {
    /// The field inside this one, also through a list; or the names there are.
    fn member(self, name: &str) -> Result<Self, Vec<&'a str>> {
        let schema = self.contained().schema;
        let known = names(schema);
        if known.contains(&name) {
            let required = schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name));
            return Ok(Self { schema: &schema["properties"][name], required });
        }
        match &schema["additionalProperties"] {
            free if free.is_object() => Ok(Self { schema: free, required: false }),
            _ => Err(known),
        }
    }

    /// What a list is made of; anything else is itself.
    fn contained(self) -> Self {
        match &self.schema["items"] {
            items if items.is_object() => Self { schema: without_null(items), ..self },
            _ => Self { schema: without_null(self.schema), ..self },
        }
    }

    fn description(self) -> &'a str {
        self.schema["description"].as_str().unwrap_or_default()
    }

    /// Type, whether it is required, its default, whether it is secret.
    fn facts(self) -> String {
        let mut facts = vec![type_in_words(self.schema)];
        if self.required {
            facts.push("required".to_owned());
        }
        match &self.schema["default"] {
            Schema::String(default) => facts.push(format!("default `{default}`")),
            default @ (Schema::Bool(_) | Schema::Number(_)) => facts.push(format!("default `{default}`")),
            _ => {}
        }
        if self.schema[SECRET_MARK] == true || self.schema["additionalProperties"][SECRET_MARK] == true {
            facts.push("secret".to_owned());
        }
        facts.join(", ")
    }

    fn write_members(self, depth: usize, out: &mut String) {
        for name in names(self.contained().schema) {
            let Ok(member) = self.member(name) else { continue };
            let indent = "  ".repeat(depth);
            // Writing into a String can't fail.
            _ = writeln!(out, "{indent}{name}   {}", member.facts());
            out.push_str(&wrapped(member.description(), depth * 2 + 4));
            member.write_members(depth + 1, out);
        }
    }
}

/// The type of a field in words, such as ``list of `a` or `b` `` or `mapping of names to text`.
pub fn type_in_words(schema: &Schema) -> String {
    if let Some(words) = choices(schema) {
        return listed(&words);
    }
    let schema = without_null(schema);
    let one = |name: &str| match (name, &schema["items"], &schema["additionalProperties"]) {
        ("array", items, _) => format!("list of {}", plural(items)),
        ("object", _, free) if free.is_object() => format!("mapping of names to {}", type_in_words(free)),
        (other, ..) => in_words(other).trim_start_matches("a ").to_owned(),
    };
    types(schema).into_iter().map(one).collect::<Vec<_>>().join(" or ")
}

/// The same for more than one of them.
fn plural(schema: &Schema) -> String {
    if choices(schema).is_some() {
        return type_in_words(schema);
    }
    let mut words = Vec::new();
    for name in types(schema) {
        words.push(match name {
            "integer" => "whole numbers",
            "number" => "numbers",
            "array" => "lists",
            "object" => "mappings",
            other => in_words(other),
        });
    }
    words.join(" or ")
}

/// The text in lines that fit a terminal, each indented and ended.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if indent + line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{:indent$}{line}\n", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_explained_with_type_default_and_meaning() {
        let text = explain("commandsconfig.spec.commands.timeout").unwrap();
        assert!(
            text.starts_with("CommandsConfig.spec.commands.timeout   text, default `30m`\n\n  Timeout such as"),
            "{text}"
        );
        let text = explain("FilesConfig.spec.files[0].content").unwrap();
        assert!(text.starts_with("FilesConfig.spec.files.content   text, secret\n"), "{text}");
        let text = explain("CommandsConfig.spec.commands.needsReboot").unwrap();
        assert!(
            text.starts_with("CommandsConfig.spec.commands.needsReboot   true or false, default `false`\n"),
            "{text}"
        );
    }

    #[test]
    fn choices_lists_and_mappings_say_what_they_hold() {
        let first = |path: &str| explain(path).unwrap().lines().next().unwrap().to_owned();
        let parameters = "SysctlConfig.spec.parameters   mapping of names to text or whole number, required";
        assert_eq!(first("SysctlConfig.spec.parameters"), parameters);
        assert_eq!(first("CommandsConfig.spec.commands"), "CommandsConfig.spec.commands   list of mappings, required");
        let run = "CommandsConfig.spec.commands.run   `once` or `always`, default `once`";
        assert_eq!(first("CommandsConfig.spec.commands.run"), run);
    }

    #[test]
    fn every_kind_and_field_is_explained() {
        fn visit(path: &str, schema: &Schema) {
            let text = explain(path).unwrap();
            assert!(text.lines().count() > 2, "{path} has no description:\n{text}");
            let inner = Field { schema, required: false }.contained().schema;
            names(inner).into_iter().for_each(|name| visit(&format!("{path}.{name}"), &inner["properties"][name]));
        }
        KINDS.iter().for_each(|kind| visit(kind.kind, &(kind.schema)()));
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        assert_eq!(explain("FileConfig").unwrap_err().0, "unknown kind `FileConfig`; did you mean `FilesConfig`?");
        let message = "`FilesConfig.spec` has no field `fils`; did you mean `files`?";
        assert_eq!(explain("FilesConfig.spec.fils").unwrap_err().0, message);
        assert!(explain("FilesConfig.spec.files.path.x").is_err());
    }

    #[test]
    fn no_path_lists_the_kinds() {
        assert_eq!(explain("").unwrap().lines().count(), KINDS.len());
    }
}
