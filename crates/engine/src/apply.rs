//! Doing it: each phase plans in its turn, so that it sees what earlier ones did, and one function applies.
use crate::{Known, Mode, Phase, PlanError, Planned, SavedPlan, Step, Wanted, phases, view::Line};
use host::{Act, Host};

/// What happens during a run, for whoever shows or records it.
#[derive(Debug)]
pub enum Event<'a> {
    /// A phase's turn has come.
    Phase(&'static str),
    /// It has said what is missing.
    Planned(&'a Planned),
    /// A step begins.
    Begins(&'a Step),
    /// It is done.
    Done(&'a Step),
    /// The phase is through.
    Through,
}

/// Where a run stopped, and why.
#[derive(Debug, thiserror::Error)]
#[error("{phase}: {}", step.as_deref().unwrap_or("cannot plan"))]
pub struct Failure {
    /// The phase.
    pub phase: &'static str,
    /// The step, in words; `None` when the phase could not plan.
    pub step: Option<String>,
    /// Why.
    #[source]
    pub cause: PlanError,
}

/// Plans and applies each phase in its turn; with a reviewed plan, only what that plan says.
pub fn bootstrap(
    mode: Mode,
    machine: &Wanted,
    reviewed: Option<&SavedPlan>,
    host: &mut dyn Host,
    watch: &mut dyn FnMut(Event<'_>),
) -> Result<(), Failure> {
    let mut known = Known::default();
    for (turn, phase) in phases(mode).iter().enumerate() {
        let stopped = |step: Option<&Step>, cause| Failure {
            phase: phase.name(),
            step: step.map(|step| Line::of(step).to_string()),
            cause,
        };
        watch(Event::Phase(phase.name()));
        let planned = phase.plan(machine, &known, host).map_err(|cause| stopped(None, cause))?;
        if let Some(reviewed) = reviewed {
            reviewed.allows(phase.name(), &planned).map_err(|cause| stopped(None, cause))?;
        }
        watch(Event::Planned(&planned));
        for step in &planned.steps {
            watch(Event::Begins(step));
            if let Step::Redo(act) = step {
                let back = take_back(act, &phases(mode)[..turn], machine, &known, host);
                back.map_err(|cause| stopped(Some(step), cause))?;
            }
            apply(step, host).map_err(|cause| stopped(Some(step), cause.into()))?;
            watch(Event::Done(step));
        }
        if let Some(earlier) = planned.known_after {
            return Err(stopped(None, PlanError::StillUnknown(earlier)));
        }
        known.note_through(phase.name());
        watch(Event::Through);
    }
    Ok(())
}

/// Takes back an act that was cut short, and makes so again what earlier phases had made so: `kubeadm reset` removes
/// certificates whoever put them there, and kubeadm would then begin a cluster with others.
fn take_back(
    act: &Act,
    earlier: &[&dyn Phase],
    machine: &Wanted,
    known: &Known,
    host: &mut dyn Host,
) -> Result<(), PlanError> {
    host.undo(act)?;
    for phase in earlier {
        let steps = phase.plan(machine, known, host)?.steps;
        for step in steps.iter().filter(|step| matches!(step, Step::Ensure(_))) {
            apply(step, host)?;
        }
    }
    Ok(())
}

/// Does one step; the only function that changes a machine.
fn apply(step: &Step, host: &mut dyn Host) -> host::Result<()> {
    match step {
        Step::Ensure(change) => host.ensure(change),
        Step::Run(act) | Step::Redo(act) => host.begin(act).and_then(|()| host.run(act)).and_then(|()| host.end(act)),
        Step::Close(act) => host.end(act),
        Step::Wait(condition, within) => host.wait(condition, *within),
    }
}
