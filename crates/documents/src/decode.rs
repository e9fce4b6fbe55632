//! From a tree to its type, straight through serde: no copy of the values is made on the way.
use crate::{
    scalar::{Integer, Type, integer, type_of},
    tree::{Node, Value},
};
use serde::{
    de::{
        self, DeserializeOwned, IntoDeserializer, Visitor,
        value::{MapDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};
use std::fmt;

/// A tree that does not fit its type. It says nothing more, because serde's words quote values.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unfit;

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the document does not fit its type")
    }
}

impl std::error::Error for Unfit {}

impl de::Error for Unfit {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Decodes a tree whose form has been checked.
pub(crate) fn decode<T: DeserializeOwned>(node: &Node) -> Result<T, Unfit> {
    T::deserialize(node)
}

impl<'de> IntoDeserializer<'de, Unfit> for &'de Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> de::Deserializer<'de> for &'de Node {
    type Error = Unfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match &self.value {
            Value::Sequence(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Value::Mapping(entries) => {
                let present = entries.iter().filter(|(_, node)| !node.is_null());
                visitor.visit_map(MapDeserializer::new(present.map(|(key, node)| (key.text.as_str(), node))))
            }
            Value::Scalar { text, plain: false } => visitor.visit_str(text),
            Value::Scalar { text, plain: true } => match type_of(text) {
                Type::Null => visitor.visit_unit(),
                Type::Bool => visitor.visit_bool(text.eq_ignore_ascii_case("true")),
                Type::Integer => match integer(text).ok_or(Unfit)? {
                    Integer::Signed(number) => visitor.visit_i64(number),
                    Integer::Unsigned(number) => visitor.visit_u64(number),
                },
                Type::Number => visitor.visit_f64(text.parse().map_err(|_| Unfit)?),
                Type::Text => visitor.visit_str(text),
            },
        }
    }

    /// Text is taken as it was written, also where YAML would read a number: the schema has allowed it.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match &self.value {
            Value::Scalar { text, .. } => visitor.visit_str(text),
            Value::Sequence(_) | Value::Mapping(_) => Err(Unfit),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        match &self.value {
            Value::Scalar { text, .. } => visitor.visit_enum(text.as_str().into_deserializer()),
            Value::Sequence(_) | Value::Mapping(_) => Err(Unfit),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct ignored_any
    }
}
