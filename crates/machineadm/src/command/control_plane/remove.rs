//! `machineadm control-plane remove`: ends the membership of a control plane node that is lost.
use super::{
    arguments::Remove,
    shown,
    state::{Access, ControlPlaneState, EtcdState},
    target::{Running, Target},
};
use crate::{command::confirm::Confirmed, command_error::CommandError, show};
use etcd::Member;
use host::contract::Exit;
use serde_json::{Value, json};
use std::{fmt::Write, path::Path};

pub(super) fn run(asked: &Remove, kubeconfig: &Path) -> Result<Exit, CommandError> {
    if !asked.dry_run {
        asked.confirmation.check()?;
    }
    let access = Access::connect(kubeconfig)?;
    let (target, state) = look(asked, &access)?;
    let planned = planned(&target, &state);
    if asked.dry_run {
        match asked.output {
            Some(output) => show::machine_readable(&value(&target, &state, Effect::Planned), output)?,
            None => show::print_text(&format!("{planned}\nNothing was changed.\n"))?,
        }
        return Ok(Exit::Done);
    }
    // People know a node by its name alone; a member with a namesake is not meant by it.
    let meant = if target.namesake.is_some() { target.description() } else { target.title().to_owned() };
    let question = format!("\nRemove {meant}?");
    if asked.confirmation.ask(&planned, &question)? == Confirmed::OnTerminal {
        // The answer may have taken a while.
        let (now, _) = look(asked, &access)?;
        if !now.is_as(&target) {
            let text = format!("{meant} has changed since it was shown; nothing was removed");
            return Err(CommandError::failed(text).with_remedy("run the same command again"));
        }
    }
    remove(&target, &access)?;
    match asked.output {
        Some(output) => show::machine_readable(&value(&target, &state, Effect::Done), output)?,
        None => show::print_text(&done(&target))?,
    }
    Ok(Exit::Done)
}

/// What is removed, if it may be.
fn look(asked: &Remove, access: &Access) -> Result<(Target, ControlPlaneState), CommandError> {
    let state = access.look()?;
    let is_known = state.known_nodes().iter().any(|node| node.name == asked.node);
    let other = if is_known || state.nodes.is_err() { None } else { access.node(&asked.node)? };
    let target = Target::find(&asked.node, &state, other)?;
    target.check(&state, if asked.force { Running::Removed } else { Running::Refused })?;
    Ok((target, state))
}

/// The member first: a Node that is gone would hide that its member is left.
fn remove(target: &Target, access: &Access) -> Result<(), CommandError> {
    if let Some(member) = &target.member {
        access.remove_member(member)?;
    }
    target.node.as_ref().map_or(Ok(()), |node| access.delete_node(node))
}

/// What would happen, for people.
fn planned(target: &Target, state: &ControlPlaneState) -> String {
    let mut text = format!("{}\n\n", target.description());
    let mut line = |what: &str, value: &str| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "  {what:<12} {value}");
    };
    match (&target.member, &state.etcd) {
        (Some(member), EtcdState::Stacked(membership)) => {
            line("etcd member", &format!("{} ({}), {}", member.title(), member.id, shown::member(member)));
            line("", "- remove it from etcd");
            line("quorum now", &shown::votes(membership.votes()));
            line("afterwards", &shown::votes(membership.without(member.id).votes()));
        }
        (_, EtcdState::External) => line("etcd", "external: kubeadm did not set it up, and it is not changed"),
        (None, EtcdState::Stacked(_)) => line("etcd member", "none"),
    }
    match (&target.node, &target.namesake) {
        (Some(node), _) => {
            line("Node", &format!("{}, {}", node.name, node.readiness.name()));
            line("", "- delete it from the cluster");
        }
        (None, Some(namesake)) => line("Node", &not_deleted(namesake)),
        (None, None) => line("Node", "none"),
    }
    text
}

fn not_deleted(namesake: &Member) -> String {
    let Member { name, id, .. } = namesake;
    format!("{name} is not deleted: another etcd member, {id}, has the same name")
}

/// What happened, for people.
fn done(target: &Target) -> String {
    let member = target.member.as_ref();
    let member = member.map(|member| format!("etcd member {} ({}) removed\n", member.title(), member.id));
    let node = target.node.as_ref().map(|node| format!("Node {} deleted\n", node.name));
    let namesake = target.namesake.as_ref().map(|namesake| format!("Node {}\n", not_deleted(namesake)));
    member.into_iter().chain(node).chain(namesake).collect()
}

/// Whether it was done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Planned,
    Done,
}

fn value(target: &Target, state: &ControlPlaneState, effect: Effect) -> Value {
    let membership = state.membership();
    let after = membership.zip(target.member.as_ref()).map(|(found, member)| found.without(member.id));
    json!({
        "name": target.title(),
        "etcd": if membership.is_some() { "stacked" } else { "external" },
        "member": target.member.as_ref().map(shown::member_value),
        "node": target.node.as_ref().map(shown::node_value),
        "memberWithSameName": target.namesake.as_ref().map(shown::member_value),
        "quorumBefore": membership.map(|found| shown::votes_value(found.votes())),
        "quorumAfter": after.as_ref().or(membership).map(|found| shown::votes_value(found.votes())),
        "dryRun": effect == Effect::Planned,
    })
}

#[cfg(test)]
mod tests {
    use super::super::state::ThisMachine;
    use super::*;
    use etcd::{MemberId, Membership, Quorum, Role, Standing};

    fn member(id: u64, name: &str, standing: Standing) -> Member {
        let peer_urls = vec![format!("https://10.0.0.{id}:2380")];
        Member { id: MemberId(id), name: name.into(), peer_urls, client_urls: Vec::new(), role: Role::Voter, standing }
    }

    #[test]
    fn a_node_that_another_member_has_is_shown_as_not_deleted() {
        let dead = member(3, "cp2", Standing::Silent("timed out".into()));
        let members = vec![member(1, "cp1", Standing::Answers), member(2, "cp2", Standing::Answers), dead.clone()];
        let namesake = members[1].clone();
        let state = ControlPlaneState {
            etcd: EtcdState::Stacked(Membership { members, quorum: Quorum::Held }),
            nodes: Ok(Vec::new()),
            this_machine: ThisMachine { hostname: "cp1".into(), ..ThisMachine::default() },
        };
        let target = Target { member: Some(dead.clone()), node: None, namesake: Some(namesake.clone()) };
        let text = format!("cp2 is not deleted: another etcd member, {}, has the same name\n", namesake.id);
        let planned = planned(&target, &state);
        assert!(planned.ends_with(&format!("  Node         {text}")), "{planned}");
        assert!(planned.starts_with(&format!("etcd member cp2 ({})\n", dead.id)), "{planned}");
        assert_eq!(done(&target), format!("etcd member cp2 ({}) removed\nNode {text}", dead.id));
        let value = value(&target, &state, Effect::Planned);
        assert_eq!((&value["node"], &value["memberWithSameName"]), (&Value::Null, &shown::member_value(&namesake)));
    }
}
