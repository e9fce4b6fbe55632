//! A document as a tree in which every part knows its place.
use crate::scalar::{Type, type_of};
use std::collections::HashMap;
use zeroize::Zeroizing;

/// A line and a column, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

/// A value and where it stands. It has no `Debug`: it may hold secrets.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// What a node holds.
#[derive(Clone)]
pub(crate) enum Value {
    Scalar { text: Zeroizing<String>, plain: bool },
    Sequence(Vec<Node>),
    Mapping(Vec<(Key, Node)>),
}

/// A key and where it stands.
#[derive(Clone)]
pub(crate) struct Key {
    pub(crate) place: Place,
    pub(crate) text: Zeroizing<String>,
}

impl Node {
    /// Whether nothing is written here, which counts as the key not being there.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true } if type_of(text) == Type::Null)
    }

    /// The member of a mapping, unless it is null.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let Value::Mapping(entries) = &self.value else { return None };
        entries.iter().find(|(known, node)| *known.text == key && !node.is_null()).map(|(_, node)| node)
    }

    /// The text of a scalar that is text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, plain } if !plain || type_of(text) == Type::Text => Some(text),
            _ => None,
        }
    }

    /// Where every path of this tree stands.
    pub(crate) fn places(&self) -> Places {
        let mut places = HashMap::new();
        self.collect_places(String::new(), &mut places);
        Places { places, root: self.place }
    }

    fn collect_places(&self, path: String, places: &mut HashMap<String, Place>) {
        match &self.value {
            Value::Scalar { .. } => {}
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.collect_places(crate::path::item(&path, index), places);
                }
            }
            Value::Mapping(entries) => {
                for (key, node) in entries {
                    node.collect_places(crate::path::member(&path, &key.text), places);
                }
            }
        }
        places.entry(path).or_insert(self.place);
    }
}

/// Where every path of a tree stands.
pub(crate) struct Places {
    places: HashMap<String, Place>,
    root: Place,
}

impl Places {
    /// Where a field stands, or, when it is missing, the nearest thing around it.
    pub(crate) fn nearest(&self, path: &str) -> Place {
        crate::path::outwards(path).find_map(|path| self.places.get(path)).copied().unwrap_or(self.root)
    }
}
