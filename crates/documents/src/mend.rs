//! A document whose form is invalid, made readable: stand-ins take the place of what its schema does not allow, so that the
//! rest is judged as well. Such a document is never used, and nothing is said about the stand-ins.
use crate::{
    path,
    schema::{allows, choices, scalar_fits, without_null},
    tree::{Key, Node, Value},
};
use serde_json::Value as Schema;
use std::collections::HashSet;
use zeroize::Zeroizing;

/// A tree that its schema allows, and where it differs from the document.
pub(crate) struct Mended {
    pub(crate) root: Node,
    /// The paths of stand-ins.
    replaced: HashSet<String>,
    /// The paths of mappings that lost an unknown member: a rule may miss what was meant by it.
    lost_members: HashSet<String>,
}

/// Replaces everything that the schema does not allow.
pub(crate) fn mend(root: &Node, schema: &Schema) -> Mended {
    let mut mender = Mender::default();
    let root = mender.node(root, schema, "");
    Mended { root, replaced: mender.replaced, lost_members: mender.lost_members }
}

impl Mended {
    /// Whether a problem of this path may come from a stand-in.
    pub(crate) fn explains(&self, path: &str) -> bool {
        let is_stand_in = path::outwards(path).any(|path| self.replaced.contains(path));
        // A type decides which other members its mapping takes.
        let type_beside = path::parent(path).map(|parent| path::member(parent, "type"));
        let has_type = type_beside.is_some_and(|beside| self.replaced.contains(&beside));
        path.is_empty() || is_stand_in || has_type || self.lost_members.contains(path)
    }
}

#[derive(Default)]
struct Mender {
    replaced: HashSet<String>,
    lost_members: HashSet<String>,
}

impl Mender {
    fn node(&mut self, node: &Node, schema: &Schema, here: &str) -> Node {
        let schema = without_null(schema);
        let value = match &node.value {
            Value::Mapping(entries) if allows(schema, "object") => self.mapping(node, entries, schema, here),
            Value::Sequence(items) if allows(schema, "array") => {
                let items = items.iter().enumerate();
                let mended = items.map(|(index, item)| self.node(item, &schema["items"], &path::item(here, index)));
                Value::Sequence(mended.collect())
            }
            Value::Scalar { text, plain } if is_allowed(text, *plain, schema) => node.value.clone(),
            _ => return self.stand_in(node, schema, here),
        };
        Node { place: node.place, value }
    }

    fn mapping(&mut self, node: &Node, entries: &[(Key, Node)], schema: &Schema, here: &str) -> Value {
        let mut seen = HashSet::new();
        let mut mended = Vec::new();
        for (key, child) in entries.iter().filter(|(key, child)| !child.is_null() && seen.insert(key.text.as_str())) {
            let there = path::member(here, &key.text);
            let property = &schema["properties"][key.text.as_str()];
            let free = &schema["additionalProperties"];
            match (property.is_object(), free.is_object()) {
                (true, _) => mended.push((key.clone(), self.node(child, property, &there))),
                (false, true) => mended.push((key.clone(), self.node(child, free, &there))),
                (false, false) if *free == true => mended.push((key.clone(), child.clone())),
                (false, false) => _ = self.lost_members.insert(here.to_owned()),
            }
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Schema::as_str);
        for name in required.filter(|name| node.get(name).is_none()) {
            let key = Key { place: node.place, text: Zeroizing::new(name.to_owned()) };
            let nothing = Node { place: node.place, value: Value::Mapping(Vec::new()) };
            mended.push((key, self.stand_in(&nothing, &schema["properties"][name], &path::member(here, name))));
        }
        Value::Mapping(mended)
    }

    /// Something that the schema allows, as near as possible to what is there.
    fn stand_in(&mut self, node: &Node, schema: &Schema, here: &str) -> Node {
        self.replaced.insert(here.to_owned());
        let schema = without_null(schema);
        let text = |text: &str, plain| Value::Scalar { text: Zeroizing::new(text.to_owned()), plain };
        let value = match (&node.value, choices(schema)) {
            (_, Some(words)) => text(words.first().copied().unwrap_or_default(), false),
            (Value::Scalar { text: written, .. }, None) if allows(schema, "string") => text(written, false),
            _ if allows(schema, "object") => self.mapping(node, &[], schema, here),
            _ if allows(schema, "array") => Value::Sequence(Vec::new()),
            _ if allows(schema, "boolean") => text("false", true),
            _ if allows(schema, "integer") || allows(schema, "number") => text("0", true),
            _ => text("", false),
        };
        Node { place: node.place, value }
    }
}

fn is_allowed(text: &str, plain: bool, schema: &Schema) -> bool {
    choices(schema).map_or_else(|| scalar_fits(text, plain, schema), |words| words.contains(&text))
}
