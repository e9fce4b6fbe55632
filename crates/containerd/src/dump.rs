//! What containerd has understood, by `containerd config dump`: it ignores unknown keys and ends with exit code 0.
use crate::{
    ConfigVersion, Expected, ImportedFile, Proposal,
    edit::{get, is_same},
    layout::{Key, moved},
};
use objects::Duration;
use std::fmt;
use toml_edit::{DocumentMut, Item, Value};

/// A value that containerd has not taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The field that asks for it.
    pub field: &'static str,
    key: String,
    wanted: String,
    /// What containerd has instead.
    shown: Option<String>,
    /// The imported files that set it.
    set_by: Vec<String>,
}

/// The output is not a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the output of `containerd config dump` or `config default` is not a configuration of version 2 to 4")]
pub struct NotADump;

/// What containerd prints.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    /// By `containerd config dump`, of the proposed text.
    pub dump: &'a str,
    /// By `containerd config default`. It alone tells which plugins there are: since 2.0 a dump repeats the table of an
    /// unknown one.
    pub defaults: &'a str,
}

/// Every value of a proposal that containerd does not show to have taken up.
pub fn missing(printed: Printed<'_>, proposal: &Proposal, imports: &[ImportedFile]) -> Result<Vec<Missing>, NotADump> {
    let (dump, version) = read(printed.dump)?;
    let (defaults, _) = read(printed.defaults)?;
    let of = |expected: &Expected| {
        let Expected { key, value, field } = expected;
        let (key, value) = in_version(key, value, proposal.version, version);
        let is_known = key.0[0] != "plugins" || get(&defaults, &Key(key.0[..key.0.len().min(2)].to_vec())).is_some();
        let shown = get(&dump, &key).filter(|_| is_known).and_then(|item| item.clone().into_value().ok());
        if shown.as_ref().is_some_and(|shown| shows(shown, &value)) {
            return None;
        }
        let is_setter = |file: &&ImportedFile| {
            let imported = file.text.parse::<DocumentMut>().unwrap_or_default();
            get(&imported, &expected.key).or_else(|| get(&imported, &key)).is_some()
        };
        let set_by = imports.iter().filter(is_setter).map(|file| file.path.clone()).collect();
        let text = |value: &Value| objects::printable(value.to_string().trim(), 200);
        let (wanted, shown) = (text(&value), shown.as_ref().map(text));
        Some(Missing { field, key: expected.key.to_string(), wanted, shown, set_by })
    };
    Ok(proposal.expected.iter().filter_map(of).collect())
}

fn read(text: &str) -> Result<(DocumentMut, ConfigVersion), NotADump> {
    let document: DocumentMut = text.parse().map_err(|_| NotADump)?;
    let number = document.get("version").and_then(Item::as_integer).ok_or(NotADump)?;
    Ok((document, ConfigVersion::read(number).ok_or(NotADump)?))
}

/// A key and its value, as containerd moves them to a newer version.
fn in_version(key: &Key, value: &Value, from: ConfigVersion, to: ConfigVersion) -> (Key, Value) {
    let mut key = moved(key, from, to);
    if from == ConfigVersion::V2 && to > from && key.0.ends_with(&["cni".to_owned(), "bin_dir".to_owned()]) {
        key.0.pop();
        return (key.below(&["bin_dirs"]), Value::Array([value.clone()].into_iter().collect()));
    }
    (key, value.clone())
}

/// Whether a value of a dump is the wanted one. containerd spells spans of time in its own way, and adds members.
fn shows(shown: &Value, wanted: &Value) -> bool {
    match (shown, wanted) {
        (Value::String(shown), Value::String(wanted)) if shown.value() != wanted.value() => {
            let spans = [shown, wanted].map(|text| text.value().parse::<Duration>().ok());
            spans[0].is_some() && spans[0] == spans[1]
        }
        (Value::Array(shown), Value::Array(wanted)) => {
            shown.len() == wanted.len() && shown.iter().zip(wanted.iter()).all(|(shown, wanted)| shows(shown, wanted))
        }
        (Value::InlineTable(shown), Value::InlineTable(wanted)) => {
            wanted.iter().all(|(name, wanted)| shown.get(name).is_some_and(|shown| shows(shown, wanted)))
        }
        _ => is_same(shown, wanted),
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, key, wanted, shown, set_by } = self;
        match shown {
            None => write!(
                f,
                "{field}: containerd ignores {key}: `containerd config dump` does not show it, or has no such plugin"
            )?,
            Some(shown) => {
                write!(f, "{field}: containerd has {key} = {shown} instead of {wanted}, by `containerd config dump`")?;
            }
        }
        match &set_by[..] {
            [] => Ok(()),
            files => write!(f, ". It is set by the imported {}", files.join(", ")),
        }
    }
}
