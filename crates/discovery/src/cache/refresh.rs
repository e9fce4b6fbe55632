//! Asking the kept cluster what is new.
use super::{Answer, Cached, Consent, Decision, Kept, Refused, follow};
use crate::method::{Demand, Network, Patience, Refusal, Roots, confirm, rounds};
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
    ) -> Decision<Self> {
        let present = self.info();
        let asked = rounds(&[present.endpoint()], net, patience, |endpoint, net| {
            let said = net.cluster_info(endpoint, Roots::of_cluster(present)).map_err(Refusal::Unreached)?;
            let decision = follow(present, &self.pins, Answer::Verified(&said), consent);
            if let Decision::Replace(newer) = &decision {
                let info = newer.kubeconfig.info();
                confirm(info, Roots::of_cluster(info), Demand::SaysTheSame, net)?;
            }
            Ok(decision)
        });
        let decision = asked.unwrap_or_else(|not| match not.last() {
            Some(Refusal::Unreached(unreached)) => Decision::Keep(Kept::Unreached(unreached)),
            Some(refusal) => Decision::Refuse(Refused::Unusable(refusal)),
            None => Decision::Keep(Kept::Same),
        });
        match decision {
            Decision::Keep(kept) => Decision::Keep(kept),
            Decision::Refuse(refused) => Decision::Refuse(refused),
            Decision::Replace(newer) => Decision::Replace(self.followed(newer, now)),
        }
    }
}
