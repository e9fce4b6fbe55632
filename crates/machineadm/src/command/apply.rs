//! `machineadm apply`: does exactly what a reviewed plan says, or refuses.
use super::{
    bootstrap::can_succeed,
    run::{Run, lock, machine_for},
    saved_plan,
};
use crate::{
    cli::Apply,
    command_error::CommandError,
    context::{Configuration, Unusable, expanded, given, silent_machine},
    provider::Waiting,
    show,
};
use documents::Source;
use engine::{Mode, PlanError, ReviewedPlan, is_done, outcome::chain};
use host::{
    Host, Linux,
    contract::{self, Exit},
    linux::input::Care,
};
use jiff::Timestamp;
use objects::one_line;
use std::path::Path;
use zeroize::Zeroizing;

pub(crate) fn run(asked: &Apply, root: &Path) -> Result<Exit, CommandError> {
    let mut seen = silent_machine(root)?;
    let plan = verified(asked, &seen)?;
    let bytes = plan.configuration().map_err(|error| CommandError::invalid(format!("{} {error}", asked.plan)))?;
    let bytes = Zeroizing::new(bytes.expose().clone());
    let text = bytes.clone();
    let given = given(vec![Source { name: asked.plan.clone(), bytes }])?;
    let _lock = lock(&seen, "machineadm apply")?;
    seen.remove_leftovers()?;
    let again = match plan.mode() {
        Mode::Provision => show::status::resume(root),
        _ => saved_plan::apply_command(&asked.plan, root),
    };
    let (mode, prune, manifests, started) = (plan.mode(), plan.prune(), plan.manifests(), Timestamp::now());
    let run =
        Run { mode, prune, manifests, output: asked.output, started, root, again, delivered: None, closing: None };
    let configuration =
        expanded(given, text, &seen, Waiting::AsConfigured).map_err(|unusable| not_applied(&unusable))?;
    can_succeed(run.mode, &configuration.wanted, &seen)?;
    let mut linux = machine_for(&configuration, root)?;
    match compare(&plan, &configuration, &linux)? {
        State::Reviewed => run.go(&configuration, Some(&plan), &mut linux),
        State::Done => {
            tell!("the plan has been applied already: nothing to do");
            Ok(Exit::Done)
        }
    }
}

/// The plan, if this machine made it and nobody edited it.
fn verified(asked: &Apply, linux: &Linux) -> Result<ReviewedPlan, CommandError> {
    let plan = saved_plan::read(&asked.plan, Care::Applying)?;
    let another = format!("it was made for {}, which is another machine", plan.shown().machine);
    if plan.machine_id() != linux.machine_id() {
        return Err(refuse(&another, []));
    }
    let without_key = || {
        let missing = format!("{} is missing", linux.place_of(contract::PLAN_KEY).display());
        refuse(&format!("{missing}: the plan was saved on another machine, or the key was deleted since"), [])
    };
    let key = saved_plan::existing_key(linux)?.ok_or_else(without_key)?;
    plan.verified(&key).map_err(|error| CommandError::invalid(format!("{} {error}", asked.plan)))
}

/// How a machine stands to a reviewed plan.
enum State {
    /// As it was when the plan was made.
    Reviewed,
    /// As the plan makes it.
    Done,
}

/// All turns are compared before the first is applied; each is again in its time.
fn compare(plan: &ReviewedPlan, configuration: &Configuration, linux: &Linux) -> Result<State, CommandError> {
    let now = super::plan::look_again(plan, configuration, linux)?;
    let mut differences = differences(plan.allows_turns(now.0.iter().map(|(label, _)| label)));
    if differences.is_empty() {
        let turns = now.0.iter().enumerate();
        differences
            .extend(turns.flat_map(|(turn, (label, planned))| self::differences(plan.allows(turn, label, planned))));
    }
    let is_done = is_done(&now);
    // Of turns that could not tell yet there was nothing to compare.
    let parts = self::differences(plan.allows_parts(&configuration.parts));
    match (differences.is_empty(), parts.is_empty()) {
        (true, true) => Ok(State::Reviewed),
        (false, true) if is_done => Ok(State::Done),
        _ => Err(refuse(DRIFTED, differences.into_iter().chain(parts))),
    }
}

fn differences(allowed: Result<(), PlanError>) -> Vec<String> {
    match allowed {
        Ok(()) => Vec::new(),
        Err(PlanError::Drifted(differences)) => differences,
        Err(error) => vec![chain(&error)],
    }
}

/// Nothing of the plan was started, so that there is no outcome of it.
fn not_applied(unusable: &Unusable) -> CommandError {
    let remedy = "run it again when that is available; nothing was changed";
    unusable.error().with_remedies((unusable.exit == Exit::Failed).then_some(remedy))
}

const DRIFTED: &str = "the machine has changed since the plan was made";

fn refuse(why: &str, differences: impl IntoIterator<Item = String>) -> CommandError {
    let lines: String = differences.into_iter().map(|line| format!("\n  {}", one_line(&line))).collect();
    CommandError::manual_action(format!("the plan is refused and nothing was changed: {why}{lines}"))
        .with_remedy("make a new plan and review it")
}
