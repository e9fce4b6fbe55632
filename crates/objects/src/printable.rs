//! Names and words of others, made fit to be shown: short, one line, nothing that moves a terminal's cursor.

/// A text of others that may stand in a message; at most `longest` characters of it.
pub fn printable(text: &str, longest: usize) -> String {
    let mut shown: String = text.chars().take(longest).map(|c| if is_shown(c) { c } else { '\u{fffd}' }).collect();
    if text.chars().nth(longest).is_some() {
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
    fn what_moves_the_cursor_is_replaced_and_what_is_long_is_cut() {
        assert_eq!(printable("a\u{1b}[2Jb\n\u{202e}", 99), "a\u{fffd}[2Jb\u{fffd}\u{fffd}");
        assert_eq!(printable("xyz", 3), "xyz");
        assert_eq!(printable("xyz", 2), "xy…");
    }
}
