//! A cluster was discovered anew while one is kept: what becomes of what the kept one is known by.
use super::{Cached, Consent, Refused};
use crate::{
    ClusterInfo, Pin,
    certificate::Certificate,
    method::{Demand, Network, Patience, Refusal, Roots, confirm, objection, rounds},
    proof::Proof,
};

impl Cached {
    /// What is kept from now on. A good one isn't given up for one that nobody reaches, nor a pinned root for one that
    /// is not pinned, unless somebody agrees.
    pub fn succeeded_by(
        &self,
        found: Self,
        consent: Consent,
        net: &mut dyn Network,
        patience: Patience,
    ) -> Result<Self, Refused> {
        let (demand, by) = (found.proof.demand(), self.vouching(&found, consent));
        let found = self.known_by(found, consent)?;
        let info = found.info();
        if info != self.info() {
            let reached =
                rounds(&[info.endpoint()], net, patience, |_, net| confirm(info, Roots::of(&by), demand, net));
            reached.map_err(|not| Refused::Unusable(not.last().unwrap_or(Refusal::Changed)))?;
        }
        Ok(found)
    }

    /// The roots that the new cluster must be reached by. Others beside the pinned ones are the word of whoever holds the
    /// token or wrote the file, and vouch for nothing until pins were given or somebody agrees.
    fn vouching(&self, found: &Self, consent: Consent) -> Vec<Certificate> {
        let roots = found.info().roots().certificates();
        let pinned = Pin::matching(&self.pins, roots);
        let only_pinned = !pinned.is_empty() && found.pins.is_empty() && consent == Consent::Withheld;
        if only_pinned { pinned } else { roots.to_vec() }
    }

    /// Pins outlive a discovery without any: they stay where they fit, and somebody must agree where they don't, who is
    /// then what the new roots are known by.
    fn known_by(&self, found: Self, consent: Consent) -> Result<Self, Refused> {
        if !found.pins.is_empty() {
            return Ok(found);
        }
        let (present, info) = (self.info(), found.info());
        let pins = self.pins_for(info);
        let proof = match objection(present, &self.pins, info) {
            Some(refused) if consent == Consent::Withheld => return Err(refused),
            Some(_) => Proof::Agreed { from: present.server().to_owned(), on: found.updated, pins: pins.clone() },
            None if self.vouches_better(&found.proof, info) => self.proof.clone(),
            None => found.proof.clone(),
        };
        Ok(Self { pins, proof, ..found })
    }

    /// Whether what is kept proves the very same roots without the risk of going without a pin. Further roots beside a
    /// pinned one would be the word of whoever holds the token.
    fn vouches_better(&self, proof: &Proof, info: &ClusterInfo) -> bool {
        !self.pins.is_empty() && info.roots() == self.info().roots() && proof.risk().is_some()
    }
}

impl Proof {
    /// What a cluster that was proven so must say to those who don't give their name. One that a token has found is
    /// open to them.
    fn demand(&self) -> Demand {
        match self {
            Self::File { .. } | Self::Url { .. } | Self::StandardInput { .. } => Demand::SaysTheSameOrNothing,
            Self::Token { .. } | Self::Agreed { .. } => Demand::SaysTheSame,
        }
    }
}
