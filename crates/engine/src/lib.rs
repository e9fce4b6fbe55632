//! The engine: plans what a machine needs, phase by phase, and applies each phase in its turn.
mod apply;
mod block;
mod fingerprint;
mod mode;
pub mod outcome;
mod phases;
mod plan;
mod redact;
mod saved;
mod view;
mod wanted;

pub use apply::{Event, Failure, bootstrap};
pub use mode::Mode;
pub use outcome::Outcome;
pub use phases::phases;
pub use plan::{Known, Phase, PlanError, Planned, Preview, Remark, Step, preview, steps_for};
pub use redact::{LineRedactor, Redactor};
pub use saved::{Reviewed, SavedPlan, Unreadable};
pub use view::{Line, PhaseView, PlanView};
pub use wanted::{Provenance, Wanted};
