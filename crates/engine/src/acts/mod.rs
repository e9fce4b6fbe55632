//! Acts: what is run for its effect. One act is one file here, and [`Act`] is all that the engine knows of it.
mod command;
mod control_plane_change;
pub(crate) mod delete_unused_token;
mod download_certs;
mod import_images;
mod install_program;
pub(crate) mod kubeadm;
pub(crate) mod kubeadm_init;
pub(crate) mod kubeadm_join;
mod kubeadm_join_control_plane;
pub(crate) mod proxy_variables;
mod upload_certs;

pub use command::command_name;
pub(crate) use command::{Arguments, CHECK_IN_PLAN, CommandAct, id_prefix as command_id_prefix};
pub(crate) use control_plane_change::{ControlPlaneChange, ID as CONTROL_PLANE_CHANGE_ID, NewApiServer, NewMap};
pub(crate) use delete_unused_token::DeleteUnusedToken;
pub use download_certs::{CopySource, DOWNLOAD_ID, DownloadCerts};
pub(crate) use import_images::{ID as IMAGES_ID, ImportImages};
pub(crate) use install_program::{ID as PROGRAM_ID, InstallProgram};
pub(crate) use kubeadm_init::{KUBEADM_CONFIG, KubeadmInit, files_found};
pub(crate) use kubeadm_join::KubeadmJoin;
pub(crate) use kubeadm_join_control_plane::{Certificates, KubeadmJoinControlPlane};
pub(crate) use upload_certs::SeenCopy;
pub use upload_certs::{UPLOAD_ID, UploadCerts};

use crate::{
    Cluster, Facts, Look, PlanError, PlanKey, Wanted, World,
    before_kubeadm::{BeforeKubeadm, DeletedBy, ResetProgress},
    fingerprint::{Parts, act_fingerprint},
    ownership, phases,
};
use documents::v1alpha1::Repeat;
use host::{Change, Inspect, Progress};
use outcome::{ActSort, Action};
use std::{collections::BTreeSet, fmt};

/// The administrator's kubeconfig on a control plane node.
pub(crate) const ADMIN: &str = objects::kubernetes_paths::ADMIN_KUBECONFIG;

/// The journal ids of the acts that start kubeadm.
pub(crate) const STARTING_KUBEADM: [&str; 2] = [kubeadm_init::ID, kubeadm_join::ID];

/// Something run for its effect, which a repetition might not leave as it is.
pub trait Act: fmt::Debug {
    /// The name for people.
    fn name(&self) -> &str;
    /// What is done.
    fn verb(&self) -> Action {
        Action::Run
    }
    /// Its sort.
    fn sort(&self) -> ActSort;
    /// The id under which the journal remembers it: another definition under the same name is another act.
    fn id(&self) -> String;
    /// Whether it runs at every run, as long as its effect can't be seen.
    fn repeat(&self) -> Repeat;
    /// How much of its effect the machine and the cluster show.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError>;
    /// Records what the run would overwrite. It comes before the journal knows of the run: interrupted here, nothing was
    /// started.
    fn before_start(&self, _: &mut World<'_>) -> host::Result<()> {
        Ok(())
    }
    /// Runs it to its end.
    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError>;
    /// What the journal says after it failed.
    fn after_failure(&self) -> AfterFailure;
    /// Undoes what an interrupted run of ours left.
    fn undo(&self, world: &mut World<'_>) -> Result<Undone, PlanError>;
    /// How a plan shows it, in a few words behind its name; never a secret.
    fn shows(&self) -> String;
    /// The files that it writes and that belong to its document from then on, as a document's own steps do.
    fn writes(&self) -> &[Change] {
        &[]
    }
    /// The lines of a file that change, as in a plan's diff; never a secret.
    fn diff(&self) -> Vec<String> {
        Vec::new()
    }
    /// What a reviewed plan compares: everything that makes it do something else.
    fn compares(&self, parts: &mut Parts);
    /// Whether the machine needs a reboot after it.
    fn needs_reboot(&self) -> bool;
}

/// A sort of act, as the journal knows it: one row for each file here.
pub(crate) struct Sort {
    /// Which one.
    pub(crate) sort: ActSort,
    /// What an operator has to do about an act that was started, did not end and is no longer asked for; `None` when
    /// nothing of it is left.
    pub(crate) left_behind: fn(&str, &Look<'_>) -> Result<Option<String>, PlanError>,
}

/// Every sort of act.
const SORTS: &[Sort] = &[
    command::SORT,
    kubeadm_init::SORT,
    delete_unused_token::SORT,
    kubeadm_join::SORT,
    upload_certs::SORT,
    download_certs::SORT,
    install_program::SORT,
    import_images::SORT,
    control_plane_change::SORT,
];

/// Whether two ids are of one act, whatever its definition: their first two words say it.
pub(crate) fn is_same(id: &str, other: &str) -> bool {
    id != other && id.split(' ').take(2).eq(other.split(' ').take(2))
}

/// Stops when machineadm has started something here that did not end and that this configuration no longer has: for a
/// caller that has not stored anything yet. What the operator gives up does not count.
pub fn check_unfinished(
    wanted: &Wanted,
    given_up: &[String],
    host: &dyn Inspect,
    cluster: &dyn Cluster,
) -> Result<(), PlanError> {
    check_abandoned(&Look::now(wanted, host, cluster, &Facts::default(), &BTreeSet::new()), given_up).map(drop)
}

/// The same for a run; gives the ids of which nothing is left any more.
pub(crate) fn check_abandoned(look: &Look<'_>, given_up: &[String]) -> Result<Vec<String>, PlanError> {
    ownership::check_records(look.host)?;
    check_reset(look)?;
    let known = phases::act_ids(look.wanted);
    let mut undone = Vec::new();
    let is_asked_for = |id: &str| {
        let rest = |act: &String| id.strip_prefix(act.as_str());
        known.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    for id in look.host.unfinished()?.iter().filter(|id| !is_asked_for(id) && !given_up.contains(id)) {
        let of_id = ActSort::of(id).map(|(sort, _)| sort);
        let what_to_do = match SORTS.iter().find(|row| Some(row.sort) == of_id) {
            Some(sort) => (sort.left_behind)(id, look)?,
            None => {
                Some(format!("{id} was started by another version of machineadm and did not finish; use that version"))
            }
        };
        match what_to_do {
            Some(text) => return Err(PlanError::Abandoned(text)),
            None => undone.push(id.clone()),
        }
    }
    Ok(undone)
}

/// Stops when a reset was started by its command and did not finish. An undo is finished by the act that it undoes, and a
/// run without documents is the rest of a reset.
fn check_reset(look: &Look<'_>) -> Result<(), PlanError> {
    let Some(progress) = BeforeKubeadm::read(look.host)?.and_then(|record| record.reset) else { return Ok(()) };
    let is_continued = match progress {
        ResetProgress::Deleting { by: DeletedBy::Act, .. } => {
            let progress: host::Result<Vec<_>> = STARTING_KUBEADM.iter().map(|id| look.host.progress(id)).collect();
            progress?.contains(&Progress::Started)
        }
        ResetProgress::Undone => look.wanted.documents.is_empty(),
        ResetProgress::Deleting { by: DeletedBy::Reset, .. } | ResetProgress::RemovingMember { .. } => false,
    };
    match is_continued {
        true => Ok(()),
        false => {
            Err(PlanError::Abandoned("\"machineadm reset\" was started and did not finish; run it again".to_owned()))
        }
    }
}

/// What a look at the machine says of an act's effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing of it is there.
    Absent,
    /// Some of it is there.
    Partial,
    /// All of it is there.
    Done,
    /// There is no way to see it.
    Unseen,
    /// The plan was asked not to look.
    NotChecked,
    /// The machine shows all of it, and the cluster could not be asked for the rest.
    Unanswered(String),
}

/// What a failure means for the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// It has ended, and only its author knows what it left: it is run again as it is.
    Ended,
    /// It left partial work, which the next run undoes first.
    Partial,
}

/// What undoing an act did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// Nothing: the act is run again on top of what it left.
    Nothing,
    /// It may have removed what earlier documents made: the run starts again at the first document.
    Changed,
}

/// Acts are equal when the journal and a review can't tell them apart.
impl PartialEq for dyn Act {
    fn eq(&self, other: &Self) -> bool {
        // Compared here and now, and never stored.
        let print = |act: &dyn Act| act_fingerprint(act, &PlanKey::new([0; 32]));
        self.id() == other.id() && print(self) == print(other)
    }
}

impl Eq for dyn Act {}
