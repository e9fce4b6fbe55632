//! kubeadm's timeouts: which ones a document has no field for, and which ones kubeadm takes anyway.
use crate::report::ImportReport;
use kubeadm::hub;
use objects::Duration;

/// Timeouts that are not kubeadm's defaults, as a document writes them. `kubeadm config print` writes the defaults.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UnusualTimeouts {
    pub(crate) control_plane: Option<String>,
    pub(crate) kubelet: Option<String>,
    pub(crate) tls_bootstrap: Option<String>,
    pub(crate) discovery: Option<String>,
}

impl UnusualTimeouts {
    /// Those of a document of this kind of kubeadm's; what no document of ours has is reported.
    pub(crate) fn of(kind: &str, given: Option<hub::Timeouts>, report: &mut ImportReport) -> Self {
        let hub::Timeouts {
            control_plane_component_health_check,
            kubelet_health_check,
            kubernetes_api_call,
            etcd_api_call,
            tls_bootstrap,
            discovery,
            upgrade_manifests,
        } = given.unwrap_or_default();
        let others = [
            ("kubernetesAPICall", unless_usual(kubernetes_api_call, 1)),
            ("etcdAPICall", unless_usual(etcd_api_call, 2)),
            ("upgradeManifests", unless_usual(upgrade_manifests, 5)),
        ];
        for (field, time) in others {
            report.unsupported_if_set(format!("{kind}.timeouts.{field}"), time);
        }
        Self {
            control_plane: unless_usual(control_plane_component_health_check, 4),
            kubelet: unless_usual(kubelet_health_check, 4),
            tls_bootstrap: unless_usual(tls_bootstrap, 5),
            discovery: unless_usual(discovery, 5),
        }
    }
}

/// A timeout that is not kubeadm's default.
pub(crate) fn unless_usual(given: Option<Duration>, minutes: i64) -> Option<String> {
    given.filter(|given| *given != Duration::minutes(minutes)).map(|time| time.to_string())
}
