//! Kernel parameters (R2): set now, read back, and kept for the next boot.
use super::{files::own_file, modules};
use crate::{Known, Phase, PlanError, Planned, Remark, Step, Wanted};
use host::{Change, Inspect, contract::SYSCTL_FILE};

pub(crate) struct Kernel;

impl Phase for Kernel {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn summary(&self) -> &'static str {
        "sets kernel parameters, reads each back, and keeps them for the next boot"
    }

    fn plan(&self, machine: &Wanted, _: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError> {
        let mut planned = Planned::default();
        if machine.parameters.is_empty() {
            return Ok(planned);
        }
        let lines = machine.parameters.iter().map(|parameter| format!("{} = {}\n", parameter.key, parameter.value));
        let contents = format!("# Written by machineadm from SysctlConfig.\n{}", lines.collect::<String>());
        planned.steps.extend(own_file(seen, SYSCTL_FILE, contents.into_bytes(), 0o644)?);
        if !seen.live() {
            planned.remarks.push(Remark::AtBoot("kernel parameters"));
            return Ok(planned);
        }
        let modules_to_come = any_module_missing(machine, seen)?;
        for parameter in &machine.parameters {
            match seen.sysctl(&parameter.path)? {
                Some(value) if value == parameter.value => {}
                // A module may bring it.
                None if modules_to_come => planned.known_after = Some(modules::NAME),
                was => planned.steps.push(Step::Ensure(Change::SetSysctl {
                    key: parameter.key.clone(),
                    path: parameter.path.clone(),
                    was,
                    value: parameter.value.clone(),
                })),
            }
        }
        Ok(planned)
    }
}

fn any_module_missing(machine: &Wanted, seen: &dyn Inspect) -> Result<bool, PlanError> {
    for name in &machine.modules {
        if !seen.has_module(name)? {
            return Ok(true);
        }
    }
    Ok(false)
}
