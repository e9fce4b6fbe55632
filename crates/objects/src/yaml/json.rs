//! JSON that is no YAML for our parser, such as tabs for indentation: the same tree, the same limits, and the same care
//! for repeated keys.
use super::{
    SyntaxError, Tree,
    limits::{DEPTH, NODES, Repeated, item, member, too_deep, too_many},
};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The tree of a text, if it is JSON, or why there is none although it is.
pub(super) fn parse(text: &str) -> Option<Result<Tree, SyntaxError>> {
    let mut so_far = SoFar::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Node { path: String::new(), depth: 0, so_far: &mut so_far }.deserialize(&mut reader);
    match (read, so_far.refused) {
        (Ok(value), _) => {
            let tree = Tree { value, repeated: so_far.repeated.0, goes_on: false };
            reader.end().ok().map(|()| Ok(tree))
        }
        (Err(error), Some(message)) => Some(Err(SyntaxError { line: error.line(), message })),
        (Err(_), None) => None,
    }
}

/// What was read so far.
#[derive(Default)]
struct SoFar {
    nodes: usize,
    repeated: Repeated,
    /// The limit that was passed.
    refused: Option<String>,
}

impl SoFar {
    fn count<E: Error>(&mut self) -> Result<(), E> {
        self.nodes += 1;
        if self.nodes > NODES { self.refuse(too_many()) } else { Ok(()) }
    }

    fn refuse<E: Error>(&mut self, message: String) -> Result<(), E> {
        self.refused = Some(message);
        Err(E::custom("too much"))
    }
}

/// What is to be read at a path.
struct Node<'a> {
    path: String,
    depth: usize,
    so_far: &'a mut SoFar,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.so_far.count()?;
        deserializer.deserialize_any(self)
    }
}

impl Node<'_> {
    /// Something that lies in this.
    fn inside(&mut self, path: String) -> Node<'_> {
        Node { path, depth: self.depth + 1, so_far: &mut *self.so_far }
    }

    fn open<E: Error>(&mut self) -> Result<(), E> {
        if self.depth == DEPTH { self.so_far.refuse(too_deep()) } else { Ok(()) }
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<S: SeqAccess<'de>>(mut self, mut items: S) -> Result<Value, S::Error> {
        self.open()?;
        let mut list = Vec::new();
        loop {
            let path = item(&self.path, list.len());
            let Some(value) = items.next_element_seed(self.inside(path))? else { return Ok(list.into()) };
            list.push(value);
        }
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut entries: M) -> Result<Value, M::Error> {
        self.open()?;
        let mut members = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            self.so_far.count()?;
            let path = member(&self.path, &name);
            if members.contains_key(&name) {
                self.so_far.repeated.push(|| path.clone());
            }
            let value = entries.next_value_seed(self.inside(path))?;
            members.insert(name, value);
        }
        Ok(members.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_serde_reads_and_names_what_is_repeated() {
        let text = "{\t\"a\": [1, -2, 1.5, true, null, \"x\\u001b\", {\"b\": {}, \"b\": []}], \"c\": 1, \"c\": 2}";
        let tree = parse(text).unwrap().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(tree.value, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(tree.repeated, ["a[6].b", "c"]);
    }

    #[test]
    fn what_is_no_json_is_none() {
        for text in ["{", "{} {}", "{a: 1}", ""] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
