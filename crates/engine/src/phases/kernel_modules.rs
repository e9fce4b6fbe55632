//! KernelModulesConfig: kernel modules, loaded now and at every boot.
use super::{OwnFile, Phase, Role, no_acts};
use crate::{Look, PlanError, Planned, Remark, Step};
use documents::{AnyDocument, Decoded, v1alpha1::modules_file};
use host::Change;

pub(super) const PHASE: Phase = Phase {
    kind: "KernelModulesConfig",
    summary: "loads kernel modules, now and at every boot",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::KernelModules(modules) = &document.body else { return Ok(planned) };
    let listed = modules.iter().map(|module| format!("{module}\n"));
    let contents = format!("# Written by machineadm from KernelModulesConfig.\n{}", listed.collect::<String>());
    let contents = contents.into_bytes();
    OwnFile { path: &modules_file(document.name.as_deref()), contents, mode: 0o644, confidential: document.sealed }
        .plan(look, &mut planned)?;
    if !look.host.live() {
        planned.remarks.push(Remark::AtBoot("kernel modules"));
        return Ok(planned);
    }
    for name in modules {
        let load = Step::Ensure(Change::LoadModule { name: name.clone() });
        if !look.host.has_module(name)? && look.waits_for(|step| *step == load).is_none() {
            planned.steps.push(load);
        }
    }
    Ok(planned)
}
