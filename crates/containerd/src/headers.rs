//! Headers of tables in their own spelling: the editor quotes a name in all headers as in the first that has it.
use std::{collections::BTreeMap, ops::Range};
use toml_edit::{Document, Item, TableLike};

/// The text with every header spelled as in the text that it was made of.
pub(crate) fn with_spelling_of(original: &str, edited: String) -> String {
    let (before, mut after) = (spans(original), spans(&edited));
    after.retain(|path, span| {
        let same = before.get(path).map(|before| original[before.clone()] == edited[span.clone()]);
        same == Some(false)
    });
    let mut spelled = edited;
    let mut changed: Vec<_> = after.into_iter().collect();
    // From the end, so that the places of the others stay.
    changed.sort_by_key(|(_, span)| std::cmp::Reverse(span.start));
    for (path, span) in changed {
        spelled.replace_range(span, &original[before[&path].clone()]);
    }
    spelled
}

/// Where the header of each table is, by its path.
fn spans(text: &str) -> BTreeMap<Vec<String>, Range<usize>> {
    let mut found = BTreeMap::new();
    if let Ok(document) = Document::parse(text) {
        collect(document.as_table(), &mut Vec::new(), &mut |path, span| {
            // A span may go on behind the header.
            let header = &text[span.clone()];
            if header.starts_with('[') && !header.contains('\n') && header.ends_with(']') {
                found.insert(path.to_vec(), span);
            }
        });
    }
    found
}

fn collect(table: &dyn TableLike, path: &mut Vec<String>, found: &mut impl FnMut(&[String], Range<usize>)) {
    for (name, item) in table.iter() {
        path.push(name.to_owned());
        match item {
            Item::Table(table) => {
                if let Some(span) = table.span() {
                    found(path, span);
                }
                collect(table, path, found);
            }
            Item::ArrayOfTables(tables) => {
                for (index, table) in tables.iter().enumerate() {
                    path.push(format!("[{index}]"));
                    if let Some(span) = table.span() {
                        found(path, span);
                    }
                    collect(table, path, found);
                    path.pop();
                }
            }
            Item::Value(_) | Item::None => {}
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml_edit::DocumentMut;

    #[test]
    fn mixed_quotes_stay_mixed() {
        let text = "[a.\"x.y\"] # one\nb = 1\n\n[ a.'x.y' . c ]\nd = 1\n[[a.'x.y'.e]]\nf = 1\n[[a.\"x.y\".e]]\nf = 2\n";
        let edited = text.parse::<DocumentMut>().unwrap().to_string();
        assert_ne!(edited, text);
        assert_eq!(with_spelling_of(text, edited), text);
    }
}
