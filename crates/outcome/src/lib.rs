//! What a run came to: written on the machine, read there and by whoever manages machines. Data alone; the engine's
//! `Recorder` fills it.
//!
//! ```text
//!  Recorder ──▶ Outcome ─┬ phases: TurnOutcome ── steps: StepOutcome ── transfer        (outcome.json, status)
//!  (engine)       │      └ failure: FailureOutcome ── cause, advice; reason: Reason ── Class
//!                 └────▶ RunReport: the turn at work, progress, failure                  (report.json, sent)
//! ```
//!
//! - An [`Outcome`] has one [`TurnOutcome`] for each document, in their order, and for each turn that the engine adds
//!   ([`AddedTurn`]); each has a [`State`] and its steps. [`Outcome::read`] refuses another version.
//! - A [`TurnId`] says where something happened: in a turn, or in a [`Stage`] outside of all turns. [`ActSort`] names
//!   what is run for its effect, an [`Action`] what a step does. All have names that never change: files and
//!   journals have them.
//! - A [`FailureOutcome`] is for people (cause, output, advice) and for programs, which compare no sentences: its
//!   [`Reason`] says what failed, and the reason's [`Class`] whether to wait, to take another machine, or to change the
//!   configuration. A reason of a newer version reads as [`Reason::Unknown`].
//! - A [`RunReport`] is made of an outcome, holds no more than it, and never exceeds [`LARGEST_REPORT`].
mod act_sort;
mod action;
mod failure;
mod mode;
mod outcome;
mod reason;
mod report;
mod turn;
mod turn_id;

pub use act_sort::ActSort;
pub use action::Action;
pub use failure::{FailureOutcome, chain};
pub use mode::Mode;
pub use outcome::{Outcome, OutcomeError, Provenance};
pub use reason::{Class, Reason};
pub use report::{LARGEST_REPORT, RunReport, TurnProgress};
pub use turn::{State, StepOutcome, Transfer, TurnOutcome};
pub use turn_id::{AddedTurn, Stage, TurnId};
