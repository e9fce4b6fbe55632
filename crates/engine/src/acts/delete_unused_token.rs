//! Deletes the token that `kubeadm init` had to create for a cluster that is created without one.
use super::{ADMIN, Act, AfterFailure, Effect, Sort, Undone};
use crate::{Look, Patience, PlanError, Unanswered, World, fingerprint::Parts};
use documents::v1alpha1::Repeat;
use host::{Progress, Service};
use outcome::ActSort;

/// The journal id.
pub(crate) const ID: &str = ActSort::DeleteToken.id();
const OBJECT: &str = "/api/v1/namespaces/kube-system/secrets/bootstrap-token-unused";

pub(super) const SORT: Sort = Sort {
    sort: ActSort::DeleteToken,
    // It has no rights and expires within minutes.
    left_behind: |_, _| Ok(None),
};

/// Deletes the unused token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeleteUnusedToken;

impl Act for DeleteUnusedToken {
    fn name(&self) -> &str {
        ID
    }

    fn sort(&self) -> ActSort {
        ActSort::DeleteToken
    }

    fn id(&self) -> String {
        ID.to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// Done means: this machine has created a cluster, which does not have the token. An API server that does not answer is
    /// that of an interrupted `kubeadm init`, which is finished before, unless the token was deleted.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        let Some(admin) = look.host.file(ADMIN)? else { return Ok(Effect::Absent) };
        // Only the kubelet starts an API server.
        let kubelet_runs = || matches!(look.host.service("kubelet"), Ok(Service::Active));
        let patience = Patience { within: look.patience, while_true: &kubelet_runs };
        Ok(match look.cluster.has(admin.contents.expose(), &[OBJECT], &patience) {
            Ok(true) => Effect::Absent,
            Ok(false) => Effect::Done,
            Err(Unanswered(why)) if look.host.progress(ID)? == Progress::Ended => Effect::Unanswered(why),
            Err(Unanswered(_)) => Effect::Absent,
        })
    }

    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        let unfit = |why: String| host::Error::Unfit {
            what: "bootstrap token".to_owned(),
            why,
            advice: "run machineadm again; the token has no rights, and the cluster deletes it within minutes"
                .to_owned(),
        };
        let admin = world.host.file(ADMIN)?.ok_or_else(|| unfit(format!("{ADMIN} does not exist")))?;
        let patience = Patience { within: world.patience, while_true: &|| true };
        let deleted = world.cluster.delete(admin.contents.expose(), OBJECT, &patience);
        Ok(deleted.map_err(|Unanswered(why)| unfit(format!("cannot be deleted: {why}")))?)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Ended
    }

    fn undo(&self, _: &mut World<'_>) -> Result<Undone, PlanError> {
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        "kubeadm creates one, without rights".to_owned()
    }

    fn compares(&self, parts: &mut Parts) {
        parts.text(ID);
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}
