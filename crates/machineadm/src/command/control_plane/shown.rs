//! A control plane as people and programs read it.
use super::{
    node::Node,
    state::{ControlPlaneState, EtcdState},
};
use crate::show;
use etcd::{Member, Membership, Quorum, Standing, Votes};
use serde_json::{Value, json};

/// A member in one line, without its name.
pub(super) fn member(member: &Member) -> String {
    format!("{}, {}", member.role.name(), standing(&member.standing))
}

/// The state of a member.
pub(super) fn standing(standing: &Standing) -> String {
    match standing {
        Standing::Answers => "answers".to_owned(),
        Standing::Alarmed(why) => format!("answers, with an alarm: {why}"),
        Standing::NotStarted => "not started".to_owned(),
        Standing::Silent(why) => format!("does not answer: {why}"),
    }
}

/// How many voters answer and must answer.
pub(super) fn votes(votes: Votes) -> String {
    format!("{} of {} voters answer, {} needed", votes.answering, votes.voters, votes.needed())
}

/// The last line of a list.
fn quorum(membership: &Membership) -> String {
    let counted = membership.votes();
    match &membership.quorum {
        Quorum::Lost(_) => format!("quorum lost: {}", votes(counted)),
        Quorum::Held => match counted.may_fail() {
            0 => format!("quorum: {}; none of them may fail", votes(counted)),
            more => format!("quorum: {}; {more} more may fail", votes(counted)),
        },
    }
}

const HEADINGS: [&str; 6] = ["NAME", "ID", "ROLE", "STATE", "PEER URL", "NODE"];

/// The table of a list.
pub(super) fn table(state: &ControlPlaneState) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    let nodes = state.known_nodes();
    let members = state.membership().map(|membership| &membership.members[..]).unwrap_or_default();
    let readiness = |member: &Member| match (&state.nodes, nodes.iter().find(|node| node.name == member.name)) {
        (Err(_), _) => "unknown".to_owned(),
        (Ok(_), Some(node)) => node.readiness.name().to_owned(),
        (Ok(_), None) => "none".to_owned(),
    };
    rows.extend(members.iter().map(|member| {
        let name = if member.name.is_empty() { "-" } else { &member.name };
        [
            name.to_owned(),
            member.id.to_string(),
            member.role.name().to_owned(),
            standing(&member.standing),
            member.peer_urls.join(","),
            readiness(member),
        ]
    }));
    let has_member = |node: &&Node| members.iter().any(|member| member.name == node.name);
    rows.extend(nodes.iter().filter(|node| !has_member(node)).map(|node| {
        let etcd = if state.membership().is_some() { "no etcd member" } else { "external etcd" };
        let [none, ready] = ["-", node.readiness.name()].map(str::to_owned);
        [node.name.clone(), none.clone(), none.clone(), etcd.to_owned(), none, ready]
    }));
    let last = match &state.etcd {
        EtcdState::Stacked(membership) => quorum(membership),
        EtcdState::External => "etcd is external: kubeadm did not set it up, and its members are not listed".to_owned(),
    };
    format!("{}\n{last}\n", aligned(&rows))
}

/// Columns as wide as their longest cell.
fn aligned(rows: &[[String; HEADINGS.len()]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    let line = |row: &[String; HEADINGS.len()]| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| show::padded(cell, *width)).collect();
        format!("{}\n", cells.join("   ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A list for programs.
pub(super) fn list(state: &ControlPlaneState) -> Value {
    let nodes = state.nodes.as_ref().ok().map(|nodes| nodes.iter().map(node_value).collect::<Vec<_>>());
    let membership = state.membership();
    json!({
        "etcd": if membership.is_some() { "stacked" } else { "external" },
        "members": membership.map(|found| found.members.iter().map(member_value).collect::<Vec<_>>()),
        "quorum": membership.map(quorum_value),
        "nodes": nodes,
        "nodesUnknown": state.nodes.as_ref().err(),
    })
}

/// A member for programs.
pub(super) fn member_value(member: &Member) -> Value {
    let (state, reason) = match &member.standing {
        Standing::Answers => ("answers", None),
        Standing::Alarmed(why) => ("alarm", Some(why)),
        Standing::NotStarted => ("notStarted", None),
        Standing::Silent(why) => ("doesNotAnswer", Some(why)),
    };
    json!({
        "name": member.name,
        "id": member.id.to_string(),
        "role": member.role.name(),
        "state": state,
        "reason": reason,
        "peerURLs": member.peer_urls,
        "clientURLs": member.client_urls,
    })
}

/// A Node for programs.
pub(super) fn node_value(node: &Node) -> Value {
    json!({"name": node.name, "status": node.readiness.name()})
}

/// The voters for programs.
pub(super) fn votes_value(votes: Votes) -> Value {
    json!({
        "voters": votes.voters,
        "answering": votes.answering,
        "needed": votes.needed(),
        "mayFail": votes.may_fail(),
    })
}

fn quorum_value(membership: &Membership) -> Value {
    let mut value = votes_value(membership.votes());
    value["state"] = if membership.quorum == Quorum::Held { "held" } else { "lost" }.into();
    if let Quorum::Lost(why) = &membership.quorum {
        value["reason"] = why.as_str().into();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::super::{
        node::{NodeRole, Readiness},
        state::ThisMachine,
    };
    use super::*;
    use etcd::{MemberId, Role};

    fn state() -> ControlPlaneState {
        let member = |number: u64, name: &str, role, standing| Member {
            id: MemberId(number),
            name: name.to_owned(),
            peer_urls: vec![format!("https://10.0.0.{number}:2380")],
            client_urls: Vec::new(),
            role,
            standing,
        };
        let members = vec![
            member(1, "cp1", Role::Voter, Standing::Answers),
            member(2, "cp2", Role::Voter, Standing::Answers),
            member(3, "cp3", Role::Voter, Standing::Answers),
            member(4, "", Role::Learner, Standing::NotStarted),
        ];
        let node = |name: &str, readiness| Node {
            name: name.to_owned(),
            uid: String::new(),
            readiness,
            role: NodeRole::ControlPlane,
            addresses: Vec::new(),
        };
        let nodes =
            vec![node("cp1", Readiness::Ready), node("cp2", Readiness::NotReady), node("old", Readiness::NotReady)];
        let etcd = EtcdState::Stacked(Membership { members, quorum: Quorum::Held });
        ControlPlaneState { etcd, nodes: Ok(nodes), this_machine: ThisMachine::default() }
    }

    #[test]
    fn a_table_has_every_member_every_node_and_the_quorum() {
        let expected = "\
NAME   ID   ROLE      STATE            PEER URL                NODE
cp1    1    voter     answers          https://10.0.0.1:2380   Ready
cp2    2    voter     answers          https://10.0.0.2:2380   NotReady
cp3    3    voter     answers          https://10.0.0.3:2380   none
-      4    learner   not started      https://10.0.0.4:2380   none
old    -    -         no etcd member   -                       NotReady

quorum: 3 of 3 voters answer, 2 needed; 1 more may fail
";
        assert_eq!(table(&state()), expected);
    }

    #[test]
    fn a_lost_quorum_and_unknown_nodes_are_shown() {
        let mut state = state();
        if let EtcdState::Stacked(membership) = &mut state.etcd {
            membership.quorum = Quorum::Lost("timed out".into());
            membership
                .members
                .iter_mut()
                .skip(1)
                .for_each(|member| member.standing = Standing::Silent("refused".into()));
        }
        state.nodes = Err("timed out".into());
        let text = table(&state);
        assert!(text.contains("does not answer: refused") && text.contains("unknown"), "{text}");
        assert!(text.ends_with("\nquorum lost: 1 of 3 voters answer, 2 needed\n"), "{text}");
        let value = list(&state);
        assert_eq!(value["quorum"]["state"], "lost");
        assert_eq!(value["quorum"]["reason"], "timed out");
        assert_eq!(value["members"][2]["state"], "doesNotAnswer");
        assert_eq!((&value["nodes"], &value["nodesUnknown"]), (&Value::Null, &"timed out".into()));
    }

    #[test]
    fn external_etcd_is_named() {
        let external = ControlPlaneState { etcd: EtcdState::External, ..state() };
        let text = table(&external);
        assert!(text.contains("external etcd") && text.ends_with("its members are not listed\n"), "{text}");
        assert_eq!((&list(&external)["etcd"], &list(&external)["quorum"]), (&"external".into(), &Value::Null));
    }
}
