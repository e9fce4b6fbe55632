//! The table of `token list`. Each row is aligned by itself, as kubeadm does it: only some columns have a width.
use super::Listed;
use crate::show::padded;

/// The heading line.
pub(crate) const HEAD: &str = "TOKEN                     TTL         EXPIRES   USAGES                   DESCRIPTION                                                EXTRA GROUPS\n";

const TTL_WIDTH: usize = 9;
const USAGES_WIDTH: usize = 22;
const DESCRIPTION_WIDTH: usize = 56;
const GAP: &str = "   ";

/// One line; `left` is the time to live in words, absent for a token that lives for ever.
pub(crate) fn row(token: &Listed, left: Option<&str>) -> String {
    let or_none = |text: String| if text.is_empty() { "<none>".to_owned() } else { text };
    let cells = [
        token.token.clone(),
        padded(left.unwrap_or("<forever>"), TTL_WIDTH),
        token.expires.clone().unwrap_or_else(|| "<never>".into()),
        padded(&or_none(token.usages.join(",")), USAGES_WIDTH),
        padded(&or_none(one_line(&token.description)), DESCRIPTION_WIDTH),
        or_none(token.groups.join(",")),
    ];
    cells.join(GAP) + "\n"
}

/// A description may hold anything; a row is one line, and a terminal is not told what to do.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_anything_says_so_and_stays_one_line() {
        let mut token = Listed::new("abcdef.0123456789abcdef".into());
        let line = row(&token, Some("<invalid>"));
        assert!(line.starts_with("abcdef.0123456789abcdef   <invalid>   <never>   <none>   "), "{line}");
        assert!(line.ends_with("   <none>\n"), "{line}");
        token.description = "two\nlines\x1b[31m".into();
        assert_eq!(row(&token, None).matches(char::is_control).count(), 1);
    }
}
