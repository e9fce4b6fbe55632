//! Edits of a TOML text that leave everything else as it is: comments, order, spelling.
use crate::layout::Key;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// A key that could not be set, since something above it is not a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotATable(pub(crate) Key);

/// What is at a key.
pub(crate) fn get<'a>(document: &'a DocumentMut, key: &Key) -> Option<&'a Item> {
    let mut item = document.as_item();
    for step in &key.0 {
        item = item.as_table_like()?.get(step)?;
    }
    Some(item)
}

/// The text at a key.
pub(crate) fn text<'a>(document: &'a DocumentMut, key: &Key) -> Option<&'a str> {
    get(document, key)?.as_str()
}

/// Sets a value. One that is the same already keeps its spelling.
pub(crate) fn set(document: &mut DocumentMut, key: &Key, value: Value) -> Result<(), NotATable> {
    let Some((name, above)) = key.0.split_last() else { return Ok(()) };
    let mut item = document.as_item_mut();
    for (depth, step) in above.iter().enumerate() {
        let is_inline = item.is_inline_table();
        let table = item.as_table_like_mut().ok_or_else(|| NotATable(Key(key.0[..depth].to_vec())))?;
        if !table.contains_key(step) {
            let empty = if is_inline { Item::Value(Value::InlineTable(InlineTable::new())) } else { implicit() };
            table.insert(step, empty);
        }
        item = table.get_mut(step).ok_or_else(|| NotATable(Key(key.0[..=depth].to_vec())))?;
    }
    let of_header = item.as_table().and_then(|table| last_line(table.decor().prefix()?.as_str()?));
    let table = item.as_table_like_mut().ok_or_else(|| NotATable(Key(above.to_vec())))?;
    // Below an indented header, keys are indented once more.
    let usual = of_header.filter(|spaces| !spaces.is_empty()).map(|spaces| format!("{spaces}  "));
    write(table, name, value, usual);
    Ok(())
}

fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn write(table: &mut dyn TableLike, name: &str, mut value: Value, usual_indent: Option<String>) {
    match table.get_mut(name) {
        Some(Item::Value(old)) => {
            if !is_same(old, &value) {
                // What is before and after it stays, such as a comment at the end of the line.
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
        }
        _ => {
            let indent = indentation(table).or(usual_indent);
            table.insert(name, Item::Value(value));
            if let (Some(indent), Some(mut key)) = (indent, table.key_mut(name)) {
                key.leaf_decor_mut().set_prefix(indent);
            }
        }
    }
}

/// The white space before the keys of a table, if it has keys.
fn indentation(table: &dyn TableLike) -> Option<String> {
    let (name, _) = table.iter().find(|(_, item)| item.is_value())?;
    last_line(table.key(name)?.leaf_decor().prefix()?.as_str()?)
}

/// The last line of what is before a key or header, if it is white space.
fn last_line(prefix: &str) -> Option<String> {
    let spaces = prefix.rsplit('\n').next().unwrap_or_default();
    spaces.chars().all(|letter| letter == ' ' || letter == '\t').then(|| spaces.to_owned())
}

/// Removes a key, if it is there.
pub(crate) fn remove(document: &mut DocumentMut, key: &Key) {
    let Some((name, above)) = key.0.split_last() else { return };
    let mut item = document.as_item_mut();
    for step in above {
        let Some(below) = item.as_table_like_mut().and_then(|table| table.get_mut(step)) else { return };
        item = below;
    }
    if let Some(table) = item.as_table_like_mut() {
        table.remove(name);
    }
}

/// Whether two values are the same, however they are written.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.value() == other.value(),
        (Value::Integer(one), Value::Integer(other)) => one.value() == other.value(),
        (Value::Float(one), Value::Float(other)) => one.value().to_bits() == other.value().to_bits(),
        (Value::Boolean(one), Value::Boolean(other)) => one.value() == other.value(),
        (Value::Datetime(one), Value::Datetime(other)) => one.value() == other.value(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other.iter()).all(|(one, other)| is_same(one, other))
        }
        (Value::InlineTable(one), Value::InlineTable(other)) => {
            let has = |(name, value): (&str, &Value)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, steps: &[&str], value: impl Into<Value>) -> String {
        let mut document: DocumentMut = text.parse().unwrap();
        set(&mut document, &Key::of(steps), value.into()).unwrap();
        document.to_string()
    }

    #[test]
    fn a_value_is_replaced_and_its_comment_stays() {
        let text = "# top\na = 1 # one\n\n  [b] # table\n  c = 'x'   # why\n";
        assert_eq!(edited(text, &["b", "c"], "y"), text.replace("'x'", "\"y\""));
        assert_eq!(edited(text, &["b", "c"], "x"), text);
    }

    #[test]
    fn a_new_key_is_indented_like_its_neighbours_and_a_new_table_stands_behind_its_parent() {
        let text = "[a]\n  # first\n  b = 1\n\n[z]\n";
        assert_eq!(edited(text, &["a", "c"], true), "[a]\n  # first\n  b = 1\n  c = true\n\n[z]\n");
        assert_eq!(
            edited(text, &["a", "d", "e.f", "g"], 2),
            "[a]\n  # first\n  b = 1\n\n[a.d.\"e.f\"]\ng = 2\n\n[z]\n"
        );
        assert_eq!(edited("", &["version"], 2), "version = 2\n");
    }

    #[test]
    fn a_key_in_an_inline_table_stays_there() {
        assert_eq!(edited("a = { b = 1 }\n", &["a", "c", "d"], 2), "a = { b = 1 , c = { d = 2 } }\n");
    }

    #[test]
    fn what_is_above_a_key_must_be_a_table() {
        let mut document: DocumentMut = "a = 1\n".parse().unwrap();
        let error = set(&mut document, &Key::of(&["a", "b"]), 1.into()).unwrap_err();
        assert_eq!(error, NotATable(Key::of(&["a"])));
    }

    #[test]
    fn a_key_that_is_removed_takes_what_is_below_it_with_it() {
        let mut document: DocumentMut = "[a.b]\nc = 1\n[a.b.d]\ne = 1\n[f]\n".parse().unwrap();
        remove(&mut document, &Key::of(&["a", "b"]));
        remove(&mut document, &Key::of(&["no", "such"]));
        assert_eq!(document.to_string(), "[f]\n");
    }
}
