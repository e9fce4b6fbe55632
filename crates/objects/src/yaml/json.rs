//! JSON that is no YAML for our parser, such as tabs for indentation: the same tree, with the same care for repeated keys.
use super::{Tree, member};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The tree of a text, if it is JSON.
pub(super) fn parse(text: &str) -> Option<Tree> {
    let mut repeated = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Node { path: String::new(), repeated: &mut repeated }.deserialize(&mut reader).ok()?;
    let tree = Tree { value, repeated };
    reader.end().ok().map(|()| tree)
}

/// What is to be read at a path.
struct Node<'a> {
    path: String,
    repeated: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
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

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<Value, S::Error> {
        let Self { path, repeated } = self;
        let mut list = Vec::new();
        while let Some(item) =
            items.next_element_seed(Node { path: format!("{path}[{}]", list.len()), repeated: &mut *repeated })?
        {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<Value, M::Error> {
        let Self { path, repeated } = self;
        let mut members = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let path = member(&path, &name);
            if members.contains_key(&name) {
                repeated.push(path.clone());
            }
            let value = entries.next_value_seed(Node { path, repeated: &mut *repeated })?;
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
        let tree = parse(text).unwrap();
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
