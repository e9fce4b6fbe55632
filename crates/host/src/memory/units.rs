//! Services and units of a played machine.
use super::Memory;
use crate::{Enablement, Error, Result, UnitAction};

impl Memory {
    /// A start reads every file that the service is known to read.
    pub(super) fn restart(&mut self, service: &str, reads: &[String]) {
        let known = self.read.entry(service.to_owned()).or_default();
        known.extend(reads.iter().map(|path| (path.clone(), None)));
        for (path, read) in known {
            *read = self.files.get(path).cloned();
        }
        self.log.push(format!("restart {service}"));
    }

    pub(super) fn change_unit(&mut self, name: &str, action: UnitAction) -> Result<()> {
        let service = name.strip_suffix(".service").unwrap_or(name).to_owned();
        self.log.push(format!("{} {service}", action.verb()));
        let enablement = match action {
            UnitAction::Enable => Enablement::Enabled,
            UnitAction::Disable | UnitAction::Unmask => Enablement::Disabled,
            UnitAction::Mask => Enablement::Masked,
            UnitAction::Start | UnitAction::Stop => {
                self.services.insert(service.clone(), action == UnitAction::Start);
                if action == UnitAction::Start && self.failing_restarts.contains(&service) {
                    return Err(Error::Unfit { what: service, why: "failed".into(), advice: "read its log".into() });
                }
                // A start reads every file that the service is known to read.
                for (path, read) in self.read.entry(service).or_default() {
                    *read = self.files.get(path).cloned();
                }
                return Ok(());
            }
        };
        self.enablement.insert(name.to_owned(), enablement);
        Ok(())
    }
}
