//! Names from the input, made fit to be shown: short, one line, nothing that moves a terminal's cursor.

const LONGEST: usize = 64;

/// A name that may be quoted in a message.
pub(crate) fn printable(name: &str) -> String {
    let mut shown: String = name.chars().take(LONGEST).map(|c| if is_shown(c) { c } else { '\u{fffd}' }).collect();
    if name.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

fn is_shown(c: char) -> bool {
    let turns_text_around =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    !c.is_control() && !turns_text_around
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(printable(&"x".repeat(65)), format!("{}…", "x".repeat(64)));
    }

    #[test]
    fn what_moves_the_cursor_is_replaced() {
        assert_eq!(printable("a\u{1b}[2Jb\n\u{202e}"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}");
    }
}
