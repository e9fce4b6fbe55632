//! From the parser's events to a tree: anchors and merges written out, in limits.
use super::{
    SyntaxError,
    limits::{COPIED, DEPTH, NODES, Repeated, item, member, too_deep, too_many},
    scalars::plain,
};
use saphyr_parser::{Event, ScalarStyle, Span, Tag};
use serde_json::{Map, Value};
use std::collections::HashMap;

#[derive(Default)]
pub(super) struct Builder {
    open: Vec<Open>,
    pub(super) root: Option<Value>,
    pub(super) repeated: Repeated,
    anchors: HashMap<usize, (Value, Size)>,
    /// All that was read, what aliases repeat included.
    size: Size,
    /// What anchors and aliases copied.
    copied: usize,
}

/// How large a value is.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
}

impl Size {
    /// One key or value of this text.
    fn of(text: &str) -> Self {
        Self { nodes: 1, bytes: text.len() }
    }

    fn since(self, before: Self) -> Self {
        Self { nodes: self.nodes - before.nodes, bytes: self.bytes - before.bytes }
    }
}

/// A mapping or list that has not ended yet.
struct Open {
    anchor: usize,
    path: String,
    before: Size,
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
    pub(super) fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        let line = span.start.line();
        let fail = |message: &str| SyntaxError { line, message: message.to_owned() };
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.count(Size::of(&text), line)?;
                if self.wants_key() {
                    return self.key(&text, style, line);
                }
                let value = scalar(&text, style, tag.as_deref());
                let value = value.ok_or_else(|| fail("a value that is neither text nor a number of JSON"))?;
                self.put_anchored(value, anchor, Size::of(&text), line)?;
            }
            Event::SequenceStart(anchor, _) => self.start(anchor, Items::Sequence(Vec::new()), line)?,
            Event::MappingStart(anchor, _) => {
                let items = Items::Mapping { members: Map::new(), merged: Vec::new(), key: None };
                self.start(anchor, items, line)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(line)?,
            Event::Alias(anchor) => {
                let size = self.anchors.get(&anchor).ok_or_else(|| fail("an unknown alias"))?.1;
                self.count(size, line)?;
                self.copy(size, line)?;
                if self.wants_key() {
                    return Err(fail("a key must be text"));
                }
                let value = self.anchors.get(&anchor).map(|(value, _)| value.clone());
                self.put(value.unwrap_or_default());
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
                self.repeated.push(|| member(path, &name));
            }
            *key = Some(Key::Name(name));
        }
        Ok(())
    }

    fn start(&mut self, anchor: usize, items: Items, line: usize) -> Result<(), SyntaxError> {
        let before = self.size;
        self.count(Size::of(""), line)?;
        if self.wants_key() {
            return Err(SyntaxError { line, message: "a key must be text".to_owned() });
        }
        if self.open.len() == DEPTH {
            return Err(SyntaxError { line, message: too_deep() });
        }
        let path = match self.open.last() {
            None => String::new(),
            Some(Open { path, items: Items::Sequence(items), .. }) => item(path, items.len()),
            Some(Open { path, items: Items::Mapping { key: Some(Key::Name(name)), .. }, .. }) => member(path, name),
            Some(Open { path, .. }) => path.clone(),
        };
        self.open.push(Open { anchor, path, before, items });
        Ok(())
    }

    fn end(&mut self, line: usize) -> Result<(), SyntaxError> {
        let Some(Open { anchor, before, items, .. }) = self.open.pop() else { return Ok(()) };
        let value = match items {
            Items::Sequence(items) => Value::Array(items),
            Items::Mapping { members, merged, .. } => merge(members, merged).ok_or_else(|| SyntaxError {
                line,
                message: "`<<` must name a mapping or a list of them".to_owned(),
            })?,
        };
        self.put_anchored(value, anchor, self.size.since(before), line)
    }

    fn put_anchored(&mut self, value: Value, anchor: usize, size: Size, line: usize) -> Result<(), SyntaxError> {
        if anchor != 0 {
            self.copy(size, line)?;
            self.anchors.insert(anchor, (value.clone(), size));
        }
        self.put(value);
        Ok(())
    }

    fn put(&mut self, value: Value) {
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

    fn count(&mut self, size: Size, line: usize) -> Result<(), SyntaxError> {
        self.size.nodes += size.nodes;
        self.size.bytes += size.bytes;
        if self.size.nodes > NODES { Err(SyntaxError { line, message: too_many() }) } else { Ok(()) }
    }

    /// Takes account of a copy before it is made: a few bytes of aliases could ask for gigabytes of text.
    fn copy(&mut self, size: Size, line: usize) -> Result<(), SyntaxError> {
        self.copied += size.bytes + size.nodes * size_of::<Value>();
        let full =
            || SyntaxError { line, message: format!("anchors and aliases repeat more than {} MiB", COPIED >> 20) };
        if self.copied > COPIED { Err(full()) } else { Ok(()) }
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
