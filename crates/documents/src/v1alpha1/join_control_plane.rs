//! How a JoinConfig makes its machine a control plane node.
use super::{absolute_path::path_problem, control_plane_address::is_reachable, init::is_certificate_key};
use crate::{Secret, findings::Findings};
use core::net::IpAddr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A further control plane node of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinControlPlane {
    /// What decrypts the certificates of the cluster; the machine has them already if absent.
    pub certificate_key: Option<CertificateKeySource>,
    /// Where this machine's API server is reached.
    pub advertise_address: Option<IpAddr>,
    /// Its port.
    pub api_server_port: Option<u16>,
    /// A directory with patches of the static pods.
    pub patches: Option<String>,
}

/// Where a certificate key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateKeySource {
    /// In the document, as hexadecimal digits.
    Given(Secret<String>),
    /// In a file of the machine that only root can read.
    File(String),
}

/// Makes the machine a control plane node. With `certificateKey` or `certificateKeyFile`, machineadm downloads the
/// certificates of the cluster, checks them and saves them; without either, the machine must have them already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlPlaneSpec {
    /// Certificate key, 64 hexadecimal digits, as `machineadm init --upload-certs` or `machineadm certs upload` prints it.
    /// Anyone who has it and reads the Secret `kubeadm-certs` gets the private keys of the cluster.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub certificate_key: Option<Secret<String>>,
    /// File with the certificate key, which only root can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_key_file: Option<String>,
    /// IP address of this machine's API server and etcd for other machines. Default: the address of the default route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertise_address: Option<String>,
    /// Port of this machine's API server. Default: 6443.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub api_server_port: Option<u16>,
    /// Directory with patches of the static pods, as kubeadm names them, such as `kube-apiserver0+merge.yaml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patches: Option<String>,
}

impl ControlPlaneSpec {
    /// Reads it; every problem is reported.
    pub(super) fn read(self, findings: &mut Findings<'_>) -> JoinControlPlane {
        let certificate_key = match (self.certificate_key, self.certificate_key_file) {
            (None, None) => None,
            (Some(_), Some(_)) => {
                let text = "and `certificateKeyFile` are both set: remove one of them";
                findings.error("spec.controlPlane.certificateKey", text);
                None
            }
            (Some(key), None) => {
                if !is_certificate_key(key.expose()) {
                    findings
                        .error("spec.controlPlane.certificateKey", "must be 64 hexadecimal digits")
                        .hint("on a control plane node, `machineadm certs upload` prints a new one");
                }
                Some(CertificateKeySource::Given(key))
            }
            (None, Some(file)) => {
                if let Some(problem) = path_problem(&file) {
                    findings.error("spec.controlPlane.certificateKeyFile", problem);
                }
                Some(CertificateKeySource::File(file))
            }
        };
        let address = self.advertise_address.map(|text| text.parse::<IpAddr>());
        match address {
            Some(Err(_)) => _ = findings.error("spec.controlPlane.advertiseAddress", "must be an IP address"),
            Some(Ok(address)) if !is_reachable(address) => findings
                .error(
                    "spec.controlPlane.advertiseAddress",
                    "must be an address at which other machines reach this one",
                )
                .hint("leave it out for the address of the default route"),
            _ => {}
        }
        if self.api_server_port == Some(0) {
            findings.error("spec.controlPlane.apiServerPort", "must be a port from 1 to 65535");
        }
        if let Some(problem) = self.patches.as_deref().and_then(path_problem) {
            findings.error("spec.controlPlane.patches", problem);
        }
        JoinControlPlane {
            certificate_key,
            advertise_address: address.and_then(Result::ok),
            api_server_port: self.api_server_port,
            patches: self.patches,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AnyDocument,
        testing::{found, read_text, with_spec},
    };

    const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";

    fn text(control_plane: &str) -> String {
        let token = "{endpoints: [10.0.0.10:6443], token: abcdef.0123456789abcdef, unsafeWithoutCAPins: true}";
        with_spec("JoinConfig", &format!("{{discovery: {{token: {token}}}, controlPlane: {control_plane}}}"))
    }

    #[test]
    fn every_member_is_judged() {
        let problems =
            found(&text("{certificateKey: abc, advertiseAddress: 127.0.0.1, apiServerPort: 0, patches: etc}"));
        let paths: Vec<_> = problems.iter().filter_map(|problem| problem.split(": ").next()).collect();
        let wanted = ["certificateKey", "advertiseAddress", "apiServerPort", "patches"];
        assert_eq!(paths, wanted.map(|member| format!("spec.controlPlane.{member}")), "{problems:?}");
        let both = found(&text(&format!("{{certificateKey: {KEY}, certificateKeyFile: /key}}")));
        assert!(both.len() == 1 && both[0].contains("are both set"), "{both:?}");
        assert_eq!(found(&text("{certificateKeyFile: key, advertiseAddress: x}")).len(), 2);
    }

    #[test]
    fn a_certificate_key_is_a_secret_of_the_document() {
        let mut read = read_text(&text(&format!("{{certificateKey: {KEY}}}")));
        let document = read.documents.remove(0);
        let AnyDocument::Join(join) = &document.body else { panic!("{document:?}") };
        assert!(!format!("{join:?}").contains(KEY));
        assert!(crate::document::Body::secrets(&**join).contains(&KEY.as_bytes()));
    }

    #[test]
    fn patches_of_static_pods_exclude_members_of_the_kubelet() {
        let spec = text("{patches: /etc/patches}").replace("controlPlane:", "kubelet: {maxPods: 9}, controlPlane:");
        let problems = found(&spec);
        assert!(problems.len() == 1 && problems[0].starts_with("spec.kubelet: "), "{problems:?}");
    }

    #[test]
    fn times_of_a_control_plane_need_one() {
        let spec = with_spec(
            "JoinConfig",
            "{discovery: {file: {location: /a}}, tlsBootstrapTokenFile: /t, timeouts: {controlPlane: 5m, etcd: 10s}}",
        );
        let problems = found(&spec);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems.iter().all(|problem| problem.contains("only with `controlPlane`")), "{problems:?}");
    }
}
