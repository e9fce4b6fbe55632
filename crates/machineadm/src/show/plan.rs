//! A plan for people.
use super::{count, padded, sign, sources};
use engine::{Line, PlanView};

/// Renders a plan; turns without anything to say are left out.
pub(crate) fn text(plan: &PlanView) -> String {
    let mut text =
        format!("{}: {}, {}, {}\n", plan.machine, plan.mode.name(), count(plan.documents, "document"), changes(plan));
    text.push_str(&sources(&plan.sources));
    let width = plan.phases.iter().flat_map(|phase| &phase.steps).map(|line| line.target.chars().count()).max();
    let width = width.unwrap_or_default().clamp(24, 72);
    for phase in &plan.phases {
        if phase.steps.is_empty() && phase.remarks.is_empty() && phase.known_after.is_none() {
            continue;
        }
        let number = phase.document.map(|number| number.to_string()).unwrap_or_default();
        text.push_str(&format!("\n{number:>3}  {}\n", phase.name));
        phase.steps.iter().for_each(|line| text.push_str(&step(line, width)));
        if let Some(earlier) = &phase.known_after {
            text.push_str(&format!("    · known after {earlier}\n"));
        }
        for remark in &phase.remarks {
            text.push_str(&format!("    · {remark}\n"));
        }
    }
    text
}

fn changes(plan: &PlanView) -> String {
    let open = plan.phases.iter().any(|phase| phase.known_after.is_some());
    match (plan.changes, open) {
        (0, false) => "nothing to do".into(),
        (changes, false) => count(changes, "change"),
        (changes, true) => format!("{} and what is known later", count(changes, "change")),
    }
}

fn step(line: &Line, width: usize) -> String {
    let head = format!("    {} {}  {}", sign(line.mark()), padded(&line.target, width), line.detail);
    let mut text = format!("{}\n", head.trim_end());
    for changed in &line.diff {
        let (mark, rest) = changed.split_at(1);
        text.push_str(format!("      {} {rest}", sign(mark)).trim_end());
        text.push('\n');
    }
    text
}
