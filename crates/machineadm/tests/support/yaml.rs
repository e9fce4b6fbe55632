//! A document as JSON, so that a test can change it; JSON is YAML too.
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// A list or mapping that has not ended yet.
enum Open {
    List(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

/// Reads one document of ours: no anchors, no tags, plain numbers.
pub(crate) fn as_json(yaml: &str) -> Value {
    let mut open = vec![Open::List(Vec::new())];
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.expect("an example is YAML");
        let value = match event {
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Mapping(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Mapping(members, _)) => Value::Object(members),
                None => panic!("what ends has begun"),
            },
            _ => continue,
        };
        match open.last_mut().expect("the outermost list stays open") {
            Open::List(items) => items.push(value),
            Open::Mapping(members, key) => match (key.take(), value) {
                (Some(key), value) => _ = members.insert(key, value),
                (None, Value::String(name)) => *key = Some(name),
                (None, other) => *key = Some(other.to_string()),
            },
        }
    }
    match open.pop() {
        Some(Open::List(mut items)) if items.len() == 1 => items.remove(0),
        _ => panic!("an example is one document"),
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match (style, text) {
        (ScalarStyle::Plain, "true" | "false") => (text == "true").into(),
        (ScalarStyle::Plain, number) if number.parse::<i64>().is_ok() => number.parse::<i64>().ok().into(),
        _ => text.into(),
    }
}
