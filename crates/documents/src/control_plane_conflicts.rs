//! Conflicts over the control plane: what one document gives the API server, and what another makes of it and of the
//! machine.
use crate::{
    Claim, Claimed, Severity,
    compare::{Finding, Listed, earlier_of},
};
use std::collections::HashMap;

/// Every conflict, each at the later of its two places.
pub(crate) fn find(documents: &[Listed<'_>]) -> Vec<Finding> {
    let mut conflicts = Conflicts { documents, findings: Vec::new() };
    conflicts.api_server();
    conflicts.files();
    conflicts.findings
}

struct Conflicts<'a> {
    documents: &'a [Listed<'a>],
    findings: Vec<Finding>,
}

/// A claim, and the document that makes it.
type Placed<'a> = (usize, &'a Claim<'a>);

impl<'a> Conflicts<'a> {
    /// Arguments and volumes that two documents set.
    fn api_server(&mut self) {
        let (mut arguments, mut volumes, mut mounts) = (HashMap::new(), HashMap::new(), HashMap::new());
        for placed in claims(self.documents) {
            match placed.1.what {
                Claimed::ApiServerArgument(name) => self.once(&mut arguments, name, placed, "the argument"),
                Claimed::ApiServerVolume { name, path } => {
                    self.once(&mut volumes, name, placed, "the volume name");
                    self.once(&mut mounts, path, placed, "the mount path");
                }
                _ => {}
            }
        }
    }

    /// Two entries of one document are its own to compare.
    fn once(&mut self, seen: &mut HashMap<&'a str, usize>, name: &'a str, (document, claim): Placed<'a>, what: &str) {
        let earlier = *seen.entry(name).or_insert(document);
        if earlier != document && !(self.has_files(earlier) && self.has_files(document)) {
            let earlier = earlier_of(self.documents, earlier, document);
            self.conflict(document, &claim.path, format!("{what} `{name}` of the API server is also set by {earlier}"));
        }
    }

    /// Whether a document has the files of the API server. Two of them are one conflict, and not one of each member.
    fn has_files(&self, document: usize) -> bool {
        self.documents[document].claims.iter().any(|claim| claim.what == Claimed::ControlPlaneFiles)
    }

    /// What the documents of a machine with files of the API server may not ask of it.
    fn files(&mut self) {
        let is_files = |(_, claim): &Placed<'a>| claim.what == Claimed::ControlPlaneFiles;
        let mut files = claims(self.documents).filter(is_files);
        let Some(first) = files.next() else { return };
        for other in files {
            self.between(first, other, "a machine has at most one document of this kind");
        }
        for placed in claims(self.documents) {
            match placed.1.what {
                Claimed::Worker => {
                    let message =
                        "the files and keys of an API server must not be on a worker: remove ControlPlaneConfig";
                    self.between(first, placed, message);
                }
                Claimed::RootlessControlPlane => {
                    let message = "the files of the API server belong to root, and without root it cannot read them";
                    self.between(first, placed, message);
                }
                Claimed::Kubernetes(minor) => self.versions(placed, minor),
                Claimed::NoApiServerArgument(start) => self.excluded(placed, start),
                _ => {}
            }
        }
    }

    /// Members that the Kubernetes version of the node does not have.
    fn versions(&mut self, node: Placed<'a>, minor: u32) {
        for placed in claims(self.documents) {
            let Claimed::RequiredKubernetes(required) = placed.1.what else { continue };
            if minor < required {
                let message = format!("{} requires Kubernetes 1.{required} or newer", placed.1.path);
                self.between(placed, node, &message);
            }
        }
    }

    /// Arguments of other documents that the API server refuses beside a file.
    fn excluded(&mut self, file: Placed<'a>, start: &str) {
        for placed in claims(self.documents) {
            if self.has_files(placed.0) {
                continue;
            }
            if matches!(placed.1.what, Claimed::ApiServerArgument(name) if name.starts_with(start)) {
                let message = format!("{} must not be set with {}", placed.1.path, file.1.path);
                self.between(file, placed, &message);
            }
        }
    }

    /// A conflict of two claims, at the later document.
    fn between(&mut self, one: Placed<'a>, other: Placed<'a>, message: &str) {
        let (earlier, later) = if one.0 <= other.0 { (one, other) } else { (other, one) };
        let at = earlier_of(self.documents, earlier.0, later.0);
        self.conflict(later.0, &later.1.path, format!("contradicts {at}: {message}"));
    }

    fn conflict(&mut self, document: usize, path: &str, message: String) {
        let (path, severity) = (path.to_owned(), Severity::Error);
        self.findings.push(Finding { document, severity, path, message, hint: None });
    }
}

fn claims<'a>(documents: &'a [Listed<'a>]) -> impl Iterator<Item = Placed<'a>> {
    documents.iter().enumerate().flat_map(|(index, listed)| listed.claims.iter().map(move |claim| (index, claim)))
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, with_spec};

    const CONFIG: &str = "arguments: {v: '2'}\nauthentication: {configuration: '{apiVersion: apiserver.config.k8s.io/v1, \
                          kind: AuthenticationConfiguration}'}";

    fn both(node: &str, spec: &str) -> Vec<String> {
        found(&[with_spec("ControlPlaneConfig", CONFIG), with_spec(node, spec)].concat())
    }

    #[test]
    fn an_argument_or_volume_of_the_api_server_is_set_by_one_document() {
        let volume = "{name: machineadm-files, hostPath: /a, mountPath: /etc/kubernetes/machineadm}";
        let api_server = format!("{{arguments: {{v: '3', oidc-client-id: a, w: b}}, volumes: [{volume}]}}");
        let expected = [
            "spec.apiServer.arguments.v: the argument `v` of the API server is also set by document 1",
            "spec.apiServer.arguments.oidc-client-id: contradicts document 1: spec.apiServer.arguments.oidc-client-id must \
             not be set with spec.authentication.configuration",
            "spec.apiServer.volumes[0]: the volume name `machineadm-files` of the API server is also set by document 1",
            "spec.apiServer.volumes[0]: the mount path `/etc/kubernetes/machineadm` of the API server is also set by \
             document 1",
        ];
        let found = both("InitConfig", &format!("{{kubernetesVersion: v1.36.4, apiServer: {api_server}}}"));
        assert_eq!(found, expected);
    }

    #[test]
    fn files_of_the_api_server_need_a_control_plane_node_that_can_read_them() {
        let token = "{endpoints: [10.0.0.10:6443], token: abcdef.0123456789abcdef, unsafeWithoutCAPins: true}";
        let join = format!("{{discovery: {{token: {token}}}}}");
        let worker = both("JoinConfig", &join);
        assert!(worker.iter().any(|problem| problem.contains("must not be on a worker")), "{worker:?}");
        let further = both("JoinConfig", &format!("{{discovery: {{token: {token}}}, controlPlane: {{}}}}"));
        assert!(!further.iter().any(|problem| problem.contains("document 1")), "{further:?}");
        let rootless = both("InitConfig", "{kubernetesVersion: v1.36.4, featureGates: {RootlessControlPlane: true}}");
        assert!(rootless.len() == 1 && rootless[0].contains("belong to root"), "{rootless:?}");
        let two = both("ControlPlaneConfig", "{arguments: {w: '1'}}");
        assert_eq!(two, ["spec: contradicts document 1: a machine has at most one document of this kind"]);
    }

    #[test]
    fn a_member_that_the_kubernetes_version_does_not_have_is_refused() {
        let found = |version: &str| both("InitConfig", &format!("{{kubernetesVersion: {version}}}"));
        let expected = "spec.kubernetesVersion: contradicts document 1: spec.authentication.configuration requires Kubernetes \
                        1.34 or newer";
        assert_eq!((found("v1.33.1"), found("v1.34.0")), (vec![expected.to_owned()], vec![]));
    }
}
