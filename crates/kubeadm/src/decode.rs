//! From a tree of values to a type, as Go's JSON decoder does it: null is unset, members are named exactly, and every
//! member that the type lacks is collected. Errors name the place and never quote a value.
use serde::{
    Deserialize,
    de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};
use std::{cell::RefCell, fmt};

/// A value, and the paths of what its type does not know.
pub(crate) struct Decoded<T> {
    pub(crate) value: T,
    pub(crate) unknown: Vec<String>,
}

/// A value of the wrong type or form, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrongValue {
    pub(crate) path: String,
    pub(crate) message: String,
}

/// Decodes a tree whose root is called `root`; members named in `except` are of no concern.
pub(crate) fn decode<'v, T: Deserialize<'v>>(tree: &'v Value, except: &[&str]) -> Result<Decoded<T>, WrongValue> {
    let unknown = RefCell::new(Vec::new());
    let place = Place { path: String::new(), unknown: &unknown };
    let value = T::deserialize(At { value: tree, place })?;
    let mut unknown = unknown.into_inner();
    unknown.retain(|path| !except.contains(&path.as_str()));
    Ok(Decoded { value, unknown })
}

/// Where the decoder is.
struct Place<'u> {
    path: String,
    unknown: &'u RefCell<Vec<String>>,
}

/// A value and where it stands.
struct At<'v, 'u> {
    value: &'v Value,
    place: Place<'u>,
}

impl<'v> At<'v, '_> {
    fn wrong(self, expected: &str) -> WrongValue {
        let message = format!("must be {expected}, not {}", kind(self.value));
        WrongValue { path: self.place.path, message }
    }

    /// Names the place of an error that has none yet.
    fn visit<V: Visitor<'v>>(
        self,
        visit: impl FnOnce(&'v Value, Place<'_>) -> Result<V::Value, WrongValue>,
    ) -> Result<V::Value, WrongValue> {
        let path = self.place.path.clone();
        visit(self.value, self.place)
            .map_err(|error| if error.path.is_empty() { WrongValue { path, ..error } } else { error })
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false (put text in quotes)",
        Value::Number(_) => "a number (put text in quotes)",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

impl<'v> Deserializer<'v> for At<'v, '_> {
    type Error = WrongValue;

    fn deserialize_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(_) => self.deserialize_bool(visitor),
            Value::Number(_) => self.deserialize_i64(visitor),
            Value::String(_) => self.deserialize_str(visitor),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        match self.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Null => visitor.visit_bool(false),
            _ => Err(self.wrong("true or false")),
        }
    }

    fn deserialize_i64<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        let path = self.place.path.clone();
        let visited = match self.value {
            Value::Null => visitor.visit_i64(0),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_i64(number),
                (_, Some(number), _) => visitor.visit_u64(number),
                (_, _, Some(number)) => visitor.visit_f64(number),
                _ => return Err(self.wrong("a whole number")),
            },
            _ => return Err(self.wrong("a number")),
        };
        visited.map_err(|error: WrongValue| WrongValue { path, ..error })
    }

    fn deserialize_str<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        match self.value {
            Value::String(text) => self.visit::<V>(|_, _| visitor.visit_borrowed_str(text)),
            Value::Null => visitor.visit_str(""),
            _ => Err(self.wrong("text")),
        }
    }

    fn deserialize_option<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => self.visit::<V>(|value, place| visitor.visit_some(At { value, place })),
        }
    }

    fn deserialize_seq<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        match self.value {
            Value::Array(items) => self.visit::<V>(|_, place| visitor.visit_seq(Items { items, next: 0, place })),
            Value::Null => self.visit::<V>(|_, place| visitor.visit_seq(Items { items: &[], next: 0, place })),
            _ => Err(self.wrong("a list")),
        }
    }

    fn deserialize_map<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        match self.value {
            Value::Object(members) => self.visit::<V>(|_, place| visitor.visit_map(Members::new(Some(members), place))),
            Value::Null => self.visit::<V>(|_, place| visitor.visit_map(Members::new(None, place))),
            _ => Err(self.wrong("a mapping")),
        }
    }

    fn deserialize_struct<V: Visitor<'v>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WrongValue> {
        self.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'v>>(self, _: &'static str, visitor: V) -> Result<V::Value, WrongValue> {
        self.visit::<V>(|value, place| visitor.visit_newtype_struct(At { value, place }))
    }

    fn deserialize_string<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        self.deserialize_str(visitor)
    }

    fn deserialize_i32<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        self.deserialize_i64(visitor)
    }

    /// What a structure does not know ends here.
    fn deserialize_ignored_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, WrongValue> {
        self.place.unknown.borrow_mut().push(self.place.path);
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'v>>
        i8 i16 u8 u16 u32 u64 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct enum identifier
    }
}

struct Items<'v, 'u> {
    items: &'v [Value],
    next: usize,
    place: Place<'u>,
}

impl<'v> SeqAccess<'v> for Items<'v, '_> {
    type Error = WrongValue;

    fn next_element_seed<T: DeserializeSeed<'v>>(&mut self, seed: T) -> Result<Option<T::Value>, WrongValue> {
        let Some(value) = self.items.get(self.next) else { return Ok(None) };
        let path = format!("{}[{}]", self.place.path, self.next);
        self.next += 1;
        seed.deserialize(At { value, place: Place { path, unknown: self.place.unknown } }).map(Some)
    }
}

struct Members<'v, 'u> {
    members: Option<serde_json::map::Iter<'v>>,
    current: Option<(&'v str, &'v Value)>,
    place: Place<'u>,
}

impl<'v, 'u> Members<'v, 'u> {
    fn new(members: Option<&'v Map<String, Value>>, place: Place<'u>) -> Self {
        Self { members: members.map(Map::iter), current: None, place }
    }
}

impl<'v> MapAccess<'v> for Members<'v, '_> {
    type Error = WrongValue;

    fn next_key_seed<K: DeserializeSeed<'v>>(&mut self, seed: K) -> Result<Option<K::Value>, WrongValue> {
        self.current = self.members.as_mut().and_then(Iterator::next).map(|(name, value)| (name.as_str(), value));
        self.current.map(|(name, _)| seed.deserialize(name.into_deserializer())).transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'v>>(&mut self, seed: T) -> Result<T::Value, WrongValue> {
        let (name, value) = self.current.unwrap_or(("", &Value::Null));
        let path = if self.place.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.place.path) };
        seed.deserialize(At { value, place: Place { path, unknown: self.place.unknown } })
    }
}

impl fmt::Display for WrongValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for WrongValue {}

impl de::Error for WrongValue {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self { path: String::new(), message: message.to_string() }
    }

    /// serde's own text would quote the value.
    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format_args!("must be {expected}"))
    }

    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format_args!("must be {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::InitConfiguration;
    use serde_json::json;

    fn wrong(tree: &Value) -> String {
        decode::<InitConfiguration>(tree, &[]).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn null_is_unset() {
        let tree = json!({
            "bootstrapTokens": null, "nodeRegistration": {"taints": null, "name": null}, "localAPIEndpoint": null
        });
        let decoded = decode::<InitConfiguration>(&tree, &[]).unwrap();
        assert_eq!((decoded.value, decoded.unknown.len()), (InitConfiguration::default(), 0));
    }

    #[test]
    fn unknown_members_are_collected_with_their_paths() {
        let tree = json!({"kind": "x", "Name": 1, "bootstrapTokens": [{"tokn": "x"}], "nodeRegistration": {"a": {}}});
        let decoded = decode::<InitConfiguration>(&tree, &["kind"]).unwrap();
        assert_eq!(decoded.unknown, ["Name", "bootstrapTokens[0].tokn", "nodeRegistration.a"]);
    }

    #[test]
    fn a_wrong_value_is_named_by_its_place_and_not_quoted() {
        let secret = "abcdef.0123456789abcdef";
        for (tree, expected) in [
            (json!({"bootstrapTokens": secret}), "bootstrapTokens: must be a list, not text"),
            (json!({"bootstrapTokens": [secret]}), "bootstrapTokens[0]: must be a mapping, not text"),
            (
                json!({"bootstrapTokens": [{"ttl": 5}]}),
                "bootstrapTokens[0].ttl: must be text, not a number (put text in quotes)",
            ),
            (
                json!({"bootstrapTokens": [{"ttl": secret}]}),
                "bootstrapTokens[0].ttl: must be a duration such as 4m0s, 1h30m or 500ms",
            ),
            (json!({"dryRun": "yes"}), "dryRun: must be true or false, not text"),
            (json!({"localAPIEndpoint": {"bindPort": 1.5}}), "localAPIEndpoint.bindPort: must be i32"),
            (json!({"localAPIEndpoint": {"bindPort": 5_000_000_000_u64}}), "localAPIEndpoint.bindPort: must be i32"),
        ] {
            assert_eq!(wrong(&tree), expected);
        }
    }
}
