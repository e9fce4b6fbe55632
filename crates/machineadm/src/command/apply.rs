//! `machineadm apply`: does exactly what a reviewed plan says, or refuses.
use super::run::{Run, lock, machine_for};
use crate::{
    cli::Apply,
    command_error::CommandError,
    context::{Unusable, expanded, given, input_file, silent_machine},
    provider::Waiting,
};
use documents::Source;
use engine::{SavedPlan, outcome::chain};
use host::{Host, Linux, contract::Exit, linux::input::Care};
use jiff::Timestamp;
use std::path::Path;
use zeroize::Zeroizing;

/// A plan holds its configuration in base64 and a line per step.
const LARGEST_PLAN: u64 = 16 << 20;

pub(crate) fn run(asked: &Apply, root: &Path) -> Result<Exit, CommandError> {
    let plan = read(&asked.plan)?;
    let bytes = plan.configuration().map_err(|error| CommandError::usage(format!("{} {error}", asked.plan)))?;
    let bytes = Zeroizing::new(bytes.expose().clone());
    let text = bytes.clone();
    let given = given(vec![Source { name: asked.plan.clone(), bytes }])?;
    let mut seen = silent_machine(root)?;
    if plan.machine_id != seen.machine_id() {
        return Err(refuse(&format!("it was made for {}, which is another machine", plan.machine)));
    }
    let _lock = lock(&seen, "machineadm apply")?;
    seen.remove_leftovers()?;
    let run = Run { mode: plan.mode, prune: plan.prune(), output: asked.output, started: Timestamp::now() };
    let configuration =
        expanded(given, text, &seen, Waiting::AsConfigured).map_err(|unusable| not_applied(&unusable))?;
    let mut linux = machine_for(&configuration, root)?;
    allowed(&plan, &configuration, &linux)?;
    run.go(&configuration, Some(&plan), &mut linux)
}

fn read(name: &str) -> Result<SavedPlan, CommandError> {
    let bytes = input_file(name, Care::Applying, LARGEST_PLAN)?;
    SavedPlan::read(&bytes).map_err(|error| CommandError::usage(format!("{name} {error}")))
}

/// All turns are compared before the first is applied; each is again in its time.
fn allowed(plan: &SavedPlan, configuration: &crate::context::Configuration, linux: &Linux) -> Result<(), CommandError> {
    let now = super::plan::look_again(plan, configuration, linux)?;
    plan.allows_turns(now.0.iter().map(|(label, _)| label)).map_err(|error| refuse(&chain(&error)))?;
    for (turn, (label, planned)) in now.0.iter().enumerate() {
        plan.allows(turn, label, planned).map_err(|error| refuse(&chain(&error)))?;
    }
    // Of turns that could not tell yet there was nothing to compare.
    plan.allows_parts(&configuration.parts).map_err(|error| refuse(&chain(&error)))
}

/// Nothing of the plan was begun, so that no outcome tells of it.
fn not_applied(unusable: &Unusable) -> CommandError {
    let remedy = "run it again once it can be had; nothing was changed";
    unusable.error().with_remedies((unusable.exit == Exit::Failed).then_some(remedy))
}

fn refuse(why: &str) -> CommandError {
    CommandError::manual_action(format!("the plan is refused and nothing was changed: {why}"))
        .with_remedy("make a new plan and review it")
}
