//! A reset for people.
use super::{count, plan};
use engine::ResetView;
use objects::one_line;

/// Renders what a reset does, or has done.
pub(crate) fn text(view: &ResetView) -> String {
    let machine = one_line(&view.machine);
    let mut text = match (view.changes(), view.is_done) {
        (0, _) => format!("{machine}: nothing to reset\n"),
        (changes, false) => format!("{machine}: reset, {}\n", count(changes, "change")),
        (_, true) => format!("{machine}: reset done\n"),
    };
    if !view.is_done {
        let steps = view.parts.iter().flat_map(|part| &part.steps);
        let width = steps.map(|line| line.target.chars().count()).max().unwrap_or_default().clamp(24, 72);
        for part in &view.parts {
            text.push_str(&format!("\n     {}\n", one_line(&part.name)));
            part.steps.iter().for_each(|line| text.push_str(&plan::step(line, width)));
            part.remarks.iter().for_each(|remark| text.push_str(&format!("    · {}\n", one_line(remark))));
        }
    }
    text.push_str(&list("Not undone", &view.not_undone));
    text.push_str(&list("Left for you", &view.left));
    text
}

fn list(title: &str, lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("    · {}\n", one_line(line))).collect();
    if lines.is_empty() { lines } else { format!("\n     {title}\n{lines}") }
}
