//! Phases of `kubeadm init` that are skipped (`skipPhases`).
use crate::report::RefusedPhase;
use documents::v1alpha1::{ClusterPart, InitConfig, Members, PreflightCheck};

/// What skipped phases mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedInitPhases {
    /// Whether every preflight check is tolerated.
    pub preflight: bool,
    /// Whether the certificates are not uploaded.
    pub upload_certs: bool,
    /// What the cluster is created without.
    pub without: Vec<ClusterPart>,
    /// Phases that cannot be skipped.
    pub refused: Vec<RefusedPhase>,
}

/// Phases that cannot be skipped, and what to do instead. Without most of them the machine does not become a node.
const NEEDED: [(&str, &str); 10] = [
    ("kubelet-start", "without this phase the machine does not become a node"),
    ("certs", "put your own certificates into the directory --cert-dir: kubeadm uses those that it finds"),
    ("kubeconfig", "without this phase the machine does not become a node"),
    ("etcd", "without this phase the cluster has no etcd; change the etcd member with `etcd` of an InitConfig"),
    ("control-plane", "change the static pods with --patches, or with `apiServer` of an InitConfig"),
    ("wait-control-plane", "without this phase nobody knows whether the cluster works"),
    ("upload-config", "without this phase no machine can join the cluster"),
    ("mark-control-plane", "set `taints: []` in an InitConfig: --print-config prints one to start with"),
    ("kubelet-finalize", "without this phase the kubelet does not rotate its certificate"),
    ("show-join-command", "pass --skip-token-print and --skip-certificate-key-print"),
];

impl SkippedInitPhases {
    /// Reads the names of phases.
    pub fn read(phases: &[String]) -> Self {
        let mut skipped = Self::default();
        for phase in phases.iter().map(|phase| phase.trim()).filter(|phase| !phase.is_empty()) {
            match phase {
                "preflight" => skipped.preflight = true,
                "upload-certs" => skipped.upload_certs = true,
                "addon" | "addon/all" => add(&mut skipped.without, &[ClusterPart::CoreDns, ClusterPart::KubeProxy]),
                "addon/coredns" => add(&mut skipped.without, &[ClusterPart::CoreDns]),
                "addon/kube-proxy" => add(&mut skipped.without, &[ClusterPart::KubeProxy]),
                "bootstrap-token" => add(&mut skipped.without, &[ClusterPart::BootstrapToken]),
                _ => skipped.refused.push(RefusedPhase { phase: phase.to_owned(), why: refusal(phase) }),
            }
        }
        skipped
    }

    /// Says in a document what skipping these phases means. `upload_certs` is the caller's: it depends on
    /// `--upload-certs` too.
    pub fn apply(&self, document: &mut InitConfig) {
        if self.preflight {
            document.tolerated_checks = vec![PreflightCheck::All];
        }
        add(&mut document.without, &self.without);
    }
}

/// Removes the settings of what the cluster is created without, as kubeadm ignores them, and returns whose they were.
pub fn remove_settings_without_effect(document: &mut InitConfig) -> Vec<ClusterPart> {
    let mut removed = Vec::new();
    for part in document.without.clone() {
        let had_settings = match part {
            ClusterPart::BootstrapToken => document.bootstrap_token.take().is_some(),
            ClusterPart::KubeProxy => !std::mem::replace(&mut document.kube_proxy, Members::new()).is_empty(),
            ClusterPart::CoreDns => false,
        };
        removed.extend(had_settings.then_some(part));
    }
    removed
}

/// Adds parts, each once.
fn add(without: &mut Vec<ClusterPart>, parts: &[ClusterPart]) {
    for part in parts {
        if !without.contains(part) {
            without.push(*part);
        }
    }
}

fn refusal(phase: &str) -> String {
    let first = phase.split('/').next().unwrap_or_default();
    match NEEDED.iter().find(|(name, _)| *name == first) {
        Some((_, instead)) => format!("cannot be skipped; {instead}"),
        None => {
            "unknown phase; preflight, addon, addon/coredns, addon/kube-proxy, bootstrap-token and upload-certs can be \
                 skipped"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use documents::v1alpha1::InitTokenSpec;

    fn read(phases: &[&str]) -> SkippedInitPhases {
        SkippedInitPhases::read(&phases.iter().map(|phase| (*phase).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn phases_mean_what_a_document_says() {
        let skipped = read(&["preflight", " upload-certs", "addon/coredns", "addon", "bootstrap-token", ""]);
        let without = vec![ClusterPart::CoreDns, ClusterPart::KubeProxy, ClusterPart::BootstrapToken];
        assert_eq!(skipped, SkippedInitPhases { preflight: true, upload_certs: true, without, refused: vec![] });
        assert_eq!(read(&["addon/kube-proxy"]).without, [ClusterPart::KubeProxy]);
        assert_eq!(read(&["addon/all"]).without, [ClusterPart::CoreDns, ClusterPart::KubeProxy]);
        assert_eq!(read(&[]), SkippedInitPhases::default());
    }

    #[test]
    fn every_other_phase_is_refused_by_its_name_with_what_to_do() {
        let skipped = read(&["certs/ca", "mark-control-plane", "nonsense", "preflight"]);
        assert!(skipped.preflight);
        let text: Vec<_> =
            skipped.refused.iter().map(|refused| format!("{}: {}", refused.phase, refused.why)).collect();
        assert_eq!(text.len(), 3, "{text:?}");
        assert!(text[0].starts_with("certs/ca: cannot be skipped; put your own"), "{text:?}");
        assert!(text[1].contains("taints: []") && text[2].starts_with("nonsense: unknown phase; "), "{text:?}");
    }

    #[test]
    fn a_document_is_changed_only_by_what_is_skipped() {
        let mut document = InitConfig { tolerated_checks: vec![PreflightCheck::Swap], ..InitConfig::default() };
        let before = document.clone();
        read(&["upload-certs"]).apply(&mut document);
        assert_eq!(document, before);
        read(&["preflight", "addon"]).apply(&mut document);
        read(&["addon/coredns"]).apply(&mut document);
        assert_eq!(document.tolerated_checks, [PreflightCheck::All]);
        assert_eq!(document.without, [ClusterPart::CoreDns, ClusterPart::KubeProxy]);
    }

    #[test]
    fn settings_of_what_the_cluster_is_without_are_removed_and_named() {
        let settings = || InitConfig {
            bootstrap_token: Some(InitTokenSpec::default()),
            kube_proxy: [("mode".to_owned(), "nftables".into())].into_iter().collect(),
            ..InitConfig::default()
        };
        let every = vec![ClusterPart::CoreDns, ClusterPart::KubeProxy, ClusterPart::BootstrapToken];
        for (without, removed) in [
            (vec![], vec![]),
            (vec![ClusterPart::CoreDns], vec![]),
            (vec![ClusterPart::KubeProxy], vec![ClusterPart::KubeProxy]),
            (every, vec![ClusterPart::KubeProxy, ClusterPart::BootstrapToken]),
        ] {
            let mut document = InitConfig { without: without.clone(), ..settings() };
            assert_eq!(remove_settings_without_effect(&mut document), removed, "{without:?}");
            assert_eq!(document.kube_proxy.is_empty(), removed.contains(&ClusterPart::KubeProxy), "{without:?}");
            assert_eq!(document.bootstrap_token.is_none(), removed.contains(&ClusterPart::BootstrapToken));
            assert_eq!(remove_settings_without_effect(&mut document), [], "{without:?}");
        }
    }
}
