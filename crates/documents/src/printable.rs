//! Names from the input, as long as a message can bear.

const LONGEST: usize = 64;

/// A name that may be quoted in a message.
pub(crate) fn printable(name: &str) -> String {
    objects::printable(name, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(printable(&"x".repeat(65)), format!("{}…", "x".repeat(64)));
    }
}
