//! Preflight checks that a document tolerates, by our names and by those of its kubeadm.
use documents::v1alpha1::{self, ImagePull, PreflightCheck};
use kubeadm::{
    ApiVersion,
    preflight_checks::{self, ALL},
};

/// What kubeadm is told to ignore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToleratedChecks {
    /// Everything.
    All,
    /// The checks of these names, which are kubeadm's.
    Named(Vec<String>),
}

impl ToleratedChecks {
    /// What the kubeadm of a minor ignores for a document, by the checks that it tolerates and by its kubelet.
    ///
    /// With `failCgroupV1: false` the kubelet runs on control groups of version 1, but kubeadm asks to skip its check as
    /// well. Our own check of the controllers remains.
    pub(super) fn new(tolerated: &[PreflightCheck], kubelet: &v1alpha1::Members, minor: u32) -> Self {
        if tolerated.contains(&PreflightCheck::All) {
            return Self::All;
        }
        let is_on_v1 = preflight_checks::refuses_cgroup_v1(minor) && accepts_cgroup_v1(kubelet);
        let mut names = Vec::new();
        for check in tolerated.iter().copied().chain(is_on_v1.then_some(PreflightCheck::Cgroups)) {
            for name in preflight_checks::names(check.name(), minor).map(str::to_owned) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        Self::Named(names)
    }

    /// The names for kubeadm's file.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::All => Vec::new(),
            Self::Named(names) => names.clone(),
        }
    }

    /// The flag for what older kubeadms refuse in a file.
    pub(super) fn flag(&self) -> Option<String> {
        (*self == Self::All).then(|| format!("--ignore-preflight-errors={ALL}"))
    }
}

/// Whether a document tolerates what a check finds.
pub(super) fn is_tolerated(tolerated: &[PreflightCheck], check: PreflightCheck) -> bool {
    tolerated.contains(&PreflightCheck::All) || tolerated.contains(&check)
}

/// Whether the kubelet is configured to run on control groups of version 1.
pub(super) fn accepts_cgroup_v1(kubelet: &v1alpha1::Members) -> bool {
    kubelet.get("failCgroupV1") == Some(&serde_json::Value::Bool(false))
}

/// What kubeadm is told about pulling images; its default stays unsaid. Before v1beta3 it pulls what is missing, and
/// preflight sees to it that with `Never` nothing is.
pub(super) fn image_pull_policy(image_pull: ImagePull, api: ApiVersion) -> Option<String> {
    let is_said = match image_pull {
        ImagePull::IfNotPresent => false,
        ImagePull::Always => true,
        ImagePull::Never => api >= ApiVersion::V1Beta3,
    };
    is_said.then(|| image_pull.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn v1() -> v1alpha1::Members {
        [("failCgroupV1".to_owned(), false.into())].into_iter().collect()
    }

    #[test]
    fn a_kubelet_for_control_groups_of_version_1_is_accepted_where_kubeadm_refuses_them() {
        let names = |kubelet: &v1alpha1::Members, minor| ToleratedChecks::new(&[], kubelet, minor).names();
        assert_eq!(names(&v1(), 35), ["SystemVerification"]);
        assert_eq!((names(&v1(), 34), names(&v1alpha1::Members::new(), 36)), (vec![], vec![]));
    }

    #[test]
    fn with_never_older_kubeadms_pull_nothing_since_nothing_is_missing() {
        let policy = |pull, api| image_pull_policy(pull, api);
        assert_eq!(policy(ImagePull::IfNotPresent, ApiVersion::V1Beta4), None);
        assert_eq!(policy(ImagePull::Never, ApiVersion::V1Beta3).as_deref(), Some("Never"));
        assert_eq!(policy(ImagePull::Never, ApiVersion::V1Beta2), None);
        // What it cannot say is a loss, which stops the run.
        assert_eq!(policy(ImagePull::Always, ApiVersion::V1Beta2).as_deref(), Some("Always"));
    }

    #[test]
    fn kubeadms_checks_name_checks_that_a_document_can_tolerate() {
        let ours: BTreeSet<_> = preflight_checks::CHECKS.iter().filter_map(|check| check.ours).collect();
        let unknown: Vec<_> = ours.into_iter().filter(|name| PreflightCheck::named(name).is_none()).collect();
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn kubeadm_is_told_its_own_names_and_each_once() {
        let checks = [PreflightCheck::Cgroups, PreflightCheck::Swap, PreflightCheck::Cgroups, PreflightCheck::Disk];
        let tolerated = ToleratedChecks::new(&checks, &v1(), 36);
        assert_eq!((tolerated.names(), tolerated.flag()), (vec!["SystemVerification".into(), "Swap".into()], None));
        let all = ToleratedChecks::new(&[PreflightCheck::Swap, PreflightCheck::All], &v1(), 26);
        assert_eq!((all.names(), all.flag()), (vec![], Some("--ignore-preflight-errors=all".into())));
    }
}
