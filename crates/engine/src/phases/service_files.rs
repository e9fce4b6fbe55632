//! The files that a service reads at its start, and the restart that they need.
use crate::{Look, PlanError, Planned, Remark, Step};
use host::{Change, Service};

/// The files of a service.
pub(super) struct ServiceFiles {
    /// Without `.service`.
    pub(super) service: String,
    /// What it reads at its start.
    pub(super) reads: Vec<String>,
    /// Whether one of them changes.
    pub(super) changes: bool,
}

impl ServiceFiles {
    /// Restarts the service, also when only the restart is missing: an earlier run may have ended between the two.
    pub(super) fn plan(self, look: &Look<'_>, planned: &mut Planned) -> Result<(), PlanError> {
        let Self { service, reads, changes } = self;
        let state = look.service(&service)?;
        if state == Service::Unmanaged {
            planned.remarks.push(Remark::AtServiceStart(service));
            return Ok(());
        }
        let mut is_due = changes;
        for file in &reads {
            is_due = is_due || !look.host.has_read(&service, file)?;
        }
        if is_due {
            let running = state == Service::Active;
            planned.steps.push(Step::Ensure(Change::Restart { service, reads, running }));
        }
        Ok(())
    }
}
