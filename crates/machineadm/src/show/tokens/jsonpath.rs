//! The part of kubectl's jsonpath templates that flat objects need: text, `{"quoted"}`, `{.field}`, `{.field[0]}`,
//! `{.field[*]}`. The crates that read jsonpath know RFC 9535, which has no templates.
use super::Listed;
use serde_json::Value;

/// A template that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<Part>,
    /// Whether a field that a token lacks is an error; else it is empty.
    is_strict: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(String, Items),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Items {
    Whole,
    All,
    One(usize),
}

impl Template {
    /// Reads a template, or says which part is not understood.
    pub(crate) fn read(mut text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        while let Some(at) = text.find('{') {
            let (before, rest) = text.split_at(at);
            let end = closing(rest).ok_or("jsonpath: a `{` is not closed")?;
            parts.push(Part::Text(before.to_owned()));
            parts.push(part(rest[1..end].trim())?);
            text = &rest[end + 1..];
        }
        parts.push(Part::Text(text.to_owned()));
        Ok(Self { parts, is_strict: false })
    }

    /// The same, for which a field that a token lacks is an error.
    pub(crate) fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    /// What it comes to for one token, or the field that it lacks.
    pub(crate) fn fill(&self, token: &Listed<'_>) -> Result<String, String> {
        let value = serde_json::to_value(token).unwrap_or_default();
        let is_lacking = |name: &&String| self.is_strict && value[name.as_str()].is_null();
        let mut fields = self.parts.iter().filter_map(|part| match part {
            Part::Field(name, _) => Some(name),
            Part::Text(_) => None,
        });
        match fields.find(is_lacking) {
            Some(name) => Err(name.clone()),
            None => Ok(self.parts.iter().map(|part| filled(part, &value)).collect()),
        }
    }
}

/// Where the brace that opens the text is closed; quoted ones don't count.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(at, c)| {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '}') => return Some(at),
            _ => {}
        }
        None
    })
}

fn part(inside: &str) -> Result<Part, String> {
    let quoted = ['"', '\''].into_iter().find_map(|quote| inside.strip_prefix(quote)?.strip_suffix(quote));
    if let Some(text) = quoted {
        return Ok(Part::Text(text.replace("\\n", "\n").replace("\\t", "\t")));
    }
    let unknown =
        || format!("jsonpath: `{{{inside}}}` is not understood: fields of a token, such as `{{.token}}`, are");
    let path = inside.strip_prefix('$').unwrap_or(inside).strip_prefix('.').ok_or_else(unknown)?;
    let (name, items) = match path.split_once('[') {
        None => (path, Items::Whole),
        Some((name, "*]")) => (name, Items::All),
        Some((name, index)) => {
            let index = index.strip_suffix(']').and_then(|index| index.parse().ok()).ok_or_else(unknown)?;
            (name, Items::One(index))
        }
    };
    let known = ["kind", "apiVersion", "token", "description", "expires", "usages", "groups"].contains(&name);
    if known { Ok(Part::Field(name.to_owned(), items)) } else { Err(unknown()) }
}

fn filled(part: &Part, token: &Value) -> String {
    let (name, items) = match part {
        Part::Text(text) => return text.clone(),
        Part::Field(name, items) => (name, items),
    };
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match (&token[name], items) {
        (Value::Array(list), Items::All) => list.iter().map(word).collect::<Vec<_>>().join(" "),
        (Value::Array(list), Items::One(index)) => list.get(*index).map(word).unwrap_or_default(),
        (list @ Value::Array(_), Items::Whole) => list.to_string(),
        (value, _) => word(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use discovery::TokenSettings;

    fn filled(template: &Template) -> Result<String, String> {
        let mut token = TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap());
        token.usages = ["authentication", "signing"].map(str::to_owned).into();
        template.fill(&Listed::from(&token))
    }

    #[test]
    fn a_template_is_filled() {
        for (template, wanted) in [
            (r#"{.token}{"\n"}"#, "abcdef.0123456789abcdef\n"),
            ("a {.usages[*]} b {.usages[1]}{.usages[7]}", "a authentication signing b signing"),
            ("{.usages}", r#"["authentication","signing"]"#),
            ("{.description}{'}'}", "}"),
        ] {
            let filled = Template::read(template).and_then(|template| filled(&template));
            assert_eq!(filled.as_deref(), Ok(wanted));
        }
    }

    #[test]
    fn a_strict_template_names_what_a_token_lacks() {
        let strict = |template| filled(&Template::read(template).unwrap().strict());
        assert_eq!(strict("{.token}{.expires}"), Err("expires".to_owned()));
        assert_eq!(strict("{.usages[0]}").as_deref(), Ok("authentication"));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for template in ["{.token", "{range .items[*]}", "{.tokens}", "{.usages[x]}", "{.usages[?(@)]}"] {
            assert!(Template::read(template).is_err_and(|problem| problem.starts_with("jsonpath: ")), "{template}");
        }
    }
}
