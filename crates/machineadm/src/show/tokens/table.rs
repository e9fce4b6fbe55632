//! The table of `token list`. Each row is aligned by itself, as kubeadm does it; the heading goes by the first row.
use super::Listed;
use crate::show::padded;
use objects::printable;

const HEAD: [&str; 6] = ["TOKEN", "TTL", "EXPIRES", "USAGES", "DESCRIPTION", "EXTRA GROUPS"];
const TTL_WIDTH: usize = 9;
const USAGES_WIDTH: usize = 22;
const DESCRIPTION_WIDTH: usize = 56;
const GAP: usize = 3;
/// No column is narrower, with its gap.
const NARROWEST: usize = 10;

/// The cells of one token's line.
pub(crate) struct Row([String; 6]);

impl Row {
    /// `left` is the time to live in words, absent for a token that lives for ever.
    pub(crate) fn of(token: &Listed, left: Option<&str>) -> Self {
        Self([
            token.token.clone(),
            padded(left.unwrap_or("<forever>"), TTL_WIDTH),
            token.expires.clone().unwrap_or_else(|| "<never>".into()),
            padded(&or_none(&token.usages.join(",")), USAGES_WIDTH),
            padded(&or_none(&token.description), DESCRIPTION_WIDTH),
            or_none(&token.groups.join(",")),
        ])
    }

    pub(crate) fn line(&self) -> String {
        let widths = [0; 6];
        line(self.0.each_ref().map(String::as_str), widths)
    }

    /// The line below the heading, both aligned with each other.
    pub(crate) fn headed(&self) -> String {
        let cells = self.0.each_ref().map(String::as_str);
        let widths = cells.map(|cell| cell.chars().count());
        let head_widths = HEAD.map(|cell| cell.chars().count());
        line(HEAD, widths) + &line(cells, head_widths)
    }
}

/// The cells, each at least as wide as its neighbour in the other line; nothing follows the last.
fn line(cells: [&str; 6], widths: [usize; 6]) -> String {
    let [columns @ .., last] = cells;
    let column = |(cell, width): (&str, usize)| padded(cell, (cell.chars().count().max(width) + GAP).max(NARROWEST));
    let columns: String = columns.into_iter().zip(widths).map(column).collect();
    columns + last + "\n"
}

/// Secrets may hold anything; a row is one line, and a terminal is not told what to do.
fn or_none(text: &str) -> String {
    if text.is_empty() { "<none>".to_owned() } else { printable(text, usize::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Listed {
        let mut token = Listed::new("abcdef.0123456789abcdef".into());
        token.usages = vec!["signing".into()];
        token
    }

    /// Columns of the heading that stand where the row's cells begin.
    fn head_of(row: &Row) -> String {
        row.headed().lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_heading_goes_by_the_first_row_as_kubeadms_does() {
        let mut token = token();
        let never = "TOKEN                     TTL         EXPIRES   USAGES                   DESCRIPTION                                                EXTRA GROUPS";
        assert_eq!(head_of(&Row::of(&token, None)), never);
        token.expires = Some("2026-11-16T05:32:00Z".into());
        let dated = "TOKEN                     TTL         EXPIRES                USAGES                   DESCRIPTION                                                EXTRA GROUPS";
        assert_eq!(head_of(&Row::of(&token, Some("59m"))), dated);
        token.description = "a very long description that is longer than fifty-six characters, surely it is".into();
        let long = "TOKEN                     TTL         EXPIRES                USAGES                   DESCRIPTION                                                                      EXTRA GROUPS";
        assert_eq!(head_of(&Row::of(&token, Some("59m"))), long);
    }

    #[test]
    fn later_rows_have_only_the_widths_of_their_own() {
        let row = Row::of(&token(), None);
        assert_eq!(row.line(), row.headed().lines().nth(1).map(|line| format!("{line}\n")).unwrap_or_default());
        let line = Row::of(&token(), Some("<invalid>")).line();
        assert!(line.starts_with("abcdef.0123456789abcdef   <invalid>   <never>   signing   "), "{line}");
        assert!(line.ends_with("   <none>\n"), "{line}");
    }

    #[test]
    fn what_others_wrote_neither_forges_rows_nor_moves_the_cursor_and_letters_stay() {
        let mut token = token();
        token.description = "two\nlines\x1b[31m für 日本 \u{202e}".into();
        token.groups = vec!["system:bootstrappers:a\nabcdef.0123456789abcdef\u{9b}2J".into()];
        let line = Row::of(&token, None).line();
        assert_eq!(line.matches(char::is_control).count(), 1, "{line:?}");
        assert!(line.contains("two\u{fffd}lines\u{fffd}[31m für 日本 \u{fffd}"), "{line}");
    }
}
