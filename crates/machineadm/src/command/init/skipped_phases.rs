//! `--skip-phases` of `init`: phases of kubeadm in our own terms.
use crate::command::skipped_phases::RefusedPhase;
use documents::v1alpha1::ClusterPart;

/// What skipped phases mean.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::command) struct Skipped {
    /// Whether preflight checks are tolerated.
    pub(in crate::command) preflight: bool,
    /// Whether the certificates are not uploaded.
    pub(in crate::command) upload: bool,
    /// What the cluster is created without.
    pub(in crate::command) without: Vec<ClusterPart>,
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

impl Skipped {
    /// Reads a list of phases; those that cannot be skipped stand beside it.
    pub(in crate::command) fn read(phases: &[String]) -> (Self, Vec<RefusedPhase>) {
        let (mut skipped, mut refused) = (Self::default(), Vec::new());
        for phase in phases.iter().map(|phase| phase.trim()).filter(|phase| !phase.is_empty()) {
            match phase {
                "preflight" => skipped.preflight = true,
                "upload-certs" => skipped.upload = true,
                "addon" | "addon/all" => skipped.is_without(&[ClusterPart::CoreDns, ClusterPart::KubeProxy]),
                "addon/coredns" => skipped.is_without(&[ClusterPart::CoreDns]),
                "addon/kube-proxy" => skipped.is_without(&[ClusterPart::KubeProxy]),
                "bootstrap-token" => skipped.is_without(&[ClusterPart::BootstrapToken]),
                _ => refused.push(RefusedPhase { phase: phase.to_owned(), why: refusal(phase) }),
            }
        }
        (skipped, refused)
    }

    fn is_without(&mut self, parts: &[ClusterPart]) {
        for part in parts {
            if !self.without.contains(part) {
                self.without.push(*part);
            }
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
    use crate::command_error::CommandError;

    fn read(phases: &[&str]) -> Result<Skipped, CommandError> {
        let (skipped, refused) = Skipped::read(&phases.iter().map(|phase| (*phase).to_owned()).collect::<Vec<_>>());
        RefusedPhase::of_flag(&refused).map(|()| skipped)
    }

    #[test]
    fn phases_mean_what_a_document_says() {
        let skipped = read(&["preflight", "upload-certs", "addon/coredns", "addon", "bootstrap-token"]).unwrap();
        let without = vec![ClusterPart::CoreDns, ClusterPart::KubeProxy, ClusterPart::BootstrapToken];
        assert_eq!(skipped, Skipped { preflight: true, upload: true, without });
        assert_eq!(read(&["addon/kube-proxy"]).unwrap().without, [ClusterPart::KubeProxy]);
        assert_eq!(read(&[]).unwrap(), Skipped::default());
    }

    #[test]
    fn every_other_phase_is_refused_by_its_name_with_what_to_do() {
        let error = read(&["certs/ca", "mark-control-plane", "nonsense", "preflight"]).unwrap_err().to_string();
        for text in ["--skip-phases certs/ca: cannot be skipped; put your own", "taints: []", "nonsense: unknown phase"]
        {
            assert!(error.contains(text), "{error}");
        }
    }
}
