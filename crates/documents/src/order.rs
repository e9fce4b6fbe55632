//! Rules over the order of documents, which is the order of their steps. Nothing here sorts: the management side decides
//! the order, and the machine refuses one that can't be meant.
use crate::{
    Claimed, Severity,
    compare::{Finding, Listed, earlier_of},
    constraints::{AFTER, BEFORE, Reference, field},
    path,
    v1alpha1::{CONTROL_PLANE_FILES_DIRECTORY, is_below, without_aliases},
};
use objects::kubernetes_paths;
use std::collections::{HashMap, HashSet};

/// What kubeadm writes when it starts a control plane, and what the control plane's pods mount.
/// <https://github.com/kubernetes/kubernetes/blob/v1.36.4/cmd/kubeadm/app/phases/controlplane/volumes.go>
const CONTROL_PLANE_PATHS: [&str; 13] = [
    kubernetes_paths::PKI,
    kubernetes_paths::MANIFESTS,
    kubernetes_paths::ADMIN_KUBECONFIG,
    kubernetes_paths::SUPER_ADMIN_KUBECONFIG,
    kubernetes_paths::CONTROLLER_MANAGER_KUBECONFIG,
    kubernetes_paths::SCHEDULER_KUBECONFIG,
    "/var/lib/etcd",
    "/etc/ssl/certs",
    "/etc/pki",
    "/etc/ca-certificates",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec",
];

/// Kernel parameters, by the beginning of their path, that exist only once a module is loaded.
const PARAMETERS_OF_MODULES: [(&str, &str); 8] = [
    ("net/bridge/", "br_netfilter"),
    ("net/netfilter/nf_conntrack", "nf_conntrack"),
    ("net/nf_conntrack", "nf_conntrack"),
    ("net/ipv4/vs/", "ip_vs"),
    ("net/sctp/", "sctp"),
    ("net/mpls/", "mpls_router"),
    ("sunrpc/", "sunrpc"),
    ("dev/raid/", "md_mod"),
];

/// Every document that stands in the wrong place, each finding at the later of two.
pub(crate) fn find(documents: &[Listed<'_>]) -> Vec<Finding> {
    let mut order = Order { documents, findings: Vec::new() };
    order.declared();
    order.after_node();
    order.modules();
    order.findings
}

struct Order<'a> {
    documents: &'a [Listed<'a>],
    findings: Vec<Finding>,
}

impl<'a> Order<'a> {
    /// What documents themselves say about their order. One finding per document: putting it right puts all right.
    fn declared(&mut self) {
        for (later, here) in self.documents.iter().enumerate() {
            let earlier = &self.documents[..later];
            if let Some(other) = earlier.iter().position(|other| names(&here.constraints.before, other)) {
                let message = format!("must come before {}", self.earlier(other, later));
                self.error(later, field(BEFORE), message);
            }
            if let Some(other) = earlier.iter().position(|other| names(&other.constraints.after, here)) {
                let message =
                    format!("must come before {}, whose annotation `{AFTER}` names it", self.earlier(other, later));
                self.error(later, "kind".to_owned(), message);
            }
        }
    }

    /// What comes too late once the machine has become a node.
    fn after_node(&mut self) {
        let is_node = |listed: &Listed<'_>| listed.claims.iter().any(|claim| claim.what == Claimed::Node);
        let Some(node) = self.documents.iter().position(is_node) else { return };
        let own = self.documents[node].claims.iter().filter_map(|claim| match claim.what {
            Claimed::ControlPlanePath(directory) => Some(directory),
            _ => None,
        });
        let used: Vec<&str> =
            CONTROL_PLANE_PATHS.into_iter().chain([CONTROL_PLANE_FILES_DIRECTORY]).chain(own).collect();
        for (later, here) in self.documents.iter().enumerate().skip(node + 1) {
            let node = self.earlier(node, later);
            for claim in &here.claims {
                if let Claimed::Preparation(what) = &claim.what {
                    let message = format!("sets up {what} only after {node}, which makes this machine a node");
                    self.warn(later, claim.path.clone(), message, "put this document before it");
                }
                let written = written(&claim.what).and_then(|path| used_path(path, &used));
                let Some(used) = written else { continue };
                let here = match claim.what {
                    Claimed::File { .. } | Claimed::Entry { .. } => path::member(&claim.path, "path"),
                    _ => claim.path.clone(),
                };
                let message = format!("must come before {node}: it writes to {used}, which the control plane uses");
                self.error(later, here, message);
            }
        }
    }

    /// Parameters that are set before the module that brings them is loaded.
    fn modules(&mut self) {
        let mut set: HashMap<&str, usize> = HashMap::new();
        let mut loaded: HashSet<String> = HashSet::new();
        for (index, here) in self.documents.iter().enumerate() {
            for claim in &here.claims {
                match &claim.what {
                    Claimed::Parameter { path, .. } => {
                        if let Some(module) = module_of(path).filter(|module| !loaded.contains(*module)) {
                            set.entry(module).or_insert(index);
                        }
                    }
                    Claimed::KernelModule(module) => {
                        let module = module.replace('-', "_");
                        if let Some(earlier) = set.remove(module.as_str()) {
                            let earlier = self.earlier(earlier, index);
                            let message =
                                format!("{earlier} sets parameters that exist only once this module is loaded");
                            self.warn(index, claim.path.clone(), message, "put this document before it");
                        }
                        loaded.insert(module);
                    }
                    _ => {}
                }
            }
        }
    }

    fn earlier(&self, earlier: usize, later: usize) -> String {
        earlier_of(self.documents, earlier, later)
    }

    fn error(&mut self, document: usize, path: String, message: String) {
        let hint = Some("machineadm processes documents in their order and never sorts them");
        self.findings.push(Finding { document, severity: Severity::Error, path, message, hint });
    }

    fn warn(&mut self, document: usize, path: String, message: String, hint: &'static str) {
        self.findings.push(Finding { document, severity: Severity::Warning, path, message, hint: Some(hint) });
    }
}

/// Whether one of these references names a document.
fn names(references: &[Reference], listed: &Listed<'_>) -> bool {
    references.iter().any(|reference| reference.names(&listed.document.kind, listed.document.name.as_deref()))
}

/// Where a claim lets machineadm write.
fn written<'a>(claimed: &'a Claimed<'_>) -> Option<&'a str> {
    match claimed {
        Claimed::File { path, .. } | Claimed::Entry { path, .. } | Claimed::StaticPod(path) => Some(path),
        Claimed::ServiceProxy { path, .. } | Claimed::Program { path } => Some(path),
        Claimed::Output { path, .. } => path.as_deref(),
        Claimed::FilesBelow(directory) => Some(directory),
        _ => None,
    }
}

/// The path of the control plane's that a path is, or lies below.
fn used_path<'u>(path: &str, used: &[&'u str]) -> Option<&'u str> {
    let path = without_aliases(path);
    used.iter().copied().find(|used| is_below(&path, &without_aliases(used)))
}

/// The module that brings a parameter.
fn module_of(parameter: &str) -> Option<&'static str> {
    PARAMETERS_OF_MODULES.iter().find(|(start, _)| parameter.starts_with(start)).map(|(_, module)| *module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, found, read_text};

    fn init() -> String {
        document("InitConfig", "metadata: {name: first}\nspec: {kubernetesVersion: v1.36.4}")
    }

    fn file(path: &str) -> String {
        document("FilesConfig", &format!("spec: {{files: [{{path: {path}, content: x}}]}}"))
    }

    fn parameter(name: &str) -> String {
        document("SysctlConfig", &format!("spec: {{parameters: {{{name}: 1}}}}"))
    }

    fn module(name: &str) -> String {
        document("KernelModulesConfig", &format!("spec: {{modules: [overlay, {name}]}}"))
    }

    fn annotated(name: &str, which: &str, value: &str) -> String {
        let annotation = format!("'machineadm.cluster.x-k8s.io/{which}': '{value}'");
        let metadata = format!("metadata: {{name: {name}, annotations: {{{annotation}}}}}");
        document("CommandsConfig", &format!("{metadata}\nspec: {{commands: [{{name: a, argv: [ls]}}]}}"))
    }

    #[test]
    fn directories_that_the_control_plane_was_given_are_written_before_it() {
        let spec =
            "{kubernetesVersion: v1.36.4, certificatesDirectory: /srv/pki, etcd: {dataDirectory: /var/run/etcd}}";
        let init = document("InitConfig", &format!("spec: {spec}"));
        for (path, used) in [("/srv/pki/ca.crt", "/srv/pki"), ("/run/etcd/a", "/var/run/etcd")] {
            assert_eq!(found(&[file(path), init.clone()].concat()), [""; 0]);
            let message = format!(
                "spec.files[0].path: must come before document 1: it writes to {used}, which the control plane uses"
            );
            assert_eq!(found(&[init.clone(), file(path)].concat()), [message]);
        }
    }

    #[test]
    fn a_declared_order_is_kept_or_refused_at_the_later_document() {
        let field = |which: &str| format!("metadata.annotations[machineadm.cluster.x-k8s.io/{which}]");
        for reference in ["InitConfig", "InitConfig/first", "Unknown, InitConfig"] {
            let before = annotated("a", "before", reference);
            assert!(found(&[before.clone(), init()].concat()).is_empty());
            let late = found(&[init(), before].concat());
            assert_eq!(late, [format!("{}: must come before document 1", field("before"))], "{reference}");
            let after = annotated("a", "after", reference);
            assert!(found(&[init(), after.clone()].concat()).is_empty());
            let whose = "whose annotation `machineadm.cluster.x-k8s.io/after` names it";
            let early = found(&[after, init()].concat());
            assert_eq!(early, [format!("kind: must come before document 1, {whose}")], "{reference}");
        }
    }

    #[test]
    fn what_is_in_no_document_constrains_nothing_and_a_document_not_itself() {
        for reference in ["InitConfig/second", "JoinConfig", "CommandsConfig"] {
            for which in ["before", "after"] {
                let one = annotated("a", which, reference);
                assert!(found(&[init(), one.clone()].concat()).is_empty(), "{which} {reference}");
                assert!(found(&[one, init()].concat()).is_empty(), "{which} {reference}");
            }
        }
        let both = ["a", "b"].map(|name| annotated(name, "before", "CommandsConfig")).concat();
        assert_eq!(found(&both).len(), 1, "two that each want to be first");
    }

    #[test]
    fn a_malformed_constraint_is_an_error() {
        let read = read_text(&annotated("a", "after", "Init Config"));
        let note = &read.report.notes[0];
        assert!(read.report.has_errors() && note.message.starts_with("must be at most 64 kinds or names"), "{note:?}");
        assert_eq!(note.path, "metadata.annotations[machineadm.cluster.x-k8s.io/after]");
    }

    #[test]
    fn nothing_is_written_below_a_control_plane_that_runs() {
        for used in CONTROL_PLANE_PATHS {
            for path in [used.to_owned(), format!("{used}/a/b")] {
                assert!(found(&[file(&path), init()].concat()).is_empty(), "{path}");
                let message = format!("must come before document 1: it writes to {used}, which the control plane uses");
                let late = [init(), file(&path)].concat();
                assert_eq!(found(&late), [format!("spec.files[0].path: {message}")], "{path}");
                assert!(read_text(&late).report.has_errors());
            }
            assert!(found(&[init(), file(&format!("{used}x"))].concat()).is_empty(), "{used}x");
        }
        assert!(found(&[init(), file("/etc/motd")].concat()).is_empty());
    }

    #[test]
    fn certificates_to_trust_come_before_the_control_plane() {
        let bundle = crate::KINDS.iter().find(|known| known.kind == "TrustBundleConfig").unwrap().example;
        assert!(found(&format!("{bundle}{}", init())).is_empty());
        let late = found(&format!("{}---\n{bundle}", init()));
        let message = "must come before document 1: it writes to /etc/ssl/certs, which the control plane uses";
        assert_eq!(late, [format!("spec.certificates: {message}")]);
    }

    #[test]
    fn files_of_the_api_server_come_before_the_control_plane() {
        let files = document("ControlPlaneConfig", "spec: {arguments: {v: '2'}}");
        assert!(found(&[files.clone(), init()].concat()).is_empty());
        let message =
            "must come before document 1: it writes to /etc/kubernetes/machineadm, which the control plane uses";
        assert_eq!(found(&[init(), files].concat()), [format!("spec: {message}")]);
    }

    #[test]
    fn a_proxy_after_the_node_is_a_warning() {
        let proxy = document("ProxyConfig", "spec: {httpProxy: 'http://p', services: [kubelet, containerd]}");
        assert!(found(&[proxy.clone(), init()].concat()).is_empty());
        let late = read_text(&[init(), proxy].concat()).report;
        assert!(!late.has_errors());
        let messages: Vec<_> = late.notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(messages, ["sets up a proxy for services only after document 1, which makes this machine a node"]);
        assert_eq!(late.notes[0].hint.as_deref(), Some("put this document before it"));
    }

    #[test]
    fn a_parameter_before_its_module_is_a_warning_at_the_module() {
        for (name, brings) in [
            ("net.bridge.bridge-nf-call-iptables", "br-netfilter"),
            ("net/netfilter/nf_conntrack_max", "nf_conntrack"),
            ("net.nf_conntrack_max", "nf_conntrack"),
            ("net.ipv4.vs.conntrack", "ip_vs"),
        ] {
            let (parameter, module) = (parameter(name), module(brings));
            assert!(found(&[module.clone(), parameter.clone()].concat()).is_empty(), "{name}");
            let report = read_text(&[parameter, module].concat()).report;
            assert!(!report.has_errors() && report.notes.len() == 1, "{report}");
            let note = &report.notes[0];
            assert_eq!(note.path, "spec.modules[1]");
            assert_eq!(note.message, "document 1 sets parameters that exist only once this module is loaded");
        }
        let again = module("br_netfilter").replace("spec:", "metadata: {name: again}\nspec:");
        let bridge = parameter("net.bridge.bridge-nf-call-iptables");
        assert!(found(&[module("br_netfilter"), bridge, again].concat()).is_empty(), "it was loaded before");
        assert!(found(&[parameter("net.ipv4.ip_forward"), module("br_netfilter")].concat()).is_empty());
        assert!(found(&[parameter("net.bridge.x"), module("ip_vs")].concat()).is_empty());
    }
}
