//! What `machineadm control-plane remove NODE` is about, and what forbids it.
use super::{
    node::{Node, NodeRole, Readiness},
    state::{ControlPlaneState, host_of},
};
use crate::command_error::CommandError;
use etcd::{Member, RemovalObstacle, Standing};
use host::contract::Exit;

/// What is removed: at least one of member and Node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) member: Option<Member>,
    pub(super) node: Option<Node>,
    /// Another member with the name of this one: the Node of that name may be its machine's, and is not deleted.
    pub(super) namesake: Option<Member>,
}

/// Whether a node that still runs is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Running {
    Refused,
    Removed,
}

impl Target {
    /// What a name, a peer URL or an id means. `other` is the Node of that name, if none of the control plane is.
    pub(super) fn find(text: &str, state: &ControlPlaneState, other: Option<Node>) -> Result<Self, CommandError> {
        let nodes = state.known_nodes();
        let node_named = |name: &str| nodes.iter().find(|node| node.name == name).cloned();
        let member = match members(text, state)[..] {
            [] => None,
            [one] => Some(one.clone()),
            [..] => {
                let text = format!("several etcd members are called {text}");
                return Err(CommandError::invalid(text)
                    .with_remedy("pass the id or the peer URL of one; `machineadm control-plane list` has them"));
            }
        };
        let namesake = member.as_ref().and_then(|member| namesake(member, state));
        let node = match (&member, &namesake) {
            (Some(_), Some(_)) => None,
            (Some(member), None) => node_named(&member.name),
            (None, _) => node_named(text).or(other),
        };
        // A member that has never started has no name yet: its address is the node's.
        let member = member.or_else(|| member_at(state, node.as_ref()?));
        match (&member, &node) {
            (None, None) => Err(unknown(text, state)),
            _ => Ok(Self { member, node, namesake }),
        }
    }

    /// Whether it is the same one, in the same state. A member that is down may have another reason each time not to answer.
    pub(super) fn is_as(&self, shown: &Self) -> bool {
        let without_reason = |target: &Self| {
            let mut target = target.clone();
            for member in target.member.iter_mut().chain(&mut target.namesake) {
                if let Standing::Silent(why) = &mut member.standing {
                    why.clear();
                }
            }
            target
        };
        without_reason(self) == without_reason(shown)
    }

    /// How people know it.
    pub(super) fn title(&self) -> &str {
        match (&self.node, &self.member) {
            (Some(node), _) => &node.name,
            (None, Some(member)) => member.title(),
            (None, None) => "",
        }
    }

    /// What is removed, in words. The node of this name stays where another member has the name.
    pub(super) fn description(&self) -> String {
        match (&self.member, &self.namesake) {
            (Some(member), Some(_)) => format!("etcd member {} ({})", member.title(), member.id),
            _ => format!("control plane node {}", self.title()),
        }
    }

    /// Why it must not be removed.
    pub(super) fn check(&self, state: &ControlPlaneState, running: Running) -> Result<(), CommandError> {
        self.is_another_machine(state)?;
        self.leaves_a_quorum(state)?;
        if let Err(why) = &state.nodes {
            let text = format!("the API server does not answer, so that the Node cannot be deleted: {why}");
            return Err(CommandError::failed(text).with_remedies([
                "run this command on another control plane node",
                "if the server in the kubeconfig is the lost node, pass a copy that names the API server of this machine: \
                 --kubeconfig FILE",
            ]));
        }
        self.is_of_the_control_plane()?;
        match running {
            Running::Refused => self.has_ended(),
            Running::Removed => Ok(()),
        }
    }

    /// This machine is known by its own files. Its host name decides only where they do not: nodes may be called otherwise,
    /// and a lost machine may have had the same name.
    fn is_another_machine(&self, state: &ControlPlaneState) -> Result<(), CommandError> {
        let this = &state.this_machine;
        let by_manifest = state.membership().zip(this.etcd.as_ref());
        let by_manifest = by_manifest.and_then(|(all, pod)| all.of_server(&pod.peer_url, &pod.client_urls));
        let named = by_manifest.map(|member| member.name.as_str()).filter(|name| !name.is_empty());
        let own_name = this.node.as_deref().or(named).unwrap_or(&this.hostname);
        let is_own_member = |member: &Member| match by_manifest {
            Some(own) => member.id == own.id,
            None => member.name == own_name,
        };
        let is_own = self.member.as_ref().is_some_and(is_own_member)
            || self.node.as_ref().is_some_and(|node| node.name == own_name);
        match is_own {
            false => Ok(()),
            true => Err(refused(format!("{} is this machine", self.title())).with_remedy("run `machineadm reset`")),
        }
    }

    fn leaves_a_quorum(&self, state: &ControlPlaneState) -> Result<(), CommandError> {
        let (Some(membership), Some(member)) = (state.membership(), &self.member) else { return Ok(()) };
        let Some(obstacle) = membership.removing(member) else { return Ok(()) };
        let silent = membership.voters().filter(|voter| voter.id != member.id && !voter.answers());
        let silent = silent.map(Member::title).collect::<Vec<_>>().join(", ");
        let remedy = match &obstacle {
            RemovalObstacle::NoQuorum(_) => {
                "start the control plane nodes that are down; if most of them are lost for good, restore etcd from a backup"
                    .to_owned()
            }
            RemovalObstacle::OnlyVoter(_) => "join another control plane node first".to_owned(),
            RemovalObstacle::LosesQuorum { .. } => {
                format!("first start the members that do not answer, or remove those that are lost for good: {silent}")
            }
        };
        Err(refused(obstacle.to_string()).with_remedy(remedy))
    }

    fn is_of_the_control_plane(&self) -> Result<(), CommandError> {
        match (&self.member, &self.node) {
            (None, Some(node)) if node.role == NodeRole::Worker => {
                let text = format!("the Node {} is not one of the control plane and has no etcd member", node.name);
                Err(refused(text).with_remedy(format!("to delete a worker, run `kubectl delete node {}`", node.name)))
            }
            _ => Ok(()),
        }
    }

    fn has_ended(&self) -> Result<(), CommandError> {
        let answers = self.member.as_ref().filter(|member| member.answers());
        let ready = self.node.as_ref().filter(|node| node.readiness == Readiness::Ready);
        let text = match (answers, ready) {
            (None, None) => return Ok(()),
            (Some(member), _) => format!("{} still runs: its etcd member answers", member.title()),
            (None, Some(node)) => format!("{0} still runs: the Node {0} is Ready", node.name),
        };
        let error = refused(text).with_remedy("run `machineadm reset` on it instead");
        Err(match ready {
            Some(_) if answers.is_none() => error.with_remedy(
                "a node whose power was cut is Ready for another minute: wait, then run the same command again",
            ),
            _ => error,
        }
        .with_remedy("if it cannot be reached, pass --force"))
    }
}

/// The members that a text may mean.
fn members<'a>(text: &str, state: &'a ControlPlaneState) -> Vec<&'a Member> {
    let all = state.membership().map(|membership| &membership.members[..]).unwrap_or_default();
    let by = |is_meant: &dyn Fn(&Member) -> bool| all.iter().filter(|member| is_meant(member)).collect::<Vec<_>>();
    // A node may have a name that reads like a number: names come first.
    let found = [
        by(&|member| !text.is_empty() && member.name == text),
        by(&|member| member.has_peer_url(text)),
        by(&|member| member.id.to_string() == text.to_ascii_lowercase()),
    ];
    found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// Another member with the same name. A member that has never started has none.
fn namesake(member: &Member, state: &ControlPlaneState) -> Option<Member> {
    let mut others = state.membership()?.members.iter().filter(|other| other.id != member.id);
    others.find(|other| !other.name.is_empty() && other.name == member.name).cloned()
}

fn member_at(state: &ControlPlaneState, node: &Node) -> Option<Member> {
    let all = state.membership()?.members.iter().filter(|member| member.name.is_empty());
    let mut at = all.filter(|member| member.peer_urls.iter().any(|url| is_at(url, &node.addresses)));
    at.next().cloned()
}

/// Whether a peer URL has one of these addresses.
fn is_at(url: &str, addresses: &[String]) -> bool {
    addresses.iter().any(|address| address == host_of(url))
}

/// Nothing has this name: what there is instead.
fn unknown(text: &str, state: &ControlPlaneState) -> CommandError {
    let members = state.membership().map(|found| &found.members[..]).unwrap_or_default();
    let members: Vec<_> = members.iter().map(|member| format!("{} ({})", member.title(), member.id)).collect();
    let nodes: Vec<_> = state.known_nodes().iter().map(|node| node.name.as_str()).collect();
    let some = |what: &str, names: String| (!names.is_empty()).then(|| format!("{what}: {names}"));
    let error = CommandError::failed(format!("neither an etcd member nor a Node is called {text}"));
    let error = error
        .with_remedies(some("etcd members", members.join(", ")))
        .with_remedies(some("control plane nodes", nodes.join(", ")));
    match &state.nodes {
        Ok(_) => error,
        Err(why) => error.with_remedy(format!("Nodes are not known: the API server does not answer: {why}")),
    }
}

fn refused(text: String) -> CommandError {
    CommandError::new(Exit::Person, format!("{text}; nothing was removed"))
}

#[cfg(test)]
mod tests {
    use super::super::state::{EtcdState, ThisMachine};
    use super::*;
    use engine::EtcdPod;
    use etcd::{MemberId, Membership, Quorum, Role, Standing};

    fn member(number: u64, role: Role, standing: Standing) -> Member {
        let name = if standing == Standing::NotStarted { String::new() } else { format!("cp{number}") };
        let client_urls = Vec::new();
        let peer_urls = vec![format!("https://10.0.0.{number}:2380")];
        Member { id: MemberId(0xab00 + number), name, peer_urls, client_urls, role, standing }
    }

    fn voter(number: u64) -> Member {
        member(number, Role::Voter, Standing::Answers)
    }

    fn dead(number: u64) -> Member {
        member(number, Role::Voter, Standing::Silent("timed out".into()))
    }

    fn learner(number: u64) -> Member {
        member(number, Role::Learner, Standing::NotStarted)
    }

    fn node(number: u64, readiness: Readiness) -> Node {
        let (name, addresses) = (format!("cp{number}"), vec![format!("10.0.0.{number}")]);
        Node { name, uid: format!("uid-{number}"), readiness, role: NodeRole::ControlPlane, addresses }
    }

    /// As the first machine sees it.
    fn state(members: Vec<Member>, nodes: Vec<Node>) -> ControlPlaneState {
        let etcd = EtcdPod { peer_url: "https://10.0.0.1:2380".into(), ..EtcdPod::default() };
        let this_machine = ThisMachine { hostname: "cp1".into(), node: None, etcd: Some(etcd) };
        let etcd = EtcdState::Stacked(Membership { members, quorum: Quorum::Held });
        ControlPlaneState { etcd, nodes: Ok(nodes), this_machine }
    }

    fn asked(text: &str, state: &ControlPlaneState, running: Running) -> Result<Target, CommandError> {
        let target = Target::find(text, state, None)?;
        target.check(state, running).map(|()| target)
    }

    /// The exit code and the text of a refusal.
    fn refusal(text: &str, state: &ControlPlaneState) -> (u8, String) {
        let error = asked(text, state, Running::Refused).expect_err(text);
        (error.exit().code(), error.to_string())
    }

    #[test]
    fn a_dead_node_is_found_by_its_name_its_peer_url_and_its_id() {
        let nodes = vec![node(1, Readiness::Ready), node(2, Readiness::Ready), node(3, Readiness::NotReady)];
        let state = state(vec![voter(1), voter(2), dead(3)], nodes.clone());
        for text in ["cp3", "https://10.0.0.3:2380", "ab03", "AB03"] {
            let target = asked(text, &state, Running::Refused).expect(text);
            assert_eq!(
                target,
                Target { member: Some(dead(3)), node: Some(nodes[2].clone()), namesake: None },
                "{text}"
            );
        }
    }

    /// The name is that of a machine which was replaced by another one.
    #[test]
    fn a_node_whose_name_another_member_has_is_not_deleted_with_a_dead_member() {
        let leftover = Member { name: "cp2".into(), ..dead(3) };
        let state = state(vec![voter(1), voter(2), leftover.clone()], vec![node(2, Readiness::Ready)]);
        for (text, running) in [("ab03", Running::Removed), ("https://10.0.0.3:2380", Running::Refused)] {
            let target = asked(text, &state, running).expect(text);
            let expected = Target { member: Some(leftover.clone()), node: None, namesake: Some(voter(2)) };
            assert_eq!(target, expected, "{text}");
        }
    }

    /// The healthy machine of the two is where an operator runs it.
    #[test]
    fn a_lost_member_with_the_name_of_this_machine_is_removed_and_this_machine_is_not() {
        let leftover = Member { name: "cp1".into(), ..dead(3) };
        let mut state = state(vec![voter(1), voter(2), leftover.clone()], vec![node(1, Readiness::Ready)]);
        let target = asked("ab03", &state, Running::Refused).expect("a target");
        assert_eq!(target, Target { member: Some(leftover), node: None, namesake: Some(voter(1)) });
        assert_eq!(target.description(), "etcd member cp1 (ab03)");
        let (exit, text) = refusal("ab01", &state);
        assert!(exit == 6 && text.contains("cp1 is this machine"), "{text}");
        // Without a manifest of etcd, either may be this machine's.
        state.this_machine.etcd = None;
        for text in ["ab01", "ab03"] {
            assert!(refusal(text, &state).1.contains("cp1 is this machine"), "{text}");
        }
    }

    /// Such as a timeout, and then no route.
    #[test]
    fn a_dead_member_is_the_same_whatever_keeps_it_from_answering() {
        let state = state(vec![voter(1), voter(2), dead(3)], vec![node(3, Readiness::NotReady)]);
        let shown = asked("cp3", &state, Running::Refused).expect("a target");
        let silent = |why: &str| Some(Member { standing: Standing::Silent(why.into()), ..dead(3) });
        assert!(Target { member: silent("no route to host"), ..shown.clone() }.is_as(&shown));
        let other = Node { uid: "another".into(), ..node(3, Readiness::NotReady) };
        assert!(!Target { node: Some(other), ..shown.clone() }.is_as(&shown));
        for member in [Some(voter(3)), Some(learner(3)), None] {
            assert!(!Target { member, ..shown.clone() }.is_as(&shown));
        }
    }

    #[test]
    fn a_learner_without_a_name_is_found_by_its_url_or_by_its_nodes_address() {
        let lonely = state(vec![voter(1), learner(3)], vec![node(1, Readiness::Ready)]);
        let target = asked("https://10.0.0.3:2380", &lonely, Running::Refused).expect("a target");
        assert_eq!((target.title(), &target.node), ("https://10.0.0.3:2380", &None));
        let with_node = state(vec![voter(1), learner(3)], vec![node(3, Readiness::NotReady)]);
        let target = asked("cp3", &with_node, Running::Refused).expect("a target");
        assert_eq!(
            target,
            Target { member: Some(learner(3)), node: Some(node(3, Readiness::NotReady)), namesake: None }
        );
    }

    #[test]
    fn an_interrupted_removal_is_finished() {
        let state = state(vec![voter(1), voter(2)], vec![node(3, Readiness::NotReady)]);
        let target = asked("cp3", &state, Running::Refused).expect("a target");
        assert_eq!(target, Target { member: None, node: Some(node(3, Readiness::NotReady)), namesake: None });
    }

    #[test]
    fn what_does_not_exist_names_what_exists() {
        let (exit, text) = refusal("cp7", &state(vec![voter(1), dead(2)], vec![node(2, Readiness::NotReady)]));
        assert_eq!(exit, 1);
        assert_eq!(
            text,
            "error: neither an etcd member nor a Node is called cp7\nremedy: etcd members: cp1 (ab01), cp2 (ab02)\nremedy: \
             control plane nodes: cp2\n"
        );
        let mut same_names = [dead(2), dead(3)];
        same_names[1].name = "cp2".into();
        let (exit, text) = refusal("cp2", &state(same_names.to_vec(), Vec::new()));
        assert!(exit == 2 && text.contains("several etcd members are called cp2"), "{text}");
    }

    #[test]
    fn what_still_runs_is_refused_unless_that_is_meant() {
        let running = state(vec![voter(1), voter(2), voter(3)], vec![node(3, Readiness::Ready)]);
        let (exit, text) = refusal("cp3", &running);
        assert!(exit == 6 && text.contains("cp3 still runs: its etcd member answers; nothing was removed"), "{text}");
        assert!(text.contains("machineadm reset") && text.contains("--force"), "{text}");
        let cut_off = state(vec![voter(1), voter(2), dead(3)], vec![node(3, Readiness::Ready)]);
        let (exit, text) = refusal("cp3", &cut_off);
        assert!(exit == 6 && text.contains("the Node cp3 is Ready") && text.contains("another minute"), "{text}");
        for state in [running, cut_off] {
            assert!(asked("cp3", &state, Running::Removed).is_ok());
        }
    }

    #[test]
    fn this_machine_a_worker_and_a_lost_quorum_are_refused_whatever_is_meant() {
        let healthy = state(vec![voter(1), voter(2)], vec![node(1, Readiness::Ready)]);
        for text in ["cp1", "ab01", "https://10.0.0.1:2380"] {
            let (exit, refused) = refusal(text, &healthy);
            assert!(exit == 6 && refused.contains("cp1 is this machine") && refused.contains("machineadm reset"));
            assert!(asked(text, &healthy, Running::Removed).is_err());
        }
        let worker = Node { role: NodeRole::Worker, ..node(8, Readiness::NotReady) };
        let target = Target::find("cp8", &healthy, Some(worker)).expect("a Node");
        let error = target.check(&healthy, Running::Removed).expect_err("it is a worker").to_string();
        assert!(error.contains("kubectl delete node cp8"), "{error}");

        let harmful = state(vec![voter(1), voter(2), dead(3)], vec![node(2, Readiness::NotReady)]);
        let error = asked("cp2", &harmful, Running::Removed).expect_err("the quorum").to_string();
        assert!(error.contains("only 1 of 2 voters answer") && error.contains("lost for good: cp3"), "{error}");
        let mut lost = state(vec![voter(1), dead(2)], Vec::new());
        lost.etcd = EtcdState::Stacked(Membership {
            members: vec![voter(1), dead(2)],
            quorum: Quorum::Lost("it knows no leader".into()),
        });
        lost.nodes = Err("timed out".into());
        let (exit, text) = refusal("cp2", &lost);
        assert!(exit == 6 && text.contains("etcd has no quorum: it knows no leader"), "{text}");
    }

    /// Without a load balancer the kubeconfig of every control plane node has the address of the first one.
    #[test]
    fn a_lost_node_that_the_kubeconfig_names_is_removed_by_another_kubeconfig() {
        let mut state = state(vec![voter(1), voter(2), dead(3)], Vec::new());
        state.nodes = Err("timed out".into());
        let (exit, text) = refusal("cp3", &state);
        assert!(exit == 1 && text.contains("the API server does not answer") && text.contains("timed out"), "{text}");
        assert!(text.contains("names the API server of this machine: --kubeconfig FILE"), "{text}");
    }

    #[test]
    fn with_external_etcd_only_the_node_is_handled() {
        let mut external = state(Vec::new(), vec![node(2, Readiness::NotReady)]);
        external.etcd = EtcdState::External;
        let target = asked("cp2", &external, Running::Refused).expect("a target");
        assert_eq!(target, Target { member: None, node: Some(node(2, Readiness::NotReady)), namesake: None });
        external.nodes = Ok(vec![node(1, Readiness::Ready)]);
        assert!(asked("cp1", &external, Running::Removed).is_err_and(|error| error.text().contains("this machine")));
        // A node may have another name than its host.
        external.this_machine = ThisMachine { node: Some("cp2".into()), ..external.this_machine };
        external.nodes = Ok(vec![node(1, Readiness::NotReady), node(2, Readiness::Ready)]);
        assert!(asked("cp2", &external, Running::Removed).is_err_and(|error| error.text().contains("this machine")));
        assert!(asked("cp1", &external, Running::Refused).is_ok());
    }
}
