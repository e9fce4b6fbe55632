//! A configuration against the table of its component's fields.
use super::{
    Component, FieldProblem, Reason, Step,
    table::{NEWEST_MINOR, OLDEST_MINOR, Row, Table},
    value_type::ValueType,
};
use crate::nearest::nearest;
use serde_json::{Map, Value};

/// So many problems get the field that was probably meant: the search takes time, and nobody reads more of them.
const MOST_SUGGESTIONS: usize = 100;

/// Every problem with the fields of a configuration for one minor version, or for all versions together.
/// `apiVersion` and `kind` are of no concern.
pub fn check(component: Component, members: &Map<String, Value>, minor: Option<u32>) -> Vec<FieldProblem> {
    let mut walk = Walk { table: Table::of(component), minor, here: Vec::new(), problems: Vec::new() };
    let members = members.iter().filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind"));
    walk.members("", members);
    walk.problems
}

struct Walk {
    table: Table,
    minor: Option<u32>,
    here: Vec<Step>,
    problems: Vec<FieldProblem>,
}

impl Walk {
    /// Members of an object; `parent` ends where a name starts.
    fn members<'v>(&mut self, parent: &str, members: impl Iterator<Item = (&'v String, &'v Value)>) {
        for (name, value) in members {
            self.here.push(Step::Member(name.clone()));
            // A name with these would be taken for a path.
            let is_name = !name.contains(['.', '[', '{']);
            let path = format!("{parent}{name}");
            if is_name && !self.present(&path).is_empty() {
                self.value(&path, value);
            } else {
                let reason = self.unknown(parent, name);
                self.problem(reason);
            }
            self.here.pop();
        }
    }

    fn value(&mut self, path: &str, value: &Value) {
        let rows = self.present(path);
        let verdicts = rows.iter().map(|row| row.value_type.check(value));
        // A field that has several types takes any of them, if the version is unknown.
        match verdicts.reduce(|verdict, next| if verdict.is_ok() { verdict } else { next }) {
            Some(Err(reason)) => self.problem(reason),
            Some(Ok(())) => self.inside(path, rows.iter().any(|row| row.value_type == ValueType::Map), value),
            None => {}
        }
    }

    fn inside(&mut self, path: &str, is_map: bool, value: &Value) {
        match value {
            Value::Array(items) => {
                let path = format!("{path}[]");
                for (index, item) in items.iter().enumerate() {
                    self.step(Step::Item(index), &path, item);
                }
            }
            Value::Object(entries) if is_map => {
                let path = format!("{path}{{}}");
                for (name, value) in entries {
                    self.step(Step::Member(name.clone()), &path, value);
                }
            }
            Value::Object(members) => self.members(&format!("{path}."), members.iter()),
            _ => {}
        }
    }

    fn step(&mut self, step: Step, path: &str, value: &Value) {
        self.here.push(step);
        self.value(path, value);
        self.here.pop();
    }

    /// The rows of a field in the version that is asked for.
    fn present(&self, path: &str) -> Vec<Row> {
        self.table.rows(path).iter().filter(|row| self.is_present(row)).copied().collect()
    }

    fn is_present(&self, row: &Row) -> bool {
        let minor = self.minor.map(|minor| minor.clamp(OLDEST_MINOR, NEWEST_MINOR));
        minor.is_none_or(|minor| (row.first..=row.last).contains(&minor))
    }

    /// Why a field is not there.
    fn unknown(&self, parent: &str, name: &str) -> Reason {
        let rows = if name.contains(['.', '[', '{']) { &[] } else { self.table.rows(&format!("{parent}{name}")) };
        let minor = self.minor.unwrap_or(NEWEST_MINOR);
        if let Some(row) = rows.iter().find(|row| row.first > minor) {
            return Reason::TooEarly { minor, since: row.first };
        }
        if let Some(row) = rows.iter().rfind(|row| row.last < minor) {
            return Reason::Removed { minor, until: row.last };
        }
        let names = self.table.names(parent).filter(|(_, row)| self.is_present(row)).map(|(name, _)| name);
        let meant = if self.problems.len() < MOST_SUGGESTIONS { nearest(name, names) } else { None };
        if minor > NEWEST_MINOR { Reason::NotKnownYet { meant } } else { Reason::Unknown { meant } }
    }

    fn problem(&mut self, reason: Reason) {
        self.problems.push(FieldProblem { path: self.here.clone(), reason });
    }
}
