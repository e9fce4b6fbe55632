//! The table of `token list`. Each row is aligned by itself, as kubeadm does it; the heading goes by the first row.
use super::Listed;
use objects::printable;
use std::borrow::Cow;

const HEAD: [&str; 6] = ["TOKEN", "TTL", "EXPIRES", "USAGES", "DESCRIPTION", "EXTRA GROUPS"];
/// What each column has at least, before its gap.
const WIDTHS: [usize; 6] = [7, 9, 7, 22, 56, 0];
const GAP: usize = 3;
/// Room for a line without long descriptions.
const LINE: usize = 200;

/// The cells of one token's line.
pub(crate) struct Row<'a>([Cow<'a, str>; 6]);

impl<'a> Row<'a> {
    /// `left` is the time to live in words, absent for a token that lives for ever.
    pub(crate) fn of(token: &'a Listed<'_>, left: Option<&'a str>) -> Self {
        Self([
            token.token.as_str().into(),
            left.unwrap_or("<forever>").into(),
            token.expires.as_deref().unwrap_or("<never>").into(),
            or_none(token.usages.join(",").into()),
            or_none(token.description.into()),
            or_none(token.groups.join(",").into()),
        ])
    }

    pub(crate) fn line(&self) -> String {
        let mut text = String::with_capacity(LINE);
        put(&mut text, self.cells(), WIDTHS);
        text
    }

    /// The line below the heading, both aligned with each other.
    pub(crate) fn headed(&self) -> String {
        let mut widths = WIDTHS;
        for (width, (head, cell)) in widths.iter_mut().zip(HEAD.iter().zip(self.cells())) {
            *width = (*width).max(head.len()).max(cell.chars().count());
        }
        let mut text = String::with_capacity(2 * LINE);
        put(&mut text, HEAD, widths);
        put(&mut text, self.cells(), widths);
        text
    }

    fn cells(&self) -> [&str; 6] {
        self.0.each_ref().map(AsRef::as_ref)
    }
}

/// One line; nothing follows its last cell.
fn put(text: &mut String, cells: [&str; 6], widths: [usize; 6]) {
    let [columns @ .., last] = cells;
    for (cell, width) in columns.into_iter().zip(widths) {
        text.push_str(cell);
        text.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count()) + GAP));
    }
    text.push_str(last);
    text.push('\n');
}

/// Secrets may hold anything; a row is one line, and a terminal is not told what to do.
fn or_none(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_empty() {
        return "<none>".into();
    }
    // Nearly all are, and need no copy.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain { text } else { printable(&text, usize::MAX).into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use discovery::TokenSettings;

    fn token() -> TokenSettings {
        let mut token = TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap());
        token.usages.insert("signing".into());
        token
    }

    fn line(token: &TokenSettings, left: Option<&str>) -> String {
        Row::of(&Listed::from(token), left).line()
    }

    fn head(token: &TokenSettings, left: Option<&str>) -> String {
        Row::of(&Listed::from(token), left).headed().lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_heading_goes_by_the_first_row_as_kubeadms_does() {
        let mut token = token();
        let never = "TOKEN                     TTL         EXPIRES   USAGES                   DESCRIPTION                                                EXTRA GROUPS";
        assert_eq!(head(&token, None), never);
        token.expires = Some("2026-11-16T05:32:00Z".parse::<jiff::Timestamp>().unwrap().into());
        let dated = "TOKEN                     TTL         EXPIRES                USAGES                   DESCRIPTION                                                EXTRA GROUPS";
        assert_eq!(head(&token, Some("59m")), dated);
        token.description = "a very long description that is longer than fifty-six characters, surely it is".into();
        let long = "TOKEN                     TTL         EXPIRES                USAGES                   DESCRIPTION                                                                      EXTRA GROUPS";
        assert_eq!(head(&token, Some("59m")), long);
    }

    #[test]
    fn later_rows_have_only_the_widths_of_their_own() {
        let line = line(&token(), Some("<invalid>"));
        assert!(line.starts_with("abcdef.0123456789abcdef   <invalid>   <never>   signing   "), "{line}");
        assert!(line.ends_with("   <none>\n"), "{line}");
    }

    #[test]
    fn what_others_wrote_neither_forges_rows_nor_moves_the_cursor_and_letters_stay() {
        let mut token = token();
        token.description = "two\nlines\x1b[31m für 日本 \u{202e}".into();
        token.groups = vec!["system:bootstrappers:a\nabcdef.0123456789abcdef\u{9b}2J".into()];
        let line = line(&token, None);
        assert_eq!(line.matches(char::is_control).count(), 1, "{line:?}");
        assert!(line.contains("two\u{fffd}lines\u{fffd}[31m für 日本 \u{fffd}"), "{line}");
    }
}
