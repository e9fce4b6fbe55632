//! `machineadm control-plane remove`: ends the membership of a control plane node that is lost.
use super::{
    arguments::Remove,
    shown,
    state::{Access, ControlPlaneState, EtcdState},
    target::{Running, Target},
};
use crate::{command::confirm::Confirmed, command_error::CommandError, show};
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
    let question = format!("\nRemove {}?", target.title());
    if asked.confirmation.ask(&planned, &question)? == Confirmed::OnTerminal {
        // The answer may have taken a while.
        let (now, _) = look(asked, &access)?;
        if now != target {
            let text = format!("{} has changed since it was shown; nothing was removed", target.title());
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
    let mut text = format!("control plane node {}\n\n", target.title());
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
    match &target.node {
        Some(node) => {
            line("Node", &format!("{}, {}", node.name, node.readiness.name()));
            line("", "- delete it from the cluster");
        }
        None => line("Node", "none"),
    }
    text
}

/// What happened, for people.
fn done(target: &Target) -> String {
    let member = target.member.as_ref();
    let member = member.map(|member| format!("etcd member {} ({}) removed\n", member.title(), member.id));
    let node = target.node.as_ref().map(|node| format!("Node {} deleted\n", node.name));
    member.into_iter().chain(node).collect()
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
        "quorumBefore": membership.map(|found| shown::votes_value(found.votes())),
        "quorumAfter": after.as_ref().or(membership).map(|found| shown::votes_value(found.votes())),
        "dryRun": effect == Effect::Planned,
    })
}
