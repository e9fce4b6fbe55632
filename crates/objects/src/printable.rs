//! Names and words of others, made fit to be shown: short, one line, nothing that moves a terminal's cursor.

/// A text of others that may stand in a message; at most `longest` characters of it.
pub fn printable(text: &str, longest: usize) -> String {
    let mut shown: String = text.chars().take(longest).map(|c| if is_shown(c) { c } else { '\u{fffd}' }).collect();
    if text.chars().nth(longest).is_some() {
        shown.push('…');
    }
    shown
}

/// A text whose lines and tabs stay, and in which nothing else controls a terminal: such characters are written as
/// escapes, `\x1b` or `\u{202e}`.
pub fn visible(text: &str) -> String {
    escaped(text, |c| c == '\n' || c == '\t' || is_shown(c))
}

/// The same in one line: it can't look like a line of ours.
pub fn one_line(text: &str) -> String {
    escaped(text, is_shown)
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if stays(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            '\0'..='\x7f' => shown.push_str(&format!("\\x{:02x}", u32::from(c))),
            _ => shown.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    shown
}

/// Whether a character is seen where it stands, and nowhere else: no control character, none that turns the direction of
/// the text, is invisible, or stands for a colour of ours (noncharacters).
fn is_shown(c: char) -> bool {
    let hides = matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fdd0}'..='\u{fdef}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    !c.is_control() && !hides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_is_replaced_and_what_is_long_is_cut() {
        assert_eq!(printable("a\u{1b}[2Jb\n\u{202e}", 99), "a\u{fffd}[2Jb\u{fffd}\u{fffd}");
        assert_eq!(printable("xyz", 3), "xyz");
        assert_eq!(printable("xyz", 2), "xy…");
    }
    #[test]
    fn what_controls_a_terminal_is_written_as_an_escape() {
        let text = "a\u{1b}[2Jb\r\u{9b}1A\u{202e}c\u{7f}\n\td \u{200d}é→";
        assert_eq!(visible(text), "a\\x1b[2Jb\\r\\u{9b}1A\\u{202e}c\\x7f\n\td \\u{200d}é→");
        assert_eq!(one_line("a\n\tb"), "a\\n\\tb");
        assert_eq!(one_line("pass\u{fdd0}w\u{ad}d\u{3164}\u{2800}"), "pass\\u{fdd0}w\\u{ad}d\\u{3164}\\u{2800}");
    }
}
