//! Further TOML of a document: its values one by one, each under its whole key.
use crate::{
    ConfigVersion, Problem,
    layout::{CRI_PLUGINS, Key},
};
use toml_edit::{DocumentMut, Item, TableLike, Value};

const FIELD: &str = "spec.extraConfig";

/// The values of a text that is written for this configuration version; every problem otherwise.
pub(crate) fn values(text: &str, version: ConfigVersion) -> Result<Vec<(Key, Value)>, Vec<Problem>> {
    let document = match text.parse::<DocumentMut>() {
        Ok(document) => document,
        Err(error) => {
            return Err(vec![Problem::of_field(FIELD, format!("is not TOML: {}", objects::one_line(error.message())))]);
        }
    };
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    collect(document.as_table(), &Key::of(&[]), &mut found);
    found.retain(|(key, value)| match key.0[..] {
        [ref name] if name == "version" => {
            if value.as_integer() != Some(version.number()) {
                problems.push(Problem::of_field(FIELD, other_version(value, version)));
            }
            false
        }
        _ => true,
    });
    for (key, value) in &found {
        let field = version.fields().into_iter().find(|(own, _)| key.is_below(own));
        if let Some((_, field)) = field {
            problems.push(Problem::of_field(FIELD, format!("must not set {key}: use spec.{field}")));
        } else if key.0.first().is_some_and(|name| name == "imports") {
            let message = "must not set imports: put the content of the imported files here";
            problems.push(Problem::of_field(FIELD, message));
        } else if key.0[..] == ["disabled_plugins"] {
            let listed = value.as_array().into_iter().flat_map(|names| names.iter()).filter_map(Value::as_str);
            problems.extend(listed.filter(|name| CRI_PLUGINS.contains(name)).map(|name| {
                let message =
                    format!("must not disable the plugin {name}: Kubernetes cannot use containerd without it");
                Problem::of_field(FIELD, message)
            }));
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn other_version(value: &Value, version: ConfigVersion) -> String {
    let found = objects::one_line(value.to_string().trim());
    let number = version.number();
    format!("is written for configuration version {found}, and the file has version {number}: write it for {number}")
}

fn collect(table: &dyn TableLike, above: &Key, found: &mut Vec<(Key, Value)>) {
    for (name, item) in table.iter() {
        let key = above.below(&[name]);
        match item {
            Item::Table(table) => collect(table, &key, found),
            Item::Value(Value::InlineTable(table)) => collect(table, &key, found),
            Item::Value(value) => {
                let mut value = value.clone();
                value.decor_mut().clear();
                found.push((key, value));
            }
            Item::ArrayOfTables(tables) => {
                if let Ok(value) = Item::ArrayOfTables(tables.clone()).into_value() {
                    found.push((key, value));
                }
            }
            Item::None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cri_is_not_disabled() {
        let problems = |text: &str| values(text, ConfigVersion::V3).map_or_else(|found| found.len(), |_| 0);
        assert_eq!(problems("disabled_plugins = ['cri', 'io.containerd.cri.v1.images', 'other']"), 2);
        assert_eq!(problems("disabled_plugins = ['io.containerd.internal.v1.opt']"), 0);
    }
}
