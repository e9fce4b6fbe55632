//! What a control plane node sees of its cluster's control plane, and how it changes that.
use super::node::Node;
use crate::{
    api_servers::ApiServers,
    command::{api, token::arguments::Connection},
    command_error::CommandError,
    context::silent_machine,
};
use cluster::{ApiServer, Deleted, Timeouts, kubeadm_certs::Layout};
use engine::{Cluster, EtcdAccess, EtcdPod, Patience, Unanswered, etcd_certificates, outcome::chain};
use etcd::{Member, Membership};
use host::Linux;
use kubeadm::hub::ClusterConfiguration;
use objects::one_line;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// An API server whose etcd has no quorum answers nothing: that must not take a minute.
const TIMEOUTS: Timeouts =
    Timeouts { connect: Duration::from_secs(3), request: Duration::from_secs(5), total: Duration::from_secs(8) };
const NEXT_STEP: &str = "run this command as root on a control plane node that kubeadm set up";

/// What was seen at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ControlPlaneState {
    pub(super) etcd: EtcdState,
    /// The Nodes of the control plane; the reason if the API server does not answer.
    pub(super) nodes: Result<Vec<Node>, String>,
    pub(super) this_machine: ThisMachine,
}

/// Whose etcd it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EtcdState {
    /// It runs on the control plane nodes, as kubeadm set it up.
    Stacked(Membership),
    /// It runs elsewhere, and kubeadm only uses it.
    External,
}

/// What this machine is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ThisMachine {
    pub(super) hostname: String,
    /// The Node that its kubelet has a certificate for.
    pub(super) node: Option<String>,
    /// The etcd server that its manifest sets up.
    pub(super) etcd: Option<EtcdPod>,
}

impl ControlPlaneState {
    /// The members of etcd, if it is kubeadm's.
    pub(super) fn membership(&self) -> Option<&Membership> {
        match &self.etcd {
            EtcdState::Stacked(membership) => Some(membership),
            EtcdState::External => None,
        }
    }

    /// The Nodes that are known.
    pub(super) fn known_nodes(&self) -> &[Node] {
        self.nodes.as_deref().unwrap_or_default()
    }
}

/// The way to etcd and to the API server.
pub(super) struct Access {
    server: ApiServer,
    etcd: EtcdOf,
    this_machine: ThisMachine,
    /// The client URLs of the etcd servers that the cluster of the kubeconfig has as static pods.
    of_cluster: Vec<String>,
    /// Why the API server did not answer, if it did not.
    unanswered: Option<String>,
}

enum EtcdOf {
    ThisCluster(Box<EtcdAccess>),
    Others,
}

impl Access {
    /// By a kubeconfig and by what kubeadm left on this machine.
    pub(super) fn connect(kubeconfig: &Path) -> Result<Self, CommandError> {
        let machine = silent_machine(Path::new("/"))?;
        let named = Connection { kubeconfig: Some(kubeconfig.to_owned()), context: None };
        let kubeconfig = api::kubeconfig(&named).map_err(|error| error.with_remedy(NEXT_STEP))?;
        let server = api::connect_within(kubeconfig, TIMEOUTS)?;
        let (node, etcd) = (engine::own_node(&machine)?, EtcdPod::on(&machine)?);
        let this_machine = ThisMachine { hostname: machine.name().to_lowercase(), node, etcd };
        let (configuration, unanswered) = match server.cluster_configuration() {
            Ok(configuration) => (Some(configuration.map_err(|none| CommandError::failed(none.to_string()))?), None),
            Err(error) => (None, Some(chain(&error))),
        };
        let etcd = match configuration.as_ref().is_some_and(|cluster| cluster.etcd.external.is_some()) {
            true => EtcdOf::Others,
            false => EtcdOf::ThisCluster(Box::new(stacked(&machine, configuration.as_ref(), unanswered.as_deref())?)),
        };
        let mut access = Self { server, etcd, this_machine, of_cluster: Vec::new(), unanswered };
        access.find_servers();
        Ok(access)
    }

    /// The cluster knows the other etcd servers; where it does not answer, this machine's own has to do.
    fn find_servers(&mut self) {
        let EtcdOf::ThisCluster(etcd) = &mut self.etcd else { return };
        // They are asked for here, with the kubeconfig of the command line.
        etcd.kubeconfig = None;
        if self.unanswered.is_none() {
            // Unless they are known, nothing tells whether the Nodes of this cluster have to do with this machine's etcd.
            match self.server.etcd_endpoints() {
                Ok(found) => self.of_cluster = found,
                Err(error) => self.unanswered = Some(chain(&error)),
            }
            etcd.endpoints.extend_from_slice(&self.of_cluster);
        }
    }

    /// Looks at etcd and at the Nodes.
    pub(super) fn look(&self) -> Result<ControlPlaneState, CommandError> {
        let etcd = match &self.etcd {
            EtcdOf::Others => EtcdState::External,
            EtcdOf::ThisCluster(etcd) => {
                let patience = Patience { within: Duration::ZERO, while_true: &|| false };
                let membership = ApiServers.members(etcd, &patience).map_err(|why| silent(&why))?;
                of_one_cluster(&membership.members, self.this_machine.etcd.as_ref(), &self.of_cluster)?;
                EtcdState::Stacked(membership)
            }
        };
        let members = if let EtcdState::Stacked(membership) = &etcd { &membership.members[..] } else { &[] };
        let nodes = match &self.unanswered {
            Some(why) => Err(why.clone()),
            None => Node::all(&self.server, members).map_err(|error| chain(&error)),
        };
        Ok(ControlPlaneState { etcd, nodes, this_machine: self.this_machine.clone() })
    }

    /// A Node that is perhaps none of the control plane.
    pub(super) fn node(&self, name: &str) -> Result<Option<Node>, CommandError> {
        Node::named(&self.server, name).map_err(|error| api::failed(&error))
    }

    /// Removes a member, and sees it gone.
    pub(super) fn remove_member(&self, member: &Member) -> Result<(), CommandError> {
        let EtcdOf::ThisCluster(etcd) = &self.etcd else { return Ok(()) };
        ApiServers.remove_member(etcd, member).map_err(|Unanswered(why)| {
            let text = format!("cannot remove the etcd member {} ({}): {why}", member.title(), member.id);
            CommandError::failed(text)
                .with_remedy("check `machineadm control-plane list`, then run the same command again")
        })
    }

    /// Deletes a Node, and sees it gone.
    pub(super) fn delete_node(&self, node: &Node) -> Result<(), CommandError> {
        let named = |why: String| CommandError::failed(format!("cannot delete the Node {}: {why}", node.name));
        match node.delete(&self.server).map_err(|error| named(chain(&error)))? {
            Deleted::Changed => Err(named("it has registered anew; run the same command again".to_owned())),
            Deleted::Deleted | Deleted::Absent => match self.node(&node.name)? {
                Some(left) if left.uid == node.uid => Err(named("finalizers of other programs delay it".to_owned())),
                _ => Ok(()),
            },
        }
    }
}

/// The etcd of a control plane node with a member.
fn stacked(
    machine: &Linux,
    configuration: Option<&ClusterConfiguration>,
    unanswered: Option<&str>,
) -> Result<EtcdAccess, CommandError> {
    let directory = match configuration.map(Layout::of) {
        Some(layout) => layout.map_err(|none| CommandError::failed(none.to_string()))?.directory,
        // By the manifest of this machine's API server, which does not have to run.
        None => etcd_certificates(&Layout::usual().directory.to_string_lossy(), machine)?.into(),
    };
    let access = EtcdAccess::on(machine, &directory.to_string_lossy())?;
    access.ok_or_else(|| {
        let files: PathBuf = directory.join("etcd/healthcheck-client.crt");
        let besides = unanswered.map(|why| format!(", and the API server does not answer: {why}")).unwrap_or_default();
        let text = format!("this machine has no etcd client certificate {}{besides}", files.display());
        CommandError::failed(text).with_remedy(NEXT_STEP)
    })
}

/// The members are of this machine's etcd, the Nodes of the kubeconfig's cluster: one must not be removed for the other. The
/// pods of the cluster have kubeadm's client URLs also where arguments of etcd have others: then this machine's pod tells.
fn of_one_cluster(members: &[Member], this: Option<&EtcdPod>, of_cluster: &[String]) -> Result<(), CommandError> {
    let own = this.map(|pod| &pod.peer_url).into_iter();
    let mut own = own.chain(members.iter().flat_map(|member| &member.client_urls));
    if of_cluster.is_empty() || own.any(|url| of_cluster.iter().any(|found| host_of(found) == host_of(url))) {
        return Ok(());
    }
    let theirs = one_line(&of_cluster.join(", "));
    let text = format!(
        "the kubeconfig is of another cluster: its etcd servers {theirs} are not members of this machine's etcd"
    );
    Err(CommandError::failed(text)
        .with_remedy("run the command on a control plane node of that cluster, or without --kubeconfig for this one"))
}

/// The host of a URL with a port.
pub(super) fn host_of(url: &str) -> &str {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest).rsplit_once(':').map_or(url, |(host, _)| host);
    host.trim_matches(['[', ']'])
}

fn silent(Unanswered(why): &Unanswered) -> CommandError {
    CommandError::failed(format!("etcd does not answer: {why}"))
        .with_remedy("run `crictl ps --all --name etcd` and `journalctl --unit kubelet` to see why it does not run")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{Engine, prelude::BASE64_STANDARD};
    use cluster::Kubeconfig;
    use etcd::{Credentials, MemberId, Role, Standing};
    use secret::Secret;
    use std::fs;
    use testbed::fake::{FakeServer, answer};

    fn member(client_urls: &[&str]) -> Member {
        Member {
            id: MemberId(1),
            name: String::new(),
            peer_urls: vec!["https://10.0.0.9:2380".into()],
            client_urls: client_urls.iter().map(|&url| url.to_owned()).collect(),
            role: Role::Voter,
            standing: Standing::Answers,
        }
    }

    /// A lost quorum is what the list is for, and no API server tells then where the certificates are.
    #[test]
    fn etcd_is_asked_without_an_api_server_also_with_certificates_elsewhere() {
        let scratch = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = scratch.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (name, text) in
            [("ca.crt", "authority"), ("healthcheck-client.crt", "certificate"), ("healthcheck-client.key", "k")]
        {
            write(&format!("srv/pki/etcd/{name}"), text);
        }
        let machine = silent_machine(scratch.path()).unwrap();
        let found = || stacked(&machine, None, Some("timed out"));
        let missing = found().unwrap_err().to_string();
        assert!(missing.contains("/etc/kubernetes/pki/etcd/healthcheck-client.crt") && missing.contains("timed out"));
        let pod = "spec: {containers: [{command: [kube-apiserver, --client-ca-file=/srv/pki/ca.crt]}]}";
        write("etc/kubernetes/manifests/kube-apiserver.yaml", pod);
        assert_eq!(found().map(|access| access.credentials.certificate), Ok(b"certificate".to_vec()));
    }

    /// A kubeconfig that may not list pods could be another cluster's.
    #[test]
    fn nodes_are_not_known_where_the_etcd_servers_of_their_cluster_are_not() {
        let server = FakeServer::start(|seen, tls| {
            assert!(seen.path().starts_with("/api/v1/namespaces/kube-system/pods"), "{}", seen.path());
            answer(tls, "403 Forbidden", "", r#"{"message":"pods is forbidden"}"#)
        });
        let authority = BASE64_STANDARD.encode(server.authority().pem());
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: a, cluster: {{server: '{}', certificate-authority-data: \
             {authority}}}}}]\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\ncurrent-context: a\nusers: \
             [{{name: a, user: {{token: ae23dc.faddc87f5a5ab458}}}}]\n",
            server.url("")
        );
        let kubeconfig = Kubeconfig::read(kubeconfig.as_bytes(), Path::new("/")).unwrap();
        let credentials = Credentials { authority: Vec::new(), certificate: Vec::new(), key: Secret::new(Vec::new()) };
        let etcd = EtcdAccess { kubeconfig: None, endpoints: vec!["https://10.0.0.1:2379".into()], credentials };
        let mut access = Access {
            server: api::connect_within(kubeconfig, TIMEOUTS).unwrap(),
            etcd: EtcdOf::ThisCluster(Box::new(etcd)),
            this_machine: ThisMachine::default(),
            of_cluster: Vec::new(),
            unanswered: None,
        };
        access.find_servers();
        assert!(access.unanswered.is_some_and(|why| why.contains("pods is forbidden")));
    }

    #[test]
    fn members_and_nodes_are_of_one_cluster() {
        let members = [member(&[]), member(&["https://[fd00::1]:2379", "https://10.0.0.1:2379"])];
        let this = EtcdPod { peer_url: "https://10.0.0.3:2380".into(), ..EtcdPod::default() };
        let told = |of_cluster: &[&str]| {
            let of_cluster: Vec<_> = of_cluster.iter().map(|&url| url.to_owned()).collect();
            of_one_cluster(&members, Some(&this), &of_cluster).map_err(|error| error.to_string())
        };
        let same = [
            &[][..],
            &["https://10.0.0.2:2379", "https://10.0.0.1:2379"],
            &["https://[fd00::1]:12379"],
            // Its etcd advertises a name.
            &["https://10.0.0.3:2379"],
        ];
        for same in same {
            assert_eq!(told(same), Ok(()), "{same:?}");
        }
        for other in ["https://10.0.0.2:2379", "https://10.0.0.11:2379", "https://10.0.0.9:2379"] {
            let why = told(&[other]).unwrap_err();
            assert!(why.starts_with("error: the kubeconfig is of another cluster") && why.contains(other), "{why}");
        }
    }
}
