//! What a field may hold, as Kubernetes' JSON decoder reads it.
use super::Reason;
use crate::Duration;
use serde_json::{Number, Value};

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    Text,
    Bool,
    Int32,
    Uint32,
    Int64,
    Float32,
    Float64,
    /// Null is an error: it reads as an empty text, which is not a duration.
    Duration,
    /// A pointer, which may be null.
    OptionalDuration,
    DurationOrNanoseconds,
    Time,
    Quantity,
    List,
    Map,
    Object,
}

impl ValueType {
    /// The type that a table names so.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "text" => Self::Text,
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "uint32" => Self::Uint32,
            "int64" => Self::Int64,
            "float32" => Self::Float32,
            "float64" => Self::Float64,
            "duration" => Self::Duration,
            "duration?" => Self::OptionalDuration,
            "duration-or-nanoseconds" => Self::DurationOrNanoseconds,
            "time" => Self::Time,
            "quantity" => Self::Quantity,
            "list" => Self::List,
            "map" => Self::Map,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// Checks a value, but for what is inside a list or a mapping.
    pub(super) fn check(self, value: &Value) -> Result<(), Reason> {
        let fits = match value {
            Value::Null => self != Self::Duration,
            Value::Bool(_) => self == Self::Bool,
            Value::Number(number) => self.takes_number(number),
            Value::String(text) => self.takes_text(text),
            Value::Array(_) => self == Self::List,
            Value::Object(_) => matches!(self, Self::Map | Self::Object),
        };
        if fits { Ok(()) } else { Err(self.mistyped(value)) }
    }

    fn takes_text(self, text: &str) -> bool {
        match self {
            Self::Text => true,
            Self::Duration | Self::OptionalDuration | Self::DurationOrNanoseconds => text.parse::<Duration>().is_ok(),
            Self::Time => is_time(text),
            Self::Quantity => is_quantity(text),
            _ => false,
        }
    }

    /// YAML's `110.0` and `1e2` reach the decoder as 110 and 100.
    fn takes_number(self, number: &Number) -> bool {
        match self {
            Self::Int32 => integer(number).is_some_and(|number| i32::try_from(number).is_ok()),
            Self::Uint32 => integer(number).is_some_and(|number| u32::try_from(number).is_ok()),
            Self::Int64 | Self::DurationOrNanoseconds => {
                integer(number).is_some_and(|number| i64::try_from(number).is_ok())
            }
            Self::Float32 => number.as_f64().is_some_and(|number| number.abs() <= f64::from(f32::MAX)),
            Self::Float64 | Self::Quantity => true,
            _ => false,
        }
    }

    fn mistyped(self, value: &Value) -> Reason {
        let is_whole = matches!(value, Value::Number(number) if integer(number).is_some());
        let expected = match self {
            Self::Text => "text",
            Self::Bool => "true or false",
            Self::Int32 if is_whole => "a whole number from -2147483648 to 2147483647",
            Self::Uint32 if is_whole => "a whole number from 0 to 4294967295",
            Self::Int64 if is_whole => "a whole number from -9223372036854775808 to 9223372036854775807",
            Self::Int32 | Self::Uint32 | Self::Int64 => "a whole number",
            Self::Float32 | Self::Float64 => "a number",
            Self::Duration | Self::OptionalDuration => "a duration such as `10s`",
            Self::DurationOrNanoseconds => "a duration such as `10s`, or a whole number of nanoseconds",
            Self::Time => "a time such as `2026-01-31T12:00:00Z`",
            Self::Quantity => "a quantity such as `500Mi`",
            Self::List => "a list",
            Self::Map | Self::Object => "a mapping",
        };
        let needs_quotes = self == Self::Text && matches!(value, Value::Bool(_) | Value::Number(_));
        Reason::Mistyped { expected, found: self.found(value), hint: needs_quotes.then_some("put it in quotes") }
    }

    /// The type of a value; none where a value of that type can be valid and this one is not.
    fn found(self, value: &Value) -> Option<&'static str> {
        use ValueType::{Bool, DurationOrNanoseconds, Float32, Float64, Int32, Int64, List, Map, Object, Uint32};
        match value {
            Value::Null => Some("empty"),
            Value::Bool(_) => Some("true or false"),
            Value::Number(_) => {
                (!matches!(self, Int32 | Uint32 | Int64 | DurationOrNanoseconds | Float32)).then_some("a number")
            }
            Value::String(_) => {
                let takes_none =
                    matches!(self, Bool | Int32 | Uint32 | Int64 | Float32 | Float64 | List | Map | Object);
                takes_none.then_some("text")
            }
            Value::Array(_) => Some("a list"),
            Value::Object(_) => Some("a mapping"),
        }
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i128().or_else(|| number.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i128))
}

/// Suffixes of quantities besides exponents.
/// <https://pkg.go.dev/k8s.io/apimachinery/pkg/api/resource#Quantity>
const SUFFIXES: &[&str] = &["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

fn is_quantity(text: &str) -> bool {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let is_number = number.contains(|c: char| c.is_ascii_digit()) && number.matches('.').count() <= 1;
    let is_exponent = suffix.strip_prefix(['e', 'E']).is_some_and(|exponent| exponent.parse::<i32>().is_ok());
    is_number && (is_exponent || SUFFIXES.contains(&suffix))
}

/// Whether a text has the form of RFC 3339.
fn is_time(text: &str) -> bool {
    let Some((date_and_time, zone)) = text.split_at_checked("2006-01-02T15:04:05".len()) else { return false };
    let fraction =
        zone.strip_prefix('.').map_or("", |rest| &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()]);
    let zone = if fraction.is_empty() { zone } else { &zone[1 + fraction.len()..] };
    has_form(date_and_time, "dddd-dd-ddTdd:dd:dd") && (zone == "Z" || has_form(zone, "sdd:dd"))
}

/// Whether a text has a form, in which `d` is a digit and `s` a sign.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(byte, form): (u8, u8)| match form {
        b'd' => byte.is_ascii_digit(),
        b's' => matches!(byte, b'+' | b'-'),
        _ => byte == form,
    };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}
