//! What kubeadm's own validation refuses, as far as it can be told without looking at a machine.
mod cluster;
mod form;
mod nodes;
mod subnets;

use crate::{
    hub::Documents,
    problem::{Severity, shown},
};
use serde::Serialize;

/// A value that kubeadm would refuse, or take and stumble over later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// An error where kubeadm refuses it, a warning where it takes it and fails later.
    pub severity: Severity,
    /// The field's path, beginning with its kind.
    pub path: String,
    /// What it must be; never the value itself.
    pub message: String,
}

/// Everything in the documents that kubeadm would refuse, that of a minor if there is one; without a clock, so that a
/// token that has ended already is not among it.
pub fn check(documents: &Documents, minor: Option<u32>) -> Vec<Refusal> {
    let Documents { cluster, init, join, reset, upgrade, cluster_status: _ } = documents;
    let mut refusals = Refusals::default();
    if let Some(init) = init {
        nodes::init(init, &mut refusals.at("InitConfiguration"));
    }
    if let Some(cluster) = cluster {
        cluster::cluster(cluster, minor, &mut refusals.at("ClusterConfiguration"));
    }
    if let Some(join) = join {
        nodes::join(join, &mut refusals.at("JoinConfiguration"));
    }
    if let Some(reset) = reset {
        nodes::reset(reset, &mut refusals.at("ResetConfiguration"));
    }
    if let Some(upgrade) = upgrade {
        nodes::upgrade(upgrade, &mut refusals.at("UpgradeConfiguration"));
    }
    refusals.found
}

#[derive(Default)]
struct Refusals {
    found: Vec<Refusal>,
}

impl Refusals {
    fn at(&mut self, path: &str) -> At<'_> {
        At { found: &mut self.found, path: path.to_owned() }
    }
}

/// Where a check is.
struct At<'r> {
    found: &'r mut Vec<Refusal>,
    path: String,
}

impl At<'_> {
    /// The same at a member.
    fn at(&mut self, member: &str) -> At<'_> {
        At { path: format!("{}.{member}", self.path), found: self.found }
    }

    fn refuse(&mut self, message: &str) {
        self.find(Severity::Error, message);
    }

    fn warn(&mut self, message: &str) {
        self.find(Severity::Warning, message);
    }

    fn find(&mut self, severity: Severity, message: &str) {
        self.found.push(Refusal { severity, path: shown(&self.path), message: shown(message) });
    }

    /// Warns of a member that is set and does not have its form.
    fn advise(&mut self, member: &str, value: Option<&str>, form: impl Fn(&str) -> bool, message: &str) {
        if value.is_some_and(|value| !value.is_empty() && !form(value)) {
            self.at(member).warn(message);
        }
    }

    /// Refuses a member that is set and does not have its form.
    fn check(&mut self, member: &str, value: Option<&str>, form: impl Fn(&str) -> bool, message: &str) {
        if value.is_some_and(|value| !value.is_empty() && !form(value)) {
            self.at(member).refuse(message);
        }
    }

    /// Refuses elements of a list that do not have their form.
    fn check_each(&mut self, member: &str, values: &[String], form: impl Fn(&str) -> bool, message: &str) {
        for (index, value) in values.iter().enumerate() {
            if !form(value) {
                self.at(&format!("{member}[{index}]")).refuse(message);
            }
        }
    }
}

#[cfg(test)]
mod tests;
