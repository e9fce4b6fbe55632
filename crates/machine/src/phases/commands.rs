//! Commands of the user's, before and after the machine becomes a node.
use crate::{Known, Machine, Phase, PlanError, Planned, steps_for};
use host::{Act, Inspect};

pub(crate) struct Commands(pub(super) When);

/// Which side of the document that makes the machine a node.
pub(super) enum When {
    Before,
    After,
}

impl Phase for Commands {
    fn name(&self) -> &'static str {
        match self.0 {
            When::Before => "commands/before",
            When::After => "commands/after",
        }
    }

    fn summary(&self) -> &'static str {
        match self.0 {
            When::Before => "runs the commands that shall run before the machine becomes a node",
            When::After => "runs the commands that shall run after the machine has become a node",
        }
    }

    fn plan(&self, machine: &Machine, _: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError> {
        let mut planned = Planned::default();
        let commands = match self.0 {
            When::Before => &machine.commands,
            When::After => &machine.late_commands,
        };
        for command in commands {
            let Planned { steps, remarks, .. } = steps_for(Act::Command(command.clone()), command.repeat, seen)?;
            planned.steps.extend(steps);
            planned.remarks.extend(remarks);
        }
        Ok(planned)
    }
}
