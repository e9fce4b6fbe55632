//! The generated tables of fields: a row for each path and type, with the minor versions that have it.
use super::{Component, value_type::ValueType};

const KUBELET: &str = include_str!("kubelet.txt");
const KUBE_PROXY: &str = include_str!("kube-proxy.txt");

/// The oldest minor version in the tables; older ones have no Go module and are judged by its fields.
pub const OLDEST_MINOR: u32 = 15;
/// The newest minor version in the tables.
pub const NEWEST_MINOR: u32 = 37;

/// A field with one type in a run of minor versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Dots; `[]` is the element of a list, `{}` the value of a map.
    pub(super) path: &'static str,
    pub(super) value_type: ValueType,
    pub(super) first: u32,
    pub(super) last: u32,
}

/// Every field of a component's configuration, sorted by path.
pub(super) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(super) fn of(component: Component) -> Self {
        let text = match component {
            Component::Kubelet => KUBELET,
            Component::KubeProxy => KUBE_PROXY,
        };
        Self { rows: text.lines().filter_map(row).collect() }
    }

    /// The rows of one field, by their version.
    pub(super) fn rows(&self, path: &str) -> &[Row] {
        let start = self.rows.partition_point(|row| row.path < path);
        let length = self.rows[start..].iter().take_while(|row| row.path == path).count();
        &self.rows[start..start + length]
    }

    /// The names of the fields directly below a path that ends where a name starts, each with its row.
    pub(super) fn names<'t>(&'t self, parent: &'t str) -> impl Iterator<Item = (&'static str, &'t Row)> {
        let named = move |row: &'t Row| {
            let name = row.path.strip_prefix(parent)?;
            (!name.contains(['.', '[', '{'])).then_some((name, row))
        };
        self.rows.iter().filter_map(named)
    }
}

/// A line of a table; comments are none.
fn row(line: &'static str) -> Option<Row> {
    let mut columns = line.split(' ').filter(|_| !line.starts_with('#'));
    let (path, value_type) = (columns.next()?, ValueType::named(columns.next()?)?);
    Some(Row { path, value_type, first: columns.next()?.parse().ok()?, last: columns.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_a_row_and_they_are_sorted() {
        for (component, text) in [(Component::Kubelet, KUBELET), (Component::KubeProxy, KUBE_PROXY)] {
            let rows = Table::of(component).rows;
            assert_eq!(rows.len(), text.lines().filter(|line| !line.starts_with('#')).count());
            assert!(rows.is_sorted_by_key(|row| row.path));
            assert_eq!(rows.iter().map(|row| row.first).min(), Some(OLDEST_MINOR));
            assert_eq!(rows.iter().map(|row| row.last).max(), Some(NEWEST_MINOR));
        }
    }
}
