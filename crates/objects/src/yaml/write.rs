//! YAML in block style with every string quoted, so that readers of YAML 1.1, YAML 1.2 and JSON's data see the same.
use super::block::{Lines, write_with};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

/// Writes one document, with a line end; `apiVersion` and `kind` come first, the rest in the order of letters.
pub fn write(document: &Value) -> String {
    written(document, Lines::Quoted)
}

/// The same, with texts of several lines as literal blocks (`|`), for people who read and edit them.
pub fn write_blocks(document: &Value) -> String {
    written(document, Lines::Literal)
}

fn written(document: &Value, lines: Lines) -> String {
    // JSON's data has nothing that can't be written, and its strings are UTF-8.
    let text = write_with("", &KindFirst(document), lines).unwrap_or_default();
    String::from_utf8_lossy(&text).trim_start_matches('\n').to_owned()
}

/// Writes the documents of one file.
pub fn write_stream<'v>(documents: impl IntoIterator<Item = &'v Value>) -> String {
    documents.into_iter().map(write).collect::<Vec<_>>().join("---\n")
}

/// A document in the order in which people look at one.
struct KindFirst<'a>(&'a Value);

impl Serialize for KindFirst<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const FIRST: [&str; 2] = ["apiVersion", "kind"];
        let Value::Object(members) = self.0 else { return self.0.serialize(serializer) };
        let first = FIRST.iter().filter_map(|name| members.get_key_value(*name));
        let rest = members.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
        let mut map = serializer.serialize_map(Some(members.len()))?;
        first.chain(rest).try_for_each(|(name, member)| map.serialize_entry(name, member))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn every_string_is_quoted_and_the_kind_comes_first() {
        let document = json!({
            "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "InitConfiguration", "abc": "on", "dryRun": true,
            "list": [{"value": "yes", "name": "014"}, "a\nb", [1, 2], {}], "empty": {}, "none": [],
            "map": {"kind": "~", "v": "1e3", "on": "x", "7": "y"},
        });
        let expected = "apiVersion: \"kubeadm.k8s.io/v1beta4\"\nkind: \"InitConfiguration\"\nabc: \"on\"\n\
            dryRun: true\nempty: {}\nlist:\n  - name: \"014\"\n    value: \"yes\"\n  - \"a\\nb\"\n  - - 1\n    - 2\n  \
            - {}\nmap:\n  \"7\": \"y\"\n  kind: \"~\"\n  \"on\": \"x\"\n  v: \"1e3\"\nnone: []\n";
        assert_eq!(write(&document), expected);
    }

    #[test]
    fn lists_and_single_values_are_documents_too() {
        let list = json!([{"a": 1, "b": [true, null]}, "x\ny", [], [[2]]]);
        assert_eq!(write(&list), "- a: 1\n  b:\n    - true\n    - null\n- \"x\\ny\"\n- []\n- - - 2\n");
        assert_eq!(
            [json!("on"), json!(null), json!({}), json!(7)].map(|value| write(&value)),
            ["\"on\"\n", "null\n", "{}\n", "7\n"]
        );
        assert_eq!(write_stream(&[json!({"a": 1}), json!([2])]), "a: 1\n---\n- 2\n");
    }

    #[test]
    fn texts_of_several_lines_become_literal_blocks_where_they_are_read_back_unchanged() {
        let document = json!({"data": {"a": "x: 1\n\n  y: \"2\"\n", "b": "1\n2", "c": " 1\n2", "d": "1 \n2", "e": "1\n\n",
            "f": "one line", "g": ["1\n2\n"], "h": "1\r\n2\n"}});
        let expected = "data:\n  a: |\n    x: 1\n\n      y: \"2\"\n  b: |-\n    1\n    2\n  c: \" 1\\n2\"\n  \
            d: \"1 \\n2\"\n  e: \"1\\n\\n\"\n  f: \"one line\"\n  g:\n    - |\n      1\n      2\n  h: \"1\\r\\n2\\n\"\n";
        assert_eq!(write_blocks(&document), expected);
        assert_eq!(yaml::value(expected), Ok(document));
        assert_eq!(write_blocks(&json!("1\n2")), "\"1\\n2\"\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]
        #[test]
        fn what_is_written_is_read_back(value in values()) {
            let text = write(&value);
            prop_assert_eq!(yaml::value(&text), Ok(value.clone()), "{}", text);
            let text = write_blocks(&value);
            prop_assert_eq!(yaml::value(&text), Ok(value), "{}", text);
        }
    }

    /// Trees with words that YAML takes for something else, and every kind of letter.
    fn values() -> impl Strategy<Value = Value> {
        let word = prop_oneof![
            "(on|y|~|null|1e3|014|0x1f|-|:|#|- a|a: b|\\[|\"|'|\\\\|<<|\n|\t| |\u{7f}|\u{85}|\u{2028}|\u{feff}){0,3}",
            any::<String>(),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            word.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(word.clone(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }
}
