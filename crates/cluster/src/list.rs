//! Long lists in pieces, one item at a time.
use crate::api_server::{ApiServer, Call};
use crate::{Result, status};
use fetch::Method;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Objects that are asked for at once.
const PIECE: &str = "500";

/// What a list gives.
#[derive(Debug)]
pub enum Listed {
    /// One object. Lists of one kind leave out `apiVersion` and `kind` of their items; we leave out `managedFields`.
    Item(Value),
    /// The server has forgotten where we were and the list begins again: forget the items so far.
    Restarted,
}

impl ApiServer {
    /// Hands over every object of a collection that the query selects, one by one, so that none stands in memory twice.
    pub fn list(&self, collection: &str, query: &[(&str, &str)], each: &mut dyn FnMut(Listed)) -> Result<()> {
        let mut restarts = 0;
        let mut position = String::new();
        loop {
            let mut query = query.to_vec();
            query.push(("limit", PIECE));
            if !position.is_empty() {
                query.push(("continue", &position));
            }
            let call = Call { method: Method::Get, path: collection, query, body: None, expects: &[410] };
            let answer = self.call(&call)?.answer;
            if answer.status == 410 {
                restarts += 1;
                if restarts > 1 || position.is_empty() {
                    return Err(status::error(&answer, &self.server()));
                }
                each(Listed::Restarted);
                position.clear();
                continue;
            }
            position = self.piece(&answer.body, each)?;
            if position.is_empty() {
                return Ok(());
            }
        }
    }

    /// Hands over the items of one answer, and gives where the next begins.
    fn piece(&self, body: &[u8], each: &mut dyn FnMut(Listed)) -> Result<String> {
        let mut position = None;
        let mut reader = serde_json::Deserializer::from_slice(body);
        let read = ListSeed { each, position: &mut position }.deserialize(&mut reader);
        // What the parser says could quote an object.
        read.and_then(|()| reader.end()).map_err(|_| self.strange("a list is not readable JSON"))?;
        position.ok_or_else(|| self.strange("a list without `metadata` and `items`"))
    }
}

/// Reads `{"metadata": {"continue": ..}, "items": [..]}`.
struct ListSeed<'a> {
    each: &'a mut dyn FnMut(Listed),
    position: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for ListSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        let Self { each, position } = self;
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "metadata" => {
                    let metadata: Value = members.next_value()?;
                    *position = Some(metadata["continue"].as_str().unwrap_or_default().to_owned());
                }
                "items" => members.next_value_seed(Items(&mut *each))?,
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads the items, which may be `null` for none.
struct Items<'a>(&'a mut dyn FnMut(Listed));

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("items")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<(), S::Error> {
        while let Some(item) = items.next_element_seed(Object::Whole)? {
            (self.0)(Listed::Item(item));
        }
        Ok(())
    }
}

/// Reads an object without `metadata.managedFields`, which are most of it and tell a list nothing.
enum Object {
    Whole,
    Metadata,
}

impl<'de> DeserializeSeed<'de> for Object {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<Value, M::Error> {
        let mut members = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let value = match (&self, name.as_str()) {
                (Self::Whole, "metadata") => entries.next_value_seed(Self::Metadata)?,
                (Self::Metadata, "managedFields") => {
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
                _ => entries.next_value()?,
            };
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}
