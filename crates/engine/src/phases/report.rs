//! ReportConfig: asks nothing of the machine. Whoever runs the engine sends the reports, from the outcome.
use super::{Phase, Role, no_acts};
use crate::{Look, PlanError, Planned, Remark};
use documents::{AnyDocument, Decoded, v1alpha1::without_secrets};

pub(super) const PHASE: Phase = Phase {
    kind: "ReportConfig",
    summary: "changes nothing; reports of the whole run are sent to its URI",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

fn plan(document: &Decoded, _: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    if let AnyDocument::Report(reporting) = &document.body {
        let location = (!document.sealed).then(|| without_secrets(reporting.uri.expose()));
        planned.remarks.push(Remark::Reports { location });
    }
    Ok(planned)
}
