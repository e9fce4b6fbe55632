//! Whether this machine fits the cluster that it has discovered: versions, and the clock.
use super::tolerated_checks::is_tolerated;
use crate::{Facts, Fault, Problem, Remark, ServerVersion};
use certs::ttl_token::ClockSkew;
use documents::v1alpha1::PreflightCheck;
use kubeadm::{KubernetesVersion, preflight_checks::oldest_kubelet_of_cluster};

/// A certificate is valid from five minutes before it is signed: so far a clock may be behind.
const CLOCK: objects::Duration = objects::Duration::minutes(5);

/// What does not fit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Skew {
    /// What is refused before kubeadm runs.
    pub(super) problems: Vec<Problem>,
    /// What is tolerated, or only worth knowing.
    pub(super) remarks: Vec<Remark>,
}

impl Skew {
    /// Between this machine and an API server.
    pub(super) fn between(facts: &Facts, server: &ServerVersion, tolerated: &[PreflightCheck]) -> Self {
        let mut skew = Self::default();
        let mut found = |check: PreflightCheck, text: String| match is_tolerated(tolerated, check) {
            true => skew.remarks.push(Remark::Tolerated { check: check.name(), text }),
            false => skew.problems.push(match check {
                PreflightCheck::Kubeadm | PreflightCheck::Kubelet => Problem::of(Fault::Versions, text),
                check => Problem::of(Fault::Check(check), text),
            }),
        };
        let of_server = &server.version;
        let minor = |text: &str| text.parse::<KubernetesVersion>().ok().map(KubernetesVersion::effective_minor);
        let own = |version: &Option<String>| version.as_ref().and_then(|text| Some((text.clone(), minor(text)?)));
        if let (Some((kubelet, own)), Some(theirs)) = (own(&facts.kubelet), minor(of_server)) {
            if own > theirs {
                let text = format!(
                    "the kubelet is {kubelet}, newer than the API server {of_server}, which Kubernetes does not support: \
                     install the kubelet in the version of the cluster"
                );
                found(PreflightCheck::Kubelet, text);
            } else if own < oldest_kubelet_of_cluster(theirs) {
                let text = format!(
                    "the kubelet is {kubelet}, and the API server {of_server} supports 1.{} and newer: install the kubelet \
                     in the version of the cluster",
                    oldest_kubelet_of_cluster(theirs)
                );
                found(PreflightCheck::Kubelet, text);
            }
        }
        let mut newer = None;
        if let (Some((kubeadm, own)), Some(theirs)) = (own(&facts.kubeadm), minor(of_server)) {
            // As kubeadm itself says: the control plane is of its own minor version, or of the one before.
            if theirs.saturating_add(1) < own {
                let text = format!(
                    "kubeadm is {kubeadm}, and supports control planes of 1.{} and newer, but the API server is \
                     {of_server}: install kubeadm in the version of the cluster",
                    own.saturating_sub(1)
                );
                found(PreflightCheck::Kubeadm, text);
            } else if theirs > own {
                newer = Some(format!("kubeadm is {kubeadm}, older than the API server {of_server}"));
            }
        }
        if let Some(text) = server.skew.and_then(clock) {
            found(PreflightCheck::Clock, text);
        }
        let noticed = |text| Remark::Noticed { check: PreflightCheck::Kubeadm.name(), text };
        skew.remarks.extend(newer.map(noticed));
        skew
    }
}

/// A clock with which certificates of the cluster are not valid.
fn clock(skew: ClockSkew) -> Option<String> {
    let (by, word) = match skew {
        ClockSkew::Ahead(by) => (by, "ahead of"),
        ClockSkew::Behind(by) => (by, "behind"),
    };
    (by > CLOCK).then(|| {
        format!("the clock of this machine is {by} {word} the clock of the API server: set the clock, then run machineadm again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(kubeadm: &str, kubelet: &str) -> Facts {
        Facts { kubeadm: Some(kubeadm.into()), kubelet: Some(kubelet.into()), ..Facts::default() }
    }

    fn between(kubeadm: &str, kubelet: &str, server: &str, tolerated: &[PreflightCheck]) -> Skew {
        Skew::between(&facts(kubeadm, kubelet), &ServerVersion { version: server.into(), skew: None }, tolerated)
    }

    #[test]
    fn versions_of_one_minor_and_supported_skews_pass() {
        for (kubeadm, kubelet, server) in [
            ("v1.36.4", "v1.36.4", "v1.36.4"),
            ("v1.36.4", "v1.36.9", "v1.36.1"),
            ("v1.36.4", "v1.33.0", "v1.36.4"),
            ("v1.37.1", "v1.36.4", "v1.36.4"),
            ("v1.36.4", "v1.36.4", "v1.36.4-eks-1234"),
        ] {
            assert_eq!(between(kubeadm, kubelet, server, &[]), Skew::default(), "{kubeadm} {kubelet} {server}");
        }
    }

    #[test]
    fn a_kubelet_that_is_newer_or_much_older_than_the_api_server_is_refused() {
        let problems = between("v1.36.4", "v1.36.4", "v1.35.9", &[]).problems;
        assert!(problems.len() == 1 && problems[0].text.starts_with("the kubelet is v1.36.4, newer"), "{problems:?}");
        let problems = between("v1.36.4", "v1.33.0", "v1.37.0", &[]).problems;
        assert!(problems.len() == 1 && problems[0].text.contains("supports 1.34 and newer"), "{problems:?}");
        // Before 1.28 it was two minors.
        assert_eq!(between("v1.27.1", "v1.24.0", "v1.27.0", &[]).problems.len(), 1);
        assert_eq!(between("v1.28.1", "v1.25.0", "v1.28.0", &[]).problems.len(), 0);
        let tolerated = between("v1.36.4", "v1.36.4", "v1.35.9", &[PreflightCheck::Kubelet]);
        assert!(tolerated.problems.is_empty() && tolerated.remarks.len() == 1, "{tolerated:?}");
    }

    #[test]
    fn kubeadm_joins_control_planes_of_its_minor_and_the_one_before() {
        let problems = between("v1.37.1", "v1.35.0", "v1.35.9", &[]).problems;
        assert!(problems.len() == 1 && problems[0].text.contains("control planes of 1.36 and newer"), "{problems:?}");
        let newer = between("v1.36.4", "v1.36.4", "v1.37.0", &[]);
        assert!(newer.problems.is_empty() && newer.remarks.len() == 1, "{newer:?}");
    }

    #[test]
    fn a_clock_that_is_off_by_more_than_five_minutes_is_named_with_the_difference() {
        let of = |seconds| {
            let now = jiff::Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(500_000);
            let skew = ClockSkew::between(now + jiff::SignedDuration::from_secs(seconds), now);
            Skew::between(&Facts::default(), &ServerVersion { version: "v1.36.4".into(), skew }, &[]).problems
        };
        assert_eq!((of(299), of(-299)), (vec![], vec![]));
        assert!(
            of(3601)[0].text.starts_with("the clock of this machine is 1h0m1s ahead of the clock of the API"),
            "{:?}",
            of(3601)
        );
        assert!(of(-301)[0].text.starts_with("the clock of this machine is 5m1s behind the clock"), "{:?}", of(-301));
    }
}
