//! SysctlConfig: kernel parameters (R2), set now, read back, and stored for the next boot.
use super::{OwnFile, Phase, Role, no_acts};
use crate::{Look, Named, PlanError, Planned, Remark, Step};
use documents::{AnyDocument, Decoded, v1alpha1::sysctl_file};
use host::Change;

pub(super) const PHASE: Phase = Phase {
    kind: "SysctlConfig",
    summary: "sets kernel parameters, reads each back, and stores them for the next boot",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::Sysctl(parameters) = &document.body else { return Ok(planned) };
    let lines = parameters.iter().map(|parameter| format!("{} = {}\n", parameter.key, parameter.value));
    let contents = format!("# Written by machineadm from SysctlConfig.\n{}", lines.collect::<String>()).into_bytes();
    OwnFile { path: &sysctl_file(document.name.as_deref()), contents, mode: 0o644, confidential: document.sealed }
        .plan(look, &mut planned)?;
    planned.names.extend(parameters.iter().map(|parameter| Named::Parameter(parameter.path.clone())));
    if !look.host.live() {
        planned.remarks.push(Remark::AtBoot("kernel parameters"));
        return Ok(planned);
    }
    let module = look.waits_for(|step| matches!(step, Step::Ensure(Change::LoadModule { .. })));
    for parameter in parameters {
        match (look.sysctl(&parameter.path)?, &module) {
            (Some(value), _) if value == parameter.value => {}
            // The module of an earlier document may bring it.
            (None, Some(module)) => planned.known_after = Some(module.clone()),
            (was, _) => planned.steps.push(Step::Ensure(Change::SetSysctl {
                key: parameter.key.clone(),
                path: parameter.path.clone(),
                was,
                value: parameter.value.clone(),
            })),
        }
    }
    Ok(planned)
}
