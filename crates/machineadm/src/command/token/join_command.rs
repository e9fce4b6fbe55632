//! The command that joins a machine, as kubeadm prints it.
use crate::command_error::CommandError;
use cluster::Kubeconfig;
use discovery::{BootstrapToken, Pin, certificate::Certificate};
use fetch::Url;
use objects::hex;

/// Stands for a secret that is not printed, as kubeadm prints it.
pub(crate) const WITHHELD: &str = "<value withheld>";

/// Where to join and whom to trust.
pub(crate) struct Invitation {
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
        Ok(Self::new(&kubeconfig.server, pins))
    }

    /// To the cluster of this server, by the pins of its CA certificates.
    pub(crate) fn new(server: &Url, pins: Vec<Pin>) -> Self {
        Self { endpoint: endpoint(server), pins }
    }

    /// Where to join.
    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The CA pins, as a command line takes them.
    pub(crate) fn pins(&self) -> Vec<String> {
        self.pins.iter().map(ToString::to_string).collect()
    }

    /// One line; for a worker it ends in a blank, as kubeadm's does.
    pub(super) fn command(&self, token: &BootstrapToken, key: Option<&CertificateKey>) -> String {
        let line = self.line("kubeadm", token.expose().as_str(), key.map(|CertificateKey(key)| key.as_str()));
        if key.is_some() { line + "\n" } else { line + " \n" }
    }

    /// The call of a program that joins, with this token and, for a control plane node, this key.
    pub(crate) fn line(&self, program: &str, token: &str, key: Option<&str>) -> String {
        let pins = self.pins.iter().map(|pin| format!(" --discovery-token-ca-cert-hash {pin}"));
        let key = key.map(|key| format!(" --control-plane --certificate-key {key}")).unwrap_or_default();
        format!("{program} join {} --token {token}{}{key}", self.endpoint, pins.collect::<String>())
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
