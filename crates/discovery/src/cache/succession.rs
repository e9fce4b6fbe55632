//! A cluster was discovered anew while one is kept: what becomes of what the kept one is known by.
use super::{Cached, Consent, Refused, follow::objection};
use crate::{
    ClusterInfo, Pin,
    method::{Network, Patience, Refusal, confirm, rounds},
};

impl Cached {
    /// What is kept from now on. A good one isn't given up for one that nobody reaches, nor a pinned root for one that
    /// is not pinned, unless somebody agrees. One that can't be used any more is no hindrance.
    pub fn succeeded_by(
        &self,
        found: Self,
        consent: Consent,
        net: &mut dyn Network,
        patience: Patience,
    ) -> Result<Self, Refused> {
        let (Ok(present), Ok(info)) = (self.info(), found.info()) else { return Ok(found) };
        let found = Self { pins: self.pins_after(&present, &found, &info, consent)?, ..found };
        if info != present {
            let reached = rounds(&[&info.server], net, patience, |_, net| confirm(&info, net));
            reached.map_err(|not| Refused::Unusable(not.last().unwrap_or(Refusal::Changed)))?;
        }
        Ok(found)
    }

    /// Pins outlive a discovery without any: they stay where they fit, and somebody must agree where they don't.
    fn pins_after(
        &self,
        present: &ClusterInfo,
        found: &Self,
        info: &ClusterInfo,
        consent: Consent,
    ) -> Result<Vec<Pin>, Refused> {
        if !found.pins.is_empty() {
            return Ok(found.pins.clone());
        }
        match objection(present, &self.pins, info) {
            Some(refused) if consent == Consent::Withheld => Err(refused),
            _ => Ok(self.pins_for(info)),
        }
    }
}
