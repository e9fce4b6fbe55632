//! The engine: takes the documents of a configuration in their order, plans what each still needs, and does it.
//!
//! ```text
//!  Wanted ──turns──▶ Turn ──Look──▶ Planned ──review──▶ Step ──World──▶ machine, cluster
//!  (documents        (a document,   (steps,             (Ensure, Run,
//!   in order)         or what the    facts, remarks)     Wait)
//!                     engine adds)
//! ```
//!
//! - [`turns`] is the order of a run: one turn for each document, and the few that the engine adds ([`ADDED`]).
//! - A phase (`phases/`, one file for each kind) looks at the machine through a read-only [`Look`] just before its turn
//!   and proposes [`Step`]s: make a part of the machine so, run an [`Act`] for its effect, or wait. It changes nothing.
//! - An act (`acts/`, one file each) says everything about itself: id, effect seen, run, undo, how it shows, what a
//!   review compares. **The look outranks the journal**: `plan.rs` has that rule.
//! - [`bootstrap`] alone changes machines, through a [`World`]. What earlier turns found out flows forward as [`Facts`].
//! - A [`Recorder`] makes the [`Outcome`] of a run, [`PlanView`] shows a plan, [`SavedPlan`] stores one for review, `ownership.rs` remembers
//!   which document wrote which path and what was there before.
mod acts;
mod api_server_manifest;
mod api_server_pod;
mod apply;
mod before_kubeadm;
mod block;
pub mod certificate_files;
mod certificates_elsewhere;
mod control_plane_change;
mod control_plane_facts;
mod control_plane_files;
mod downloads;
mod etcd_access;
mod etcd_data;
mod failure_reason;
mod fault;
mod fingerprint;
mod instance_values;
mod line;
mod look;
mod owned_program;
mod ownership;
mod path_change;
mod path_digest;
#[cfg(test)]
#[path = "../tests/engine/pem_set.rs"]
mod pem_set;
mod phases;
mod plan;
mod plan_key;
mod recorder;
mod redact;
mod registered_since;
mod reset;
mod restarts;
mod saved;
mod scoped_reset;
mod started_cluster;
mod turns;
mod view;
mod wanted;

pub use acts::{
    Act, AfterFailure, CopySource, DOWNLOAD_ID, DownloadCerts, Effect, UPLOAD_ID, Undone, UploadCerts,
    check_unfinished, command_name,
};
pub use api_server_pod::{ApiServerPod, ApiServerWait, CONFIG_HASH, Replacement, WantedHash};
pub use apply::{Done, Event, Failure, Run, bootstrap};
pub use certificates_elsewhere::of_etcd as etcd_certificates;
pub use control_plane_facts::{ControlPlaneFacts, MemberFacts};
pub use downloads::{Download, Downloads};
pub use etcd_access::{EtcdAccess, EtcdPod};
pub use fault::{Fault, Problem};
pub use line::Line;
pub use look::{
    CertificateCopy, Checks, Cluster, ContainerRuntime, Facts, Look, Manifests, MembersWait, NodeCondition, NodeWait,
    Patience, ServerVersion, Unanswered, World,
};
pub use outcome;
pub use outcome::{LARGEST_REPORT, Mode, Outcome, Provenance, RunReport, Transfer, TurnId};
pub use ownership::check_records;
pub use phases::containerd_settings::settings as containerd_settings;
pub use phases::init::documents as kubeadm_documents_of_init;
pub use phases::join::documents as kubeadm_documents_of_join;
pub use phases::preflight::{CHECKS, Check, NodeRole, When};
pub use phases::{PHASES, Phase, Role, makes_node};
pub use plan::{Ask, Condition, Named, PlanError, Planned, Preview, Remark, Step, preview, steps_for};
pub use plan_key::PlanKey;
pub use recorder::{Recorder, cause};
pub use redact::{LineRedactor, Redactor};
pub use reset::{MemberQuestion, ResetError, ResetPlan, ResetRequest, ResetScope, ResetView, reset};
pub use saved::{Reviewed, ReviewedPlan, SavedPlan, Unreadable, Unverified, is_done};
pub use started_cluster::own_node;
pub use turns::{ADDED, Addition, Place, Prune, Turn, turns};
pub use view::{PlanView, TurnView};
pub use wanted::Wanted;
