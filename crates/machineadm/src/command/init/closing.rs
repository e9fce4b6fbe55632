//! What `machineadm init` prints at its end: how to use the cluster, how machines join it, and what that risks.
use crate::command::{
    api,
    closing::{self, ClosingReport},
    token::{
        join_command::{Invitation, WITHHELD},
        taken::in_words,
    },
};
use cluster::{ApiServer, Kubeconfig, Timeouts};
use discovery::{BootstrapToken, Moment, Pin, TokenSettings, certificate::CaBundle, token_secret};
use documents::v1alpha1::InitConfig;
use engine::{
    Recorder,
    outcome::{ActSort, chain},
};
use host::{Inspect, Linux};
use objects::kubernetes_paths;
use secret::Secret;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The administrator's kubeconfig.
pub(super) const ADMIN: &str = kubernetes_paths::ADMIN_KUBECONFIG;
/// Where kubeadm puts certificates unless it is told otherwise.
const CERTIFICATES: &str = kubernetes_paths::PKI;

/// What the message is about.
pub(super) struct Closing<'a> {
    /// The token that kubeadm was told to create.
    pub(super) token: Option<&'a Secret<String>>,
    /// The key of the uploaded certificates.
    pub(super) key: Option<&'a Secret<String>>,
    /// The document of the run.
    pub(super) document: &'a InitConfig,
    /// Whether the token is not printed.
    pub(super) skip_token: bool,
    /// Whether the key is not printed.
    pub(super) skip_key: bool,
}

impl closing::Closing for Closing<'_> {
    fn report(&self, recorder: &Recorder, machine: &Linux) -> ClosingReport {
        let created = Created {
            token: self.token.filter(|_| recorder.has_run(ActSort::CREATES_CLUSTER)),
            key: self.key.filter(|_| recorder.has_run(ActSort::UploadCertificates)),
        };
        match self.joining(&created, machine) {
            Ok(joining) => {
                ClosingReport { text: self.text(&created, &joining), members: self.members(&created, &joining) }
            }
            // The cluster is there: what cannot be read now is no failure of the run.
            Err(why) => {
                warn!("the join commands cannot be printed: {why}; run: machineadm token create --print-join-command");
                ClosingReport { text: format!("\n{USE}"), members: Map::new() }
            }
        }
    }
}

/// What this run has created in the cluster. What an earlier one created is not known any more.
struct Created<'a> {
    token: Option<&'a Secret<String>>,
    key: Option<&'a Secret<String>>,
}

/// What a machine needs to join.
struct Joining {
    invitation: Invitation,
    /// When the token ends; `None` if it could not be asked.
    expires: Option<Expiry>,
}

/// When a token ends.
enum Expiry {
    At(Moment),
    Never,
}

const USE: &str = "\
The cluster is created. To use it as root:

  export KUBECONFIG=/etc/kubernetes/admin.conf

To use it as another user:

  mkdir -p $HOME/.kube
  sudo cp -i /etc/kubernetes/admin.conf $HOME/.kube/config
  sudo chown $(id -u):$(id -g) $HOME/.kube/config

Nodes are Ready once a pod network is installed: https://kubernetes.io/docs/concepts/cluster-administration/addons/
";

const NO_TOKEN: &str = "\
This run created no bootstrap token. To create one and to print the join command, run:

  machineadm token create --print-join-command
";

const UPLOAD_LATER: &str = "\
To join further control plane nodes, upload their certificates first; the command prints the certificate key:

  machineadm init phase upload-certs --upload-certs

";

impl Closing<'_> {
    fn joining(&self, created: &Created<'_>, machine: &Linux) -> Result<Joining, String> {
        let said = |error: &dyn std::error::Error| chain(error);
        let file = |path: &str| match machine.file(path) {
            Ok(Some(file)) => Ok(file.contents),
            Ok(None) => Err(format!("{path} does not exist")),
            Err(error) => Err(said(&error)),
        };
        let admin = file(ADMIN)?;
        let kubeconfig =
            Kubeconfig::read(admin.expose(), Path::new(kubernetes_paths::KUBERNETES)).map_err(|error| said(&error))?;
        let directory = self.document.certificates_directory.as_deref().unwrap_or(CERTIFICATES);
        let ca = format!("{directory}/ca.crt");
        let bundle = CaBundle::read(file(&ca)?.expose().clone()).map_err(|error| format!("{ca}: {error}"))?;
        let pins = bundle.certificates().iter().map(Pin::of).collect();
        let invitation = Invitation::new(&kubeconfig.server, pins);
        let expires = created.token.and_then(|token| expiry(token, kubeconfig));
        Ok(Joining { invitation, expires })
    }

    fn text(&self, created: &Created<'_>, joining: &Joining) -> String {
        let mut text = format!("\n{USE}\n");
        let Some(token) = created.token else {
            let further = self.key_alone(created) + self.upload_later(created);
            let between = if further.is_empty() { "" } else { "\n" };
            return text + NO_TOKEN + between + &further;
        };
        let shown = if self.skip_token { WITHHELD } else { token.expose() };
        let command = |key: Option<&str>| joining.invitation.line("machineadm", shown, key);
        match created.key {
            Some(key) if self.document.control_plane_endpoint.is_some() => {
                let key = if self.skip_key { WITHHELD } else { key.expose() };
                text += &format!(
                    "To join a further control plane node, run on it as root:\n\n  {}\n\n{KEY_RISK}\n",
                    command(Some(key))
                );
            }
            Some(_) => text += &self.key_alone(created),
            None => text += self.upload_later(created),
        }
        text += &format!("To join a worker node, run on it as root:\n\n  {}\n\n", command(None));
        text + &self.token_risk(token, joining)
    }

    /// Certificates that no join command can use: without an endpoint of the cluster, or without a token.
    fn key_alone(&self, created: &Created<'_>) -> String {
        let Some(key) = created.key else { return String::new() };
        let key = if self.skip_key { WITHHELD } else { key.expose() };
        let endpoint = match &self.document.control_plane_endpoint {
            Some(_) => "",
            None => "Further control plane nodes can join a cluster with --control-plane-endpoint only.\n",
        };
        format!("The certificates are uploaded under the certificate key\n\n  {key}\n\n{KEY_RISK}{endpoint}\n")
    }

    /// How certificates are uploaded that this run has not uploaded, where further control plane nodes can join.
    const fn upload_later(&self, created: &Created<'_>) -> &'static str {
        match created.key.is_none() && self.document.control_plane_endpoint.is_some() {
            true => UPLOAD_LATER,
            false => "",
        }
    }

    fn token_risk(&self, token: &Secret<String>, joining: &Joining) -> String {
        let id = token.expose().split('.').next().unwrap_or_default();
        let until = match &joining.expires {
            Some(Expiry::At(moment)) => format!("Until {}", in_words(*moment)),
            Some(Expiry::Never) => "Until it is deleted,".to_owned(),
            None => "Until it expires,".to_owned(),
        };
        format!(
            "{until} anyone who has this token can join this cluster as a node, under any name, and a node can read the\n\
             Secrets of its pods. Delete the token when it is no longer needed: machineadm token delete {id}\n"
        )
    }

    /// The same for programs.
    fn members(&self, created: &Created<'_>, joining: &Joining) -> Map<String, Value> {
        let mut join = json!({"endpoint": joining.invitation.endpoint(), "caPins": joining.invitation.pins()});
        if let Some(token) = created.token.filter(|_| !self.skip_token) {
            join["token"] = token.expose().as_str().into();
        }
        if let Some(Expiry::At(moment)) = &joining.expires {
            join["expires"] = moment.to_string().into();
        }
        if let Some(key) = created.key.filter(|_| !self.skip_key) {
            join["certificateKey"] = key.expose().as_str().into();
        }
        [("join".to_owned(), join)].into_iter().collect()
    }
}

const KEY_RISK: &str = "\
The cluster deletes the uploaded certificates after two hours. Until then anyone who has the certificate key and can read
the Secret kube-system/kubeadm-certs gets the private keys of the cluster; a copy of the Secret that is read before its
deletion can be decrypted with the key at any later time. To upload the certificates again afterwards, under a new key:
machineadm init phase upload-certs --upload-certs
";

/// When the token ends, by its Secret in the cluster.
fn expiry(token: &Secret<String>, kubeconfig: Kubeconfig) -> Option<Expiry> {
    let token: BootstrapToken = token.expose().parse().ok()?;
    let server = ApiServer::connect(kubeconfig, Timeouts::default()).ok()?;
    let path = format!("/api/v1/namespaces/{}/secrets/{}", token_secret::NAMESPACE, token_secret::name(&token.id));
    let settings = TokenSettings::read(&api::read(server.get(&path).ok()??).ok()?).ok()?;
    Some(settings.expires.map_or(Expiry::Never, Expiry::At))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
    const WORKER: &str = "  machineadm join 10.0.0.10:6443 --token ae23dc.faddc87f5a5ab458\n";

    /// The message of a run that has created what it was told to create; without pins, which are other tests' concern.
    fn said(document: &InitConfig, expires: Option<Expiry>, change: impl FnOnce(&mut Closing<'_>)) -> String {
        let (token, key) = (Secret::new(TOKEN.to_owned()), document.certificate_key.clone());
        let mut closing =
            Closing { token: Some(&token), key: key.as_ref(), document, skip_token: false, skip_key: false };
        change(&mut closing);
        let created = Created { token: closing.token, key: closing.key };
        let server = "https://10.0.0.10:6443".parse().unwrap();
        closing.text(&created, &Joining { invitation: Invitation::new(&server, Vec::new()), expires })
    }

    fn document(endpoint: Option<&str>, key: Option<&str>) -> InitConfig {
        InitConfig {
            control_plane_endpoint: endpoint.map(str::to_owned),
            certificate_key: key.map(|key| Secret::new(key.to_owned())),
            ..InitConfig::default()
        }
    }

    #[test]
    fn control_plane_nodes_are_invited_only_with_an_endpoint_and_uploaded_certificates() {
        let plain = said(&document(None, None), Some(Expiry::Never), |_| ());
        assert!(plain.contains(WORKER) && !plain.contains("control plane"), "{plain}");
        assert!(plain.contains("Until it is deleted, anyone who has this token"), "{plain}");
        let both = said(&document(Some("a:6443"), Some("e6a2")), None, |_| ());
        let command = format!("{} --control-plane --certificate-key e6a2\n", WORKER.trim_end());
        assert!(both.contains(&command) && both.contains(WORKER) && both.contains(KEY_RISK), "{both}");
        let later = said(&document(Some("a:6443"), None), None, |_| ());
        assert!(later.contains(UPLOAD_LATER) && !later.contains("--control-plane "), "{later}");
        // A key that nobody printed would be lost, also where no node can use it.
        let alone = said(&document(None, Some("e6a2")), None, |_| ());
        assert!(alone.contains("\n  e6a2\n") && !alone.contains("--control-plane "), "{alone}");
        assert!(alone.contains("--control-plane-endpoint only"), "{alone}");
    }

    #[test]
    fn what_is_not_to_be_printed_is_withheld_as_kubeadm_does() {
        let withheld = said(&document(Some("a:6443"), Some("e6a2")), None, |closing| {
            (closing.skip_token, closing.skip_key) = (true, true);
        });
        assert!(!withheld.contains("faddc87f5a5ab458") && !withheld.contains("e6a2"), "{withheld}");
        let command = "--token <value withheld> --control-plane --certificate-key <value withheld>\n";
        assert!(withheld.contains(command), "{withheld}");
    }

    #[test]
    fn a_token_that_this_run_did_not_create_is_not_shown() {
        let none = said(&document(Some("a:6443"), None), None, |closing| closing.token = None);
        assert!(none.contains(NO_TOKEN) && !none.contains("machineadm join"), "{none}");
        // Nor is a key: how to get one is.
        assert!(none.ends_with(&format!("{NO_TOKEN}\n{UPLOAD_LATER}")), "{none}");
        let alone = said(&document(None, None), None, |closing| closing.token = None);
        assert!(alone.ends_with(NO_TOKEN), "{alone}");
    }
}
