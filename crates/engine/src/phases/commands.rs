//! CommandsConfig: commands of the user's, at the place where their document stands.
use super::{Phase, Role};
use crate::{
    Look, PlanError, Planned,
    acts::{Arguments, CommandAct, command_id_prefix},
    steps_for,
};
use documents::{AnyDocument, Decoded, v1alpha1::Command};
use std::rc::Rc;

pub(super) const PHASE: Phase = Phase {
    kind: "CommandsConfig",
    summary: "runs commands whose effect is not there yet",
    role: Role::Runs,
    plan,
    acts: |document| commands(document).iter().map(command_id_prefix).collect(),
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let arguments = if document.sealed { Arguments::Hidden } else { Arguments::Shown };
    for command in commands(document) {
        let act = CommandAct(command.clone(), arguments);
        let Planned { steps, remarks, .. } = steps_for(Rc::new(act), look)?;
        planned.steps.extend(steps);
        planned.remarks.extend(remarks);
    }
    Ok(planned)
}

fn commands(document: &Decoded) -> &[Command] {
    match &document.body {
        AnyDocument::Commands(commands) => commands,
        _ => &[],
    }
}
