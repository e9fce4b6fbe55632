//! Just enough understanding of Markdown for checks: prose outside code, headings, links, rows of tables.

/// A line of prose with its number; what stands in code is blank.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: String,
}

/// The lines outside fenced code, with blanks for code in backticks.
pub(super) fn prose(text: &str) -> Vec<Line> {
    lines(text).map(|(number, line)| Line { number, text: without_code(line) }).collect()
}

/// The lines outside fenced code, numbered from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(move |(_, line)| {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return true,
            _ => {}
        }
        false
    })
}

fn without_code(line: &str) -> String {
    let mut in_code = false;
    let blank = |letter| {
        in_code ^= letter == '`';
        if in_code || letter == '`' { ' ' } else { letter }
    };
    line.chars().map(blank).collect()
}

/// The targets of links and of link definitions, with the line each stands on.
pub(super) fn links(text: &str) -> Vec<(usize, String)> {
    prose(text).iter().flat_map(|line| targets(&line.text).into_iter().map(|target| (line.number, target))).collect()
}

fn targets(line: &str) -> Vec<String> {
    let inline = line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let definition = line.trim_start().strip_prefix('[').and_then(|rest| Some(rest.split_once("]: ")?.1));
    inline.chain(definition).filter_map(|target| target.split_whitespace().next()).map(str::to_owned).collect()
}

/// The anchors of a page's headings, as GitHub makes them.
pub(super) fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in lines(text).filter(|(_, line)| line.starts_with('#')) {
        let plain = anchor(line.trim_start_matches('#').trim());
        let numbered = |count: usize| if count == 0 { plain.clone() } else { format!("{plain}-{count}") };
        let free = (0..).map(numbered).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// The rows of all tables with their lines; neither heads nor rules.
pub(super) fn rows(text: &str) -> Vec<(usize, Vec<String>)> {
    let lines: Vec<_> = lines(text).map(|(number, line)| (number, cells(line))).collect();
    let is_rule = |index: usize| lines.get(index).is_some_and(|(_, cells)| is_rule(cells));
    let body = lines.iter().enumerate().filter(|(index, _)| !is_rule(*index) && !is_rule(index + 1));
    body.filter_map(|(_, (number, cells))| Some((*number, cells.clone()?))).collect()
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

fn is_rule(cells: &Option<Vec<String>>) -> bool {
    let rule = |cell: &String| !cell.is_empty() && cell.chars().all(|letter| "-:".contains(letter));
    cells.as_ref().is_some_and(|cells| cells.iter().all(rule))
}

/// What stands between backticks.
pub(super) fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_in_prose_and_not_in_code() {
        let text = "[a](b.md) `[c](d.md)` ![e](f.png \"title\")\n```\n[g](h.md)\n```\n[i]: j.md\n";
        let links: Vec<_> = links(text);
        assert_eq!(links, [(1, "b.md".to_owned()), (1, "f.png".to_owned()), (5, "j.md".to_owned())]);
    }

    #[test]
    fn headings_become_anchors() {
        let text = "# One: two!\n## `three` four\n## One two\n```\n# no\n```\n";
        assert_eq!(anchors(text), ["one-two", "three-four", "one-two-1"]);
    }

    #[test]
    fn rows_are_read_without_head_and_rule() {
        let text = "| id | what |\n|---|:-:|\n| a | `b` |\ntext\n| c | d |\n";
        let rows = rows(text);
        assert_eq!(rows.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(rows[0].1, ["a", "`b`"]);
        assert_eq!(code_spans("x `b` y `c`").collect::<Vec<_>>(), ["b", "c"]);
    }
}
