//! From the text of one document to a tree of values, as the readers of Kubernetes' programs see it: YAML 1.1, with anchors, in limits.
mod json;
mod scalars;

use crate::wipe;
use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};
use scalars::plain;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Mappings and lists inside each other.
const DEPTH: usize = 64;
/// Keys and values of one document, those that aliases repeat included.
const NODES: usize = 100_000;

/// A document as a tree.
pub struct Tree {
    /// Its value.
    pub value: Value,
    /// Paths of keys that stand twice in their mapping; the last of them counts.
    pub repeated: Vec<String>,
}

impl Drop for Tree {
    fn drop(&mut self) {
        wipe(&mut self.value);
    }
}

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SyntaxError {
    /// The line of the document, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// The value of one document, YAML or JSON, as kubeadm or kubectl would see it; of a repeated key the last one counts.
pub fn value(text: &str) -> Result<Value, SyntaxError> {
    parse(text).map(|mut tree| std::mem::take(&mut tree.value))
}

/// Parses one document; what follows its end (`...`) is not looked at, as kubeadm does.
pub fn parse(text: &str) -> Result<Tree, SyntaxError> {
    refuse_control_characters(text)?;
    match parse_yaml(text) {
        // Some JSON is no YAML for the parser, such as tabs for indentation.
        Err(error) if text.trim_start().starts_with('{') => json::parse(text).ok_or(error),
        parsed => parsed,
    }
}

/// YAML forbids them, and the parser takes NUL for the end: what follows would be lost without a word.
fn refuse_control_characters(text: &str) -> Result<(), SyntaxError> {
    let is_bad = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let Some(at) = text.find(is_bad) else { return Ok(()) };
    let line = text[..at].matches('\n').count() + 1;
    Err(SyntaxError { line, message: "a control character is not allowed in YAML".to_owned() })
}

fn parse_yaml(text: &str) -> Result<Tree, SyntaxError> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| SyntaxError {
            line: error.marker().line(),
            // Fixed words, except for one text that quotes a character.
            message: match error.info() {
                info if info.starts_with("unexpected character") => "not valid YAML: unexpected character".to_owned(),
                info => format!("not valid YAML: {info}"),
            },
        })?;
        if event == Event::DocumentEnd {
            break;
        }
        builder.take(event, span)?;
    }
    Ok(Tree { value: builder.root.unwrap_or_default(), repeated: builder.repeated })
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Value>,
    repeated: Vec<String>,
    anchors: HashMap<usize, (Value, usize)>,
    nodes: usize,
}

/// A mapping or list that has not ended yet.
struct Open {
    anchor: usize,
    path: String,
    nodes_before: usize,
    items: Items,
}

enum Items {
    Sequence(Vec<Value>),
    Mapping { members: Map<String, Value>, merged: Vec<Value>, key: Option<Key> },
}

enum Key {
    Name(String),
    Merge,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        let line = span.start.line();
        let fail = |message: &str| SyntaxError { line, message: message.to_owned() };
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1, line)?;
                if self.wants_key() {
                    return self.key(&text, style, line);
                }
                let value = scalar(&text, style, tag.as_deref());
                self.put(value.ok_or_else(|| fail("a value that is neither text nor a number of JSON"))?, anchor, 1);
            }
            Event::SequenceStart(anchor, _) => self.start(anchor, Items::Sequence(Vec::new()), line)?,
            Event::MappingStart(anchor, _) => {
                let items = Items::Mapping { members: Map::new(), merged: Vec::new(), key: None };
                self.start(anchor, items, line)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(line)?,
            Event::Alias(anchor) => {
                let (value, nodes) = self.anchors.get(&anchor).cloned().ok_or_else(|| fail("an unknown alias"))?;
                self.count(nodes, line)?;
                if self.wants_key() {
                    return Err(fail("a key must be text"));
                }
                self.put(value, 0, nodes);
            }
            _ => {}
        }
        Ok(())
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { items: Items::Mapping { key: None, .. }, .. }))
    }

    /// Takes a scalar as the next key: what is no text becomes it, as kubeadm's reader does.
    fn key(&mut self, text: &str, style: ScalarStyle, line: usize) -> Result<(), SyntaxError> {
        let name = match (style, plain(text)) {
            (ScalarStyle::Plain, Some(Value::Bool(value))) => value.to_string(),
            (ScalarStyle::Plain, Some(Value::Number(number))) => number.to_string(),
            (ScalarStyle::Plain, Some(Value::Null) | None) => {
                return Err(SyntaxError { line, message: "a key must be text".to_owned() });
            }
            _ => text.to_owned(),
        };
        if let Some(Open { items: Items::Mapping { members, key, .. }, path, .. }) = self.open.last_mut() {
            if style == ScalarStyle::Plain && text == "<<" {
                *key = Some(Key::Merge);
                return Ok(());
            }
            if members.contains_key(&name) {
                self.repeated.push(member(path, &name));
            }
            *key = Some(Key::Name(name));
        }
        Ok(())
    }

    fn start(&mut self, anchor: usize, items: Items, line: usize) -> Result<(), SyntaxError> {
        self.count(1, line)?;
        if self.wants_key() {
            return Err(SyntaxError { line, message: "a key must be text".to_owned() });
        }
        if self.open.len() == DEPTH {
            return Err(SyntaxError { line, message: format!("nested more than {DEPTH} deep") });
        }
        let path = match self.open.last() {
            None => String::new(),
            Some(Open { path, items: Items::Sequence(items), .. }) => format!("{path}[{}]", items.len()),
            Some(Open { path, items: Items::Mapping { key: Some(Key::Name(name)), .. }, .. }) => member(path, name),
            Some(Open { path, .. }) => path.clone(),
        };
        self.open.push(Open { anchor, path, nodes_before: self.nodes, items });
        Ok(())
    }

    fn end(&mut self, line: usize) -> Result<(), SyntaxError> {
        let Some(Open { anchor, nodes_before, items, .. }) = self.open.pop() else { return Ok(()) };
        let value = match items {
            Items::Sequence(items) => Value::Array(items),
            Items::Mapping { members, merged, .. } => merge(members, merged).ok_or_else(|| SyntaxError {
                line,
                message: "`<<` must name a mapping or a list of them".to_owned(),
            })?,
        };
        self.put(value, anchor, self.nodes - nodes_before + 1);
        Ok(())
    }

    fn put(&mut self, value: Value, anchor: usize, nodes: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), nodes));
        }
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.root = Some(value),
            Some(Items::Sequence(items)) => items.push(value),
            Some(Items::Mapping { members, merged, key }) => match key.take() {
                Some(Key::Name(name)) => drop(members.insert(name, value)),
                Some(Key::Merge) => merged.push(value),
                None => {}
            },
        }
    }

    fn count(&mut self, nodes: usize, line: usize) -> Result<(), SyntaxError> {
        self.nodes += nodes;
        let full = || SyntaxError { line, message: "too many keys and values".to_owned() };
        if self.nodes > NODES { Err(full()) } else { Ok(()) }
    }
}

/// A mapping with what `<<` adds: its own members win, then those that were named first.
fn merge(mut members: Map<String, Value>, merged: Vec<Value>) -> Option<Value> {
    for source in merged {
        let sources = match source {
            Value::Array(sources) => sources,
            source => vec![source],
        };
        for source in sources {
            let Value::Object(source) = source else { return None };
            for (name, value) in source {
                members.entry(name).or_insert(value);
            }
        }
    }
    Some(Value::Object(members))
}

/// The value of a scalar; `None` for what JSON can't hold.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Option<Value> {
    let is_text = tag.is_some_and(|tag| tag.suffix == "str" || tag.suffix.is_empty());
    if style == ScalarStyle::Plain && !is_text { plain(text) } else { Some(Value::from(text)) }
}

fn member(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(text: &str) -> Value {
        super::value(text).unwrap()
    }

    #[test]
    fn anchors_and_merges_are_written_out() {
        let text = "a: &a {x: 1, z: [on]}\nb: *a\nc:\n  <<: *a\n  x: 2\n";
        let a = json!({"x": 1, "z": [true]});
        assert_eq!(value(text), json!({"a": a, "b": a, "c": {"x": 2, "z": [true]}}));
    }

    #[test]
    fn json_is_read_even_with_tabs() {
        assert_eq!(value("{\n\t\"a\": [1,\n\t\t2]\n}"), json!({"a": [1, 2]}));
    }

    #[test]
    fn a_repeated_key_is_named_and_the_last_one_counts() {
        let tree = parse("a:\n- {b: 1, b: 2}\n").unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!((&tree.value, &tree.repeated[..]), (&json!({"a": [{"b": 2}]}), &["a[0].b".to_owned()][..]));
    }

    #[test]
    fn quoted_words_stay_words_and_keys_become_text() {
        assert_eq!(
            value("{a: 'yes', b: \"014\", c: !!str 5, on: x, 7: z}"),
            json!({
                "a": "yes", "b": "014", "c": "5", "true": "x", "7": "z"
            })
        );
    }

    #[test]
    fn bombs_are_refused() {
        let mut text = String::from("a: &a [x, x, x, x, x, x, x, x, x]\n");
        for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
            text.push_str(&format!("{to}: &{to} [{}]\n", vec![format!("*{from}"); 9].join(", ")));
        }
        assert_eq!(parse(&text).err().map(|error| error.message), Some("too many keys and values".to_owned()));
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
