//! What a check has found.
use crate::{Fault, Problem};

/// What a check has found: problems stop a run unless they are tolerated, remarks never do.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    pub(super) remarks: Vec<String>,
}

impl Findings {
    /// What kubeadm or the kubelet would refuse, with the next step.
    pub(super) fn problem(&mut self, text: impl Into<String>) {
        self.problems.push(Problem::from(text.into()));
    }

    /// The same, where the check alone does not tell what it is about.
    pub(super) fn problem_of(&mut self, fault: Fault, text: impl Into<String>) {
        self.problems.push(Problem::of(fault, text));
    }

    /// What an operator should know.
    pub(super) fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }
}
