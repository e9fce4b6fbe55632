//! Doing it: each turn plans just before its time, so that it sees what earlier ones did, and one function applies.
use crate::{
    Act, AfterFailure, Checks, Facts, Line, Look, Mode, PlanError, Planned, Prune, ReviewedPlan, Step, TurnId, Undone,
    Wanted, World, acts,
    look::{Manifests, Stage},
    ownership::Ownership,
    plan::{Condition, Named},
    restarts::{self, Queue},
    turns::{Turn, turns},
};
use documents::{AnyDocument, Secret};
use host::{Change, FileState, Progress, contract};
use objects::Sha256Sum;
use std::{collections::BTreeSet, time::Duration};

/// How long a restarted service may take to run.
const UP_WITHIN: Duration = Duration::from_secs(90);

/// What is to be done.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The mode.
    pub mode: Mode,
    /// The documents.
    pub wanted: &'a Wanted,
    /// Whether what no document names any more is removed.
    pub prune: Prune,
    /// What becomes of edits of others in a manifest.
    pub manifests: Manifests,
    /// A reviewed plan: then only what it says.
    pub reviewed: Option<&'a ReviewedPlan>,
}

/// What happens during a run, for whoever shows or records it. Turns and steps are counted from 0.
#[derive(Debug)]
pub enum Event<'a> {
    /// A turn has come.
    Turn(usize),
    /// It has said what is missing.
    Planned(usize, &'a Planned),
    /// A step starts.
    Starts(usize, usize, &'a Step),
    /// It is done.
    Done(usize, usize, &'a Step),
    /// The turn is through.
    Through(usize),
    /// An interrupted act was undone: the run starts again at the first turn.
    Again(&'a str),
}

/// A run that came to its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Why the machine needs a reboot, if it does.
    pub reboot: Option<String>,
}

/// Where a run stopped, and why.
#[derive(Debug, thiserror::Error)]
#[error("{at}: {}", self.step_in_words().as_deref().unwrap_or("cannot plan"))]
pub struct Failure {
    /// The turn.
    pub at: TurnId,
    /// The step; `None` when the turn could not plan.
    pub step: Option<Box<Step>>,
    /// Why.
    #[source]
    pub cause: Box<PlanError>,
}

impl Failure {
    /// Before any step.
    pub fn at(at: TurnId, cause: PlanError) -> Self {
        Self { at, step: None, cause: Box::new(cause) }
    }

    /// The step, as plans and outcomes have it.
    pub fn step_in_words(&self) -> Option<String> {
        self.step.as_deref().map(|step| Line::of(step).to_string())
    }
}

/// Plans and applies each turn in its time; with a reviewed plan, only what that plan says.
pub fn bootstrap(run: &Run<'_>, world: &mut World<'_>, watch: &mut dyn FnMut(Event<'_>)) -> Result<Done, Failure> {
    let turns = turns(run.mode, run.wanted, run.prune);
    let at_start = |cause: PlanError| Failure::at(TurnId::from(outcome::Stage::Start), cause);
    let mut pass = Pass { run, turns: &turns, facts: Facts::default(), named: BTreeSet::new(), is_second: false };
    // First of all, also if the run stops right here: nobody else removes them.
    world.host.remove_leftovers().map_err(|error| at_start(error.into()))?;
    let undone = acts::check_abandoned(&pass.look(world), &[]).map_err(at_start)?;
    if let Some(reviewed) = run.reviewed {
        reviewed.allows_turns(turns.iter().map(|turn| &turn.id)).map_err(at_start)?;
    }
    // The next write of a file replaces its draft, but this configuration may not write that file.
    let written = Ownership::written_files(world.host).map_err(|error| at_start(error.into()))?;
    world.host.remove_drafts(&written).map_err(|error| at_start(error.into()))?;
    world.host.delete_drafts_except(&wanted_sums(run.wanted)).map_err(|error| at_start(error.into()))?;
    for id in undone {
        world.host.note(&id, Progress::New).map_err(|error| at_start(error.into()))?;
    }
    if let Some(undone) = pass.go(world, watch)? {
        watch(Event::Again(&undone));
        pass.is_second = true;
        pass.go(world, watch)?;
    }
    // An earlier run may have ended between the end of an installation and the deletion of its draft.
    world.host.delete_drafts_except(&[]).map_err(|error| at_start(error.into()))?;
    reboot_reason(world).map(|reboot| Done { reboot }).map_err(|error| at_start(error.into()))
}

/// The digests of all files that documents fetch: what an earlier configuration fetched is not kept.
fn wanted_sums(wanted: &Wanted) -> Vec<Sha256Sum> {
    let programs = wanted.documents.iter().filter_map(|document| match &document.body {
        AnyDocument::Programs(programs) => Some(programs),
        _ => None,
    });
    let sources = programs.flat_map(|all| all.programs.iter().map(|file| &file.source).chain(&all.images));
    sources.map(|source| source.sha256).collect()
}

/// One way through all turns. A run has a second one after an undo: what removes an interrupted act may remove what
/// earlier documents made, so that every turn looks again.
struct Pass<'a> {
    run: &'a Run<'a>,
    turns: &'a [Turn<'a>],
    facts: Facts,
    named: BTreeSet<Named>,
    is_second: bool,
}

impl Pass<'_> {
    /// Gives the name of the act that was undone, if one was: then the rest is for the next pass.
    fn go(&mut self, world: &mut World<'_>, watch: &mut dyn FnMut(Event<'_>)) -> Result<Option<String>, Failure> {
        let mut queue = Queue::default();
        for (index, turn) in self.turns.iter().enumerate() {
            watch(Event::Turn(index));
            let planned = self.planned(index, world).map_err(|cause| stopped(turn, None, cause))?;
            watch(Event::Planned(index, &planned));
            let kept = turn.document().map_or(Ok(()), |document| Ownership::note(document, &planned, world.host));
            kept.map_err(|cause| stopped(turn, None, cause.into()))?;
            for (at, step) in planned.steps.iter().enumerate() {
                if queue.takes((index, at), step) {
                    continue;
                }
                if restarts::come_before(step) {
                    self.restart(&mut queue, world, watch)?;
                }
                watch(Event::Starts(index, at, step));
                if self.undone(step, world).map_err(|cause| stopped(turn, Some(step), cause))? == Undone::Changed {
                    return Ok(Some(Line::of(step).target));
                }
                apply(step, world).map_err(|cause| stopped(turn, Some(step), cause))?;
                watch(Event::Done(index, at, step));
            }
            if !planned.forgets.is_empty() {
                // What the records ask for must be done before they go.
                self.restart(&mut queue, world, watch)?;
            }
            self.end(turn, planned, world)?;
            watch(Event::Through(index));
        }
        self.restart(&mut queue, world, watch)?;
        Ok(None)
    }

    fn look<'l>(&'l self, world: &'l World<'_>) -> Look<'l> {
        Look {
            wanted: self.run.wanted,
            host: &*world.host,
            cluster: world.cluster,
            runtime: world.runtime,
            facts: &self.facts,
            manifests: self.run.manifests,
            checks: Checks::Executed,
            patience: world.patience,
            stage: Stage::Run,
            pending: &[],
            named: &self.named,
        }
    }

    fn planned(&self, index: usize, world: &World<'_>) -> Result<Planned, PlanError> {
        let turn = &self.turns[index];
        let planned = turn.plan(&self.look(world))?;
        match self.run.reviewed {
            None => {}
            Some(reviewed) if self.is_second => reviewed.allows_acts(index, &turn.id, &planned)?,
            Some(reviewed) => reviewed.allows(index, &turn.id, &planned)?,
        }
        Ok(planned)
    }

    /// Undoes what an interrupted act left.
    fn undone(&self, step: &Step, world: &mut World<'_>) -> Result<Undone, PlanError> {
        let Step::Redo(act) = step else { return Ok(Undone::Nothing) };
        let undone = act.undo(world)?;
        match undone == Undone::Changed && self.is_second {
            true => Err(PlanError::NotUndone(act.name().to_owned())),
            false => Ok(undone),
        }
    }

    /// What a turn leaves to later ones.
    fn end(&mut self, turn: &Turn<'_>, planned: Planned, world: &mut World<'_>) -> Result<(), Failure> {
        let Planned { known_after, facts, names, forgets, .. } = planned;
        if let Some(earlier) = known_after {
            return Err(stopped(turn, None, PlanError::StillUnknown(earlier.reference())));
        }
        Ownership::forget(&forgets, world.host).map_err(|cause| stopped(turn, None, cause.into()))?;
        self.facts.learn(&facts);
        self.named.extend(names);
        Ok(())
    }

    /// Does every queued restart; each turn that asked for it shows it.
    fn restart(
        &self,
        queue: &mut Queue,
        world: &mut World<'_>,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), Failure> {
        for queued in queue.take() {
            let step = Step::Ensure(queued.change());
            queued.asked_by.iter().for_each(|(turn, at)| watch(Event::Starts(*turn, *at, &step)));
            let (last, _) = queued.asked_by[queued.asked_by.len() - 1];
            let ended = apply(&step, world).and_then(|()| match queued.running {
                true => apply(&Step::Wait(Condition::ServiceActive(queued.service.clone()), UP_WITHIN), world),
                false => Ok(()),
            });
            ended.map_err(|cause| stopped(&self.turns[last], Some(&step), cause))?;
            queued.asked_by.iter().for_each(|(turn, at)| watch(Event::Done(*turn, *at, &step)));
        }
        Ok(())
    }
}

fn stopped(turn: &Turn<'_>, step: Option<&Step>, cause: PlanError) -> Failure {
    let step = step.cloned().map(Box::new);
    Failure { step, ..Failure::at(turn.id.clone(), cause) }
}

/// Does one step; the only function that changes a machine.
fn apply(step: &Step, world: &mut World<'_>) -> Result<(), PlanError> {
    match step {
        Step::Ensure(change) => world.host.ensure(change)?,
        Step::Run(act) | Step::Redo(act) => run(&**act, world)?,
        Step::Close(act) => world.host.note(&act.id(), Progress::Ended)?,
        Step::Wait(Condition::ServiceActive(service), within) => world.host.wait_active(service, *within)?,
    }
    Ok(())
}

fn run(act: &dyn Act, world: &mut World<'_>) -> Result<(), PlanError> {
    let id = act.id();
    act.before_start(world)?;
    world.host.note(&id, Progress::Started)?;
    if let Err(error) = act.run(world) {
        if act.after_failure() == AfterFailure::Ended {
            // The reason of the failure is worth more than that of a journal that can't be written.
            let _ = world.host.note(&id, Progress::Failed);
        }
        return Err(error);
    }
    if act.needs_reboot() && world.host.live() {
        world.host.ensure(&reboot_mark(act.name(), world.host.default_owner()))?;
    }
    world.host.note(&id, Progress::Ended)?;
    // An interrupted run of an earlier definition of the same act is over with it.
    for older in world.host.unfinished()?.iter().filter(|older| acts::is_same(older, &id)) {
        world.host.note(older, Progress::New)?;
    }
    Ok(())
}

/// In memory, so that a reboot removes it.
fn reboot_mark(act: &str, (uid, gid): (u32, u32)) -> Change {
    let contents = Secret::new(format!("{act}\n").into_bytes());
    Change::WriteFile {
        path: contract::REBOOT_REQUIRED.to_owned(),
        block: None,
        was: None,
        file: FileState { contents, mode: 0o644, uid, gid },
        confidential: false,
    }
}

/// Why the running machine needs a reboot, if it does.
fn reboot_reason(world: &World<'_>) -> host::Result<Option<String>> {
    if !world.host.live() {
        return Ok(None);
    }
    if let Some(mark) = world.host.file(contract::REBOOT_REQUIRED)? {
        let act = String::from_utf8_lossy(mark.contents.expose()).trim().to_owned();
        return Ok(Some(format!("{act} needs one")));
    }
    let said_by_system = world.host.exists(contract::SYSTEM_REBOOT_REQUIRED)?;
    Ok(said_by_system.then(|| format!("{} exists", contract::SYSTEM_REBOOT_REQUIRED)))
}
