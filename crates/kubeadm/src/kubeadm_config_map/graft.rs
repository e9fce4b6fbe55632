//! Carries what no type knows from an old tree into the one that takes its place.
use serde_json::{Map, Value};

/// Puts the value that stands at `path` in `old` to the same place in `new`, unless something stands there.
pub(super) fn graft(old: &Value, new: &mut Value, path: &str) {
    let (mut from, mut to) = (old, new);
    for step in path.split('.') {
        let (name, places) = step.split_once('[').map_or((step, ""), |(name, places)| (name, places));
        let Some(next) = from.get(name) else { return };
        from = next;
        if to.is_null() {
            *to = Value::Object(Map::new());
        }
        let Some(members) = to.as_object_mut() else { return };
        to = members.entry(name).or_insert(Value::Null);
        for place in places.split('[').filter_map(|place| place.trim_end_matches(']').parse::<usize>().ok()) {
            let (Some(next), Some(slot)) = (from.get(place), to.get_mut(place)) else { return };
            (from, to) = (next, slot);
        }
    }
    if to.is_null() {
        *to = from.clone();
    }
}
