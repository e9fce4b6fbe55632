//! Service restarts: queued, and done once before the next act, wait or the end.
use crate::{Planned, Step, TurnId};
use host::{Change, UnitAction};
use std::collections::{BTreeMap, BTreeSet};

/// A step by its turn and its place in that turn.
pub(crate) type StepAt = (usize, usize);

/// A service to restart, for every turn that asked.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) service: String,
    pub(crate) reads: Vec<String>,
    pub(crate) running: bool,
    pub(crate) asked_by: Vec<StepAt>,
}

impl Queued {
    /// The one restart that serves all that asked.
    pub(crate) fn change(&self) -> Change {
        let Self { service, reads, running, .. } = self;
        Change::Restart { service: service.clone(), reads: reads.clone(), running: *running }
    }
}

/// Restarts that are still to be done, in the order in which they were first asked for.
#[derive(Debug, Default)]
pub(crate) struct Queue(Vec<Queued>);

impl Queue {
    /// Takes a step in, if it is a restart.
    pub(crate) fn takes(&mut self, place: StepAt, step: &Step) -> bool {
        let Step::Ensure(Change::Restart { service, reads, running }) = step else { return false };
        match self.0.iter_mut().find(|queued| queued.service == *service) {
            Some(queued) => {
                queued.reads.extend(reads.iter().cloned());
                queued.running |= running;
                queued.asked_by.push(place);
            }
            None => self.0.push(Queued {
                service: service.clone(),
                reads: reads.clone(),
                running: *running,
                asked_by: vec![place],
            }),
        }
        true
    }

    /// Everything that is to be done now.
    pub(crate) fn take(&mut self) -> Vec<Queued> {
        std::mem::take(&mut self.0)
    }
}

/// Whether restarts that are queued have to be done before a step. A service that is started then reads its files at that
/// start, and is not restarted once more.
pub(crate) const fn come_before(step: &Step) -> bool {
    match step {
        Step::Run(_) | Step::Redo(_) | Step::Wait(..) => true,
        Step::Ensure(Change::Unit { action, .. }) => matches!(action, UnitAction::Start | UnitAction::Stop),
        Step::Ensure(_) | Step::Close(_) => false,
    }
}

/// The restarts of a preview that a later turn's restart of the same service makes needless.
pub(crate) fn merged(turns: &[(TurnId, Planned)]) -> BTreeSet<StepAt> {
    let (mut queued, mut merged) = (BTreeMap::new(), BTreeSet::new());
    for (turn, (_, planned)) in turns.iter().enumerate() {
        for (at, step) in planned.steps.iter().enumerate() {
            match step {
                Step::Ensure(Change::Restart { service, .. }) => {
                    merged.extend(queued.insert(service.as_str(), (turn, at)));
                }
                step if come_before(step) => queued.clear(),
                _ => {}
            }
        }
    }
    merged
}
