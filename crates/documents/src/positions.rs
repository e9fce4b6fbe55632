//! Positions of fields in a YAML text that others have read without them.
use crate::{
    limits::Budget,
    parse::parse,
    stream::Piece,
    tree::{Place, Places},
};

/// Where the fields of one YAML document stand.
pub struct Positions {
    places: Places,
}

impl Positions {
    /// Reads the text of one document; `None` if it is not YAML as machineadm reads it.
    pub fn of(text: &str) -> Option<Self> {
        let root = parse(&Piece { number: 1, line: 1, text }, &mut Budget::default()).ok()?;
        Some(Self { places: root.places() })
    }

    /// Line and column, counted from 1, of a field such as `networking.podSubnet`, or of the nearest thing around it.
    pub fn find(&self, path: &str) -> (usize, usize) {
        let Place { line, column } = self.places.nearest(path);
        (line, column)
    }
}

impl std::fmt::Debug for Positions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Positions").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_missing_has_the_position_of_what_is_around_it() {
        let positions = Positions::of("---\na:\n  b: [1, {c: 2}]\n").unwrap();
        assert_eq!(
            (positions.find("a.b[1].c"), positions.find("a.b[1].d"), positions.find("x")),
            ((3, 14), (3, 10), (2, 1))
        );
        assert!(Positions::of("a: [").is_none());
    }
}
