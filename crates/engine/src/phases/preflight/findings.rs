//! What a check has found.

/// What a check has found: problems stop a run unless they are tolerated, remarks never do.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<String>,
    pub(super) remarks: Vec<String>,
}

impl Findings {
    /// What kubeadm or the kubelet would refuse, with the next step.
    pub(super) fn problem(&mut self, text: impl Into<String>) {
        self.problems.push(text.into());
    }

    /// What an operator should know.
    pub(super) fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }
}
