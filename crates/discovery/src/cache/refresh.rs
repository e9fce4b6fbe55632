//! Asking the kept cluster what is new.
use super::{Answer, Cached, Consent, Decision, Kept, NoCache, Refused, follow};
use crate::method::{Demand, Network, Patience, Refusal, confirm, rounds, vouched_by};
use jiff::Timestamp;

impl Cached {
    /// Asks until the kept cluster answers over a connection that its kept roots verify. What is new there takes the place of
    /// what is kept once the cluster has also been reached at the new address, verified by the new roots: otherwise the next
    /// time would find nobody.
    pub fn refresh(
        &self,
        consent: Consent,
        net: &mut dyn Network,
        patience: Patience,
        now: Timestamp,
    ) -> Result<Decision<Cached>, NoCache> {
        let present = self.info()?;
        let endpoint = present.endpoint().map_err(|_| NoCache::Damaged)?;
        let asked = rounds(&[endpoint], net, patience, |endpoint, net| {
            let body = net.cluster_info(endpoint, vouched_by(&present)).map_err(Refusal::Unreached)?;
            let decision = follow(&present, &self.pins, Answer::Verified(&body), consent);
            if let Decision::Replace(newer) = &decision {
                confirm(&newer.info, vouched_by(&newer.info), Demand::SaysTheSame, net)?;
            }
            Ok(decision)
        });
        let decision = asked.unwrap_or_else(|not| match not.last() {
            Some(Refusal::Unreached(unreached)) => Decision::Keep(Kept::Unreached(unreached)),
            Some(refusal) => Decision::Refuse(Refused::Unusable(refusal)),
            None => Decision::Keep(Kept::Same),
        });
        Ok(match decision {
            Decision::Keep(kept) => Decision::Keep(kept),
            Decision::Refuse(refused) => Decision::Refuse(refused),
            Decision::Replace(newer) => Decision::Replace(self.followed(newer, &present, now)),
        })
    }
}
