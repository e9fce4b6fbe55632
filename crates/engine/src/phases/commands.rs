//! Commands of the user's, before and after the machine becomes a node.
use crate::{Known, Phase, PlanError, Planned, Wanted, steps_for};
use documents::v1alpha1::When;
use host::{Act, Inspect};

pub(crate) struct Commands(pub(super) When);

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

    fn plan(&self, machine: &Wanted, _: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError> {
        let mut planned = Planned::default();
        for command in machine.commands.iter().filter(|command| command.when == self.0) {
            let Planned { steps, remarks, .. } = steps_for(Act::Command(command.clone()), command.repeat, seen)?;
            planned.steps.extend(steps);
            planned.remarks.extend(remarks);
        }
        Ok(planned)
    }
}
