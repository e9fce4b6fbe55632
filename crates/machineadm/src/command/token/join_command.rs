//! The command that joins a machine, as kubeadm prints it.
use crate::command_error::CommandError;
use cluster::Kubeconfig;
use discovery::{BootstrapToken, Pin, certificate::Certificate};
use fetch::Url;
use objects::hex;

/// Where to join and whom to trust.
pub(super) struct Invitation {
    endpoint: String,
    pins: Vec<Pin>,
}

/// 32 bytes in hex, with which control plane certificates are encrypted.
pub(super) struct CertificateKey(String);

impl CertificateKey {
    pub(super) fn read(text: &str) -> Result<Self, CommandError> {
        match hex::encodes(text, 32) {
            true => Ok(Self(text.to_owned())),
            false => Err(CommandError::invalid("--certificate-key must be 32 bytes in hex: 64 digits")),
        }
    }
}

impl Invitation {
    /// From the kubeconfig that the token is made with.
    pub(super) fn of(kubeconfig: &Kubeconfig) -> Result<Self, CommandError> {
        let wrong = |text: &str| CommandError::invalid(format!("--print-join-command: {text}"));
        let authorities = kubeconfig.authorities.as_deref().unwrap_or_default();
        let pins: Option<Vec<_>> =
            authorities.iter().map(|der| Certificate::read(der).map(|read| Pin::of(&read))).collect();
        let pins = pins.ok_or_else(|| wrong("the CA certificates of the kubeconfig are invalid"))?;
        if pins.is_empty() {
            return Err(wrong("the kubeconfig has no CA certificates for the CA pin of the join command"));
        }
        Ok(Self { endpoint: endpoint(&kubeconfig.server), pins })
    }

    /// One line; for a worker it ends in a blank, as kubeadm's does.
    pub(super) fn command(&self, token: &BootstrapToken, key: Option<&CertificateKey>) -> String {
        let mut line = format!("kubeadm join {} --token {} ", self.endpoint, token.expose().as_str());
        for pin in &self.pins {
            line.push_str(&format!("--discovery-token-ca-cert-hash {pin} "));
        }
        if let Some(CertificateKey(key)) = key {
            line.push_str(&format!("--control-plane --certificate-key {key}"));
        }
        line + "\n"
    }
}

/// What kubeadm joins: host, port, and the path below which the API is. kubeadm prints no port where the URL names
/// none, and then refuses to join what it printed.
fn endpoint(server: &Url) -> String {
    let host = server.host_str().unwrap_or_default();
    format!("{host}:{}{}", server.port_or_known_default().unwrap_or(443), server.path().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_all_of_the_servers_address() {
        for (server, wanted) in [
            ("https://10.0.0.1:6443", "10.0.0.1:6443"),
            ("https://10.0.0.1:6443/", "10.0.0.1:6443"),
            ("https://h/clusters/a", "h:443/clusters/a"),
            ("https://[::1]:6443/prefix/", "[::1]:6443/prefix"),
        ] {
            assert_eq!(endpoint(&server.parse().unwrap()), wanted);
        }
    }
}
