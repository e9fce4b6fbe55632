//! A plan for people.
use super::{count, padded, sign, sources};
use engine::{Line, PlanView};
use objects::one_line;

/// Renders a plan; turns without anything to say are left out.
pub(crate) fn text(plan: &PlanView) -> String {
    let machine = one_line(&plan.machine);
    let mut text =
        format!("{machine}: {}, {}, {}\n", plan.mode.name(), count(plan.documents, "document"), changes(plan));
    if let Some(holder) = &plan.in_progress {
        text.push_str(&format!("A run is in progress: {}. This plan may change with it.\n", one_line(holder)));
    }
    text.push_str(&sources(&plan.sources));
    let width = plan.phases.iter().flat_map(|phase| &phase.steps).map(|line| line.target.chars().count()).max();
    let width = width.unwrap_or_default().clamp(24, 72);
    for phase in &plan.phases {
        if phase.steps.is_empty() && phase.remarks.is_empty() && phase.known_after.is_none() {
            continue;
        }
        let number = phase.document.map(|number| number.to_string()).unwrap_or_default();
        text.push_str(&format!("\n{number:>3}  {}\n", one_line(&phase.name)));
        phase.steps.iter().for_each(|line| text.push_str(&step(line, width)));
        if let Some(earlier) = &phase.known_after {
            text.push_str(&format!("    · known after {}\n", one_line(earlier)));
        }
        for remark in &phase.remarks {
            text.push_str(&format!("    · {}\n", one_line(remark)));
        }
    }
    text
}

fn changes(plan: &PlanView) -> String {
    let open = plan.phases.iter().any(|phase| phase.known_after.is_some());
    let changes = match (plan.changes, open) {
        (0, false) if plan.not_checked == 0 => "nothing to do".into(),
        (changes, false) => count(changes, "change"),
        (changes, true) => format!("{} and what is known later", count(changes, "change")),
    };
    match plan.not_checked {
        0 => changes,
        commands => format!("{changes}, {} not checked", count(commands, "command")),
    }
}

/// One step.
pub(super) fn step(line: &Line, width: usize) -> String {
    let (target, detail) = (one_line(&line.target), one_line(&line.detail));
    let head = format!("    {} {}  {detail}", sign(line.mark()), padded(&target, width));
    let mut text = format!("{}\n", head.trim_end());
    for changed in &line.diff {
        let (mark, rest) = changed.split_at_checked(1).unwrap_or_default();
        text.push_str(format!("      {} {}", sign(mark), one_line(&rest.replace('\t', "    "))).trim_end());
        text.push('\n');
    }
    text
}
