//! Long lists in pieces, one item at a time.
use crate::api_server::{ApiServer, Call};
use crate::{Result, status};
use fetch::Method;
use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Objects that are asked for at once.
const PIECE: &str = "500";

/// What a list gives.
#[derive(Debug)]
pub enum Listed<T> {
    /// One object. Lists of one kind leave out `apiVersion` and `kind` of their items.
    Item(T),
    /// The server has forgotten where we were and the list begins again: forget the items so far.
    Restarted,
}

impl ApiServer {
    /// Hands over every object of a collection that the query selects, one by one, so that none stands in memory twice.
    /// A type with only the members that are needed makes long lists cheap: `managedFields` are most of an object.
    pub fn list<T: DeserializeOwned>(
        &self,
        collection: &str,
        query: &[(&str, &str)],
        each: &mut dyn FnMut(Listed<T>),
    ) -> Result<()> {
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
    fn piece<T: DeserializeOwned>(&self, body: &[u8], each: &mut dyn FnMut(Listed<T>)) -> Result<String> {
        let mut position = None;
        let mut reader = serde_json::Deserializer::from_slice(body);
        let read = ListSeed { each, position: &mut position }.deserialize(&mut reader);
        // What the parser says could quote an object.
        read.and_then(|()| reader.end()).map_err(|_| self.strange("a list is not readable JSON"))?;
        position.ok_or_else(|| self.strange("a list without `metadata` and `items`"))
    }
}

/// Reads `{"metadata": {"continue": ..}, "items": [..]}`.
struct ListSeed<'a, T> {
    each: &'a mut dyn FnMut(Listed<T>),
    position: &'a mut Option<String>,
}

/// What a list says about itself.
#[derive(Deserialize)]
struct Metadata {
    #[serde(rename = "continue", default)]
    next: String,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for ListSeed<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for ListSeed<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        let Self { each, position } = self;
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "metadata" => *position = Some(members.next_value::<Metadata>()?.next),
                "items" => members.next_value_seed(Items(&mut *each))?,
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads the items, which may be `null` for none.
struct Items<'a, T>(&'a mut dyn FnMut(Listed<T>));

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Items<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Items<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("items")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<(), S::Error> {
        while let Some(item) = items.next_element()? {
            (self.0)(Listed::Item(item));
        }
        Ok(())
    }
}
