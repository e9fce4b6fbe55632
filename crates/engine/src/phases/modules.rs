//! Kernel modules: loaded now and at every boot.
use super::files::own_file;
use crate::{Known, Phase, PlanError, Planned, Remark, Step, Wanted};
use host::{Change, Inspect, contract::MODULES_FILE};

pub(crate) const NAME: &str = "modules";

pub(crate) struct Modules;

impl Phase for Modules {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "loads kernel modules, now and at every boot"
    }

    fn plan(&self, machine: &Wanted, _: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError> {
        let mut planned = Planned::default();
        if machine.modules.is_empty() {
            return Ok(planned);
        }
        let listed = machine.modules.iter().map(|module| format!("{module}\n"));
        let contents = format!("# Written by machineadm from KernelModulesConfig.\n{}", listed.collect::<String>());
        planned.steps.extend(own_file(seen, MODULES_FILE, contents.into_bytes(), 0o644)?);
        if !seen.live() {
            planned.remarks.push(Remark::AtBoot("kernel modules"));
            return Ok(planned);
        }
        for name in &machine.modules {
            if !seen.has_module(name)? {
                planned.steps.push(Step::Ensure(Change::LoadModule { name: name.clone() }));
            }
        }
        Ok(planned)
    }
}
