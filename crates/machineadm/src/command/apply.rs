//! `machineadm apply`: does exactly what a reviewed plan says, or refuses.
use super::run::{Run, lock, machine_for};
use crate::{
    cli::Apply,
    context::{Unusable, complain, expanded, given, silent_machine},
};
use documents::Source;
use engine::{SavedPlan, outcome::chain};
use host::{
    Linux,
    contract::Exit,
    linux::input::{self, Care},
};
use jiff::Timestamp;
use std::path::Path;
use zeroize::Zeroizing;

/// A plan holds its configuration in base64 and a line per step.
const LARGEST_PLAN: u64 = 16 << 20;

pub(crate) fn run(asked: &Apply, root: &Path) -> Exit {
    apply(asked, root).unwrap_or_else(|exit| exit)
}

fn apply(asked: &Apply, root: &Path) -> Result<Exit, Exit> {
    let plan = read(&asked.plan)?;
    let bytes = plan.configuration().map_err(|error| super::wrong_use(&format!("{} {error}", asked.plan)))?;
    let bytes = Zeroizing::new(bytes.expose().clone());
    let text = bytes.clone();
    let given = given(vec![Source { name: asked.plan.clone(), bytes }])?;
    let seen = silent_machine(root)?;
    if plan.machine_id != seen.machine_id() {
        return Err(refuse(&format!("it was made for {}, which is another machine", plan.machine)));
    }
    let _lock = lock(&seen, "machineadm apply")?;
    let run = Run { mode: plan.mode, output: asked.output, started: Timestamp::now() };
    let configuration = expanded(given, text, &seen).map_err(|unusable| not_applied(&unusable))?;
    let mut linux = machine_for(&configuration, root)?;
    allowed(&plan, &configuration, &linux)?;
    Ok(run.go(&configuration, Some(&plan), &mut linux))
}

fn read(name: &str) -> Result<SavedPlan, Exit> {
    let bytes = input::read(name, Care::Applying, LARGEST_PLAN).map_err(|error| {
        complain(&error);
        Exit::Input
    })?;
    SavedPlan::read(&bytes).map_err(|error| super::wrong_use(&format!("{name} {error}")))
}

/// All phases are compared before the first is applied; each is again in its turn.
fn allowed(plan: &SavedPlan, configuration: &crate::context::Configuration, linux: &Linux) -> Result<(), Exit> {
    let now = super::plan::look(plan.mode, configuration, linux)?;
    for (phase, planned) in &now.0 {
        plan.allows(phase, planned).map_err(|error| refuse(&chain(&error)))?;
    }
    // Of phases that could not tell yet there was nothing to compare.
    plan.allows_parts(&configuration.parts).map_err(|error| refuse(&chain(&error)))
}

/// Nothing of the plan was begun, so that no outcome tells of it.
fn not_applied(unusable: &Unusable) -> Exit {
    unusable.tell();
    if unusable.exit == Exit::Failed {
        tell!("remedy: run it again once it can be had; nothing was changed");
    }
    unusable.exit
}

fn refuse(why: &str) -> Exit {
    tell!("error: the plan is refused and nothing was changed: {why}\nremedy: make a new plan and review it");
    Exit::Person
}
