//! Whether a member may be added or removed.
use crate::{Member, MemberId, Membership, Quorum, Role, Standing};

/// What keeps a new member from being added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinObstacle {
    /// Most voters do not answer.
    #[error("etcd has no quorum: {0}; start the control plane nodes that are down, or restore etcd from a backup")]
    NoQuorum(String),
    /// Another machine's member has not been promoted.
    #[error(
        "etcd member {title} ({id}) is a learner that was not promoted, and etcd accepts one learner at a time; wait until \
         its machine has joined, or run on a control plane node: machineadm control-plane remove {title}"
    )]
    Learner {
        /// How people know it.
        title: String,
        /// Its id.
        id: MemberId,
    },
    /// A voter does not answer.
    #[error(
        "etcd member {title} ({id}) does not answer: {why}; start its machine, or, if that is lost, run on a control plane \
         node: machineadm control-plane remove {title}"
    )]
    Silent {
        /// How people know it.
        title: String,
        /// Its id.
        id: MemberId,
        /// Why.
        why: String,
    },
    /// etcd has an alarm, which every member reports.
    #[error(
        "etcd member {title} ({id}) reports an alarm: {why}; remove its cause (etcdctl compact, etcdctl defrag), then run \
         etcdctl alarm disarm"
    )]
    Alarm {
        /// How people know it.
        title: String,
        /// Its id.
        id: MemberId,
        /// The alarm.
        why: String,
    },
    /// A voter has never started.
    #[error(
        "etcd member {title} ({id}) votes and has never started; run on a control plane node: machineadm control-plane \
         remove {title}"
    )]
    NotStarted {
        /// How people know it.
        title: String,
        /// Its id.
        id: MemberId,
    },
}

impl JoinObstacle {
    /// What it is, without what to do about it.
    pub fn cause(&self) -> String {
        let text = self.to_string();
        text.split(';').next().unwrap_or_default().to_owned()
    }
}

/// What keeps a member from being removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemovalObstacle {
    /// Most voters do not answer: etcd refuses every change.
    #[error("etcd has no quorum: {0}")]
    NoQuorum(String),
    /// It is the only voter: without it there is no etcd.
    #[error("etcd member {0} is the only voter: without it the cluster has no data")]
    OnlyVoter(String),
    /// Without it, most of the remaining voters would not answer.
    #[error("without etcd member {title}, only {answering} of {voters} voters answer: etcd would lose its quorum")]
    LosesQuorum {
        /// How people know it.
        title: String,
        /// Voters that remain and answer.
        answering: usize,
        /// Voters that remain.
        voters: usize,
    },
}

impl Membership {
    /// What keeps the machine with this peer URL from becoming a member; everything, in etcd's order. Its own leftover
    /// entry is no obstacle: it is removed before.
    pub fn joining(&self, own_peer_url: &str) -> Vec<JoinObstacle> {
        if let Quorum::Lost(why) = &self.quorum {
            return vec![JoinObstacle::NoQuorum(why.clone())];
        }
        let others = self.members.iter().filter(|member| !member.has_peer_url(own_peer_url));
        others.filter_map(obstacle).collect()
    }

    /// Whether etcd has no quorum while the machine with this peer URL has a voter that does not run.
    pub fn loses_quorum_to_a_voter(&self, own_peer_url: &str) -> bool {
        let others: Vec<_> = self.voters().filter(|voter| !voter.has_peer_url(own_peer_url)).collect();
        let answering = others.iter().filter(|voter| voter.answers()).count();
        answering * 2 <= others.len() + 1
    }

    /// What keeps a member from being removed without harm to etcd.
    pub fn removing(&self, member: &Member) -> Option<RemovalObstacle> {
        if let Quorum::Lost(why) = &self.quorum {
            return Some(RemovalObstacle::NoQuorum(why.clone()));
        }
        if member.role == Role::Learner {
            return None;
        }
        let remaining: Vec<_> = self.voters().filter(|voter| voter.id != member.id).collect();
        let (voters, answering) = (remaining.len(), remaining.iter().filter(|voter| voter.answers()).count());
        let title = || member.title().to_owned();
        match voters {
            0 => Some(RemovalObstacle::OnlyVoter(title())),
            _ if answering * 2 <= voters => Some(RemovalObstacle::LosesQuorum { title: title(), answering, voters }),
            _ => None,
        }
    }
}

fn obstacle(member: &Member) -> Option<JoinObstacle> {
    let (title, id) = (member.title().to_owned(), member.id);
    match (member.role, &member.standing) {
        (Role::Learner, _) => Some(JoinObstacle::Learner { title, id }),
        (Role::Voter, Standing::Answers) => None,
        (Role::Voter, Standing::Alarmed(why)) => Some(JoinObstacle::Alarm { title, id, why: why.clone() }),
        (Role::Voter, Standing::NotStarted) => Some(JoinObstacle::NotStarted { title, id }),
        (Role::Voter, Standing::Silent(why)) => Some(JoinObstacle::Silent { title, id, why: why.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn member(number: u64, role: Role, standing: Standing) -> Member {
        let name = if standing == Standing::NotStarted { String::new() } else { format!("cp{number}") };
        let client_urls = if name.is_empty() { Vec::new() } else { vec![format!("https://10.0.0.{number}:2379")] };
        let peer_urls = vec![format!("https://10.0.0.{number}:2380")];
        Member { id: MemberId(number), name, peer_urls, client_urls, role, standing }
    }

    fn voter(number: u64) -> Member {
        member(number, Role::Voter, Standing::Answers)
    }

    fn silent(number: u64) -> Member {
        member(number, Role::Voter, Standing::Silent("connection refused".into()))
    }

    fn of(members: Vec<Member>) -> Membership {
        Membership { members, quorum: Quorum::Held }
    }

    const OWN: &str = "https://10.0.0.9:2380";

    #[test]
    fn healthy_members_and_the_machines_own_leftovers_do_not_keep_it_from_joining() {
        for own in [
            member(9, Role::Learner, Standing::NotStarted),
            member(9, Role::Learner, Standing::Answers),
            silent(9),
            voter(9),
        ] {
            assert_eq!(of(vec![voter(1), own]).joining(OWN), []);
        }
    }

    #[test]
    fn every_foreign_member_in_the_way_is_named() {
        let learner = member(2, Role::Learner, Standing::NotStarted);
        let unstarted = member(3, Role::Voter, Standing::NotStarted);
        let found = of(vec![voter(1), learner, unstarted, silent(4)]).joining(OWN);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert!(texts[0].starts_with("etcd member https://10.0.0.2:2380 (2) is a learner"), "{texts:?}");
        assert!(texts[1].starts_with("etcd member https://10.0.0.3:2380 (3) votes and has never started"), "{texts:?}");
        assert!(texts[2].starts_with("etcd member cp4 (4) does not answer: connection refused"), "{texts:?}");
        assert!(texts.iter().all(|text| text.contains("machineadm control-plane remove ")), "{texts:?}");
    }

    #[test]
    fn votes_are_counted_with_those_that_may_still_fail() {
        let of = |members: Vec<Member>| {
            let votes = of(members).votes();
            (votes.answering, votes.voters, votes.needed(), votes.may_fail())
        };
        let learner = || member(9, Role::Learner, Standing::Answers);
        assert_eq!(of(vec![voter(1), learner()]), (1, 1, 1, 0));
        assert_eq!(of(vec![voter(1), voter(2)]), (2, 2, 2, 0));
        assert_eq!(of(vec![voter(1), voter(2), voter(3)]), (3, 3, 2, 1));
        assert_eq!(of(vec![voter(1), voter(2), silent(3)]), (2, 3, 2, 0));
        assert_eq!(of(vec![voter(1), silent(2), silent(3)]), (1, 3, 2, 0));
    }

    #[test]
    fn one_voter_alone_has_no_quorum_while_a_second_one_does_not_run() {
        let loses = |members: Vec<Member>| of(members).loses_quorum_to_a_voter(OWN);
        assert!(loses(vec![voter(1)]) && loses(vec![voter(1), voter(9)]));
        assert!(loses(vec![voter(1), member(2, Role::Learner, Standing::Answers)]));
        assert!(loses(vec![voter(1), voter(2), silent(3)]));
        assert!(!loses(vec![voter(1), voter(2)]) && !loses(vec![voter(1), voter(2), voter(3)]));
    }

    #[test]
    fn without_a_quorum_nothing_else_counts() {
        let lost = Membership { members: vec![voter(1), silent(2)], quorum: Quorum::Lost("no leader".into()) };
        assert_eq!(lost.joining(OWN), [JoinObstacle::NoQuorum("no leader".into())]);
        assert_eq!(lost.removing(&silent(2)), Some(RemovalObstacle::NoQuorum("no leader".into())));
    }

    #[test]
    fn a_removal_keeps_the_quorum_of_those_that_remain() {
        assert_eq!(of(vec![voter(1), voter(2)]).removing(&voter(2)), None);
        assert_eq!(of(vec![voter(1), voter(2), silent(3)]).removing(&silent(3)), None);
        let harmful = of(vec![voter(1), voter(2), silent(3)]).removing(&voter(2));
        assert_eq!(harmful, Some(RemovalObstacle::LosesQuorum { title: "cp2".into(), answering: 1, voters: 2 }));
        assert_eq!(of(vec![voter(1)]).removing(&voter(1)), Some(RemovalObstacle::OnlyVoter("cp1".into())));
        let learner = member(2, Role::Learner, Standing::NotStarted);
        assert_eq!(of(vec![voter(1), learner.clone()]).removing(&learner), None);
    }

    fn any_member() -> impl Strategy<Value = (Role, Standing)> {
        let role = prop_oneof![4 => Just(Role::Voter), 1 => Just(Role::Learner)];
        let standing = prop_oneof![
            3 => Just(Standing::Answers),
            1 => Just(Standing::NotStarted),
            2 => Just(Standing::Silent("timed out".into())),
        ];
        (role, standing)
    }

    fn any_membership() -> impl Strategy<Value = Membership> {
        let quorum = prop_oneof![4 => Just(Quorum::Held), 1 => Just(Quorum::Lost("no leader".into()))];
        (prop::collection::vec(any_member(), 1..10), quorum).prop_map(|(members, quorum)| {
            let members = members.into_iter().zip(1..).map(|((role, standing), number)| member(number, role, standing));
            Membership { members: members.collect(), quorum }
        })
    }

    fn most_voters_answer(membership: &Membership) -> bool {
        let votes = membership.votes();
        votes.answering * 2 > votes.voters && votes.answering >= votes.needed()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5_000) })]

        #[test]
        fn no_removal_is_allowed_after_which_most_voters_do_not_answer(before in any_membership()) {
            for member in &before.members {
                if before.removing(member).is_none() {
                    prop_assert_eq!(&before.quorum, &Quorum::Held);
                    // A learner does not vote: without it the quorum is what it was.
                    prop_assert!(member.role == Role::Learner || most_voters_answer(&before.without(member.id)));
                }
            }
        }

        #[test]
        fn no_join_is_allowed_after_which_most_voters_do_not_answer(before in any_membership(), own in 1_u64..12) {
            let url = format!("https://10.0.0.{own}:2380");
            let leftover = before.at(&url).filter(|leftover| before.removing(leftover).is_some());
            if before.joining(&url).is_empty() && leftover.is_none() {
                prop_assert_eq!(&before.quorum, &Quorum::Held);
                let mut after = before.without(MemberId(own));
                // etcd accepts one learner, and the others must be able to decide while it starts.
                prop_assert!(after.members.iter().all(|other| other.role == Role::Voter && other.answers()));
                after.members.push(member(own, Role::Learner, Standing::NotStarted));
                prop_assert!(after.voters().count() == 0 || most_voters_answer(&after));
                // It is promoted once it has caught up.
                after.members.pop();
                after.members.push(voter(own));
                prop_assert!(most_voters_answer(&after));
            }
        }
    }
}
