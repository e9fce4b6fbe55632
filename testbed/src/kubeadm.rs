//! A cluster as kubeadm alone makes it: the measure that machineadm is compared with, and a quick way to get one.
use crate::judges::{self, Version};
use crate::machine::Machine;
use crate::programs::{ETCD, KUBERNETES, Set};
use crate::{Result, until};
use serde_json::Value;
use std::time::Duration;

/// Kubeadm's part takes 10 to 30 seconds on two cores.
const LIMIT: Duration = Duration::from_secs(300);

/// What must have run in a machine whose node is Ready.
const BEHIND_A_READY_NODE: &[(&Set, &[&str])] = &[
    (&KUBERNETES, &["kubeadm", "kubelet", "kube-apiserver", "kube-controller-manager", "kubectl"]),
    (&ETCD, &["etcd"]),
];

/// What a machine needs to join.
#[derive(Debug, Clone)]
pub struct Invitation {
    /// `kubeadm join …` with endpoint, token and the CA's hash.
    command: String,
    certificate_key: String,
}

impl Invitation {
    /// What follows `join`: endpoint, token and the CA's hash.
    pub fn words(&self) -> Vec<&str> {
        self.command.split_whitespace().skip_while(|word| *word != "join").skip(1).collect()
    }

    /// What decrypts the certificates of the cluster.
    pub fn certificate_key(&self) -> &str {
        &self.certificate_key
    }
}

/// The part that a machine takes in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It runs an API server and an etcd member.
    ControlPlane,
    /// It runs pods.
    Worker,
}

/// What kubeadm reads; it works on version 1 control groups too.
fn configuration(machine: &Machine, certificate_key: &str) -> String {
    let text = include_str!("../files/kubeadm.yaml").replace("ADDRESS", &machine.address().to_string());
    text.replace("CERTIFICATE_KEY", certificate_key)
}

/// `kubeadm init` with a configuration that works on any of our machines, and nothing besides.
pub fn init(machine: &Machine) -> Result<Invitation> {
    init_with(machine, "")
}

/// The same for a cluster in which anonymous clients may ask for nothing but the API server's health.
pub fn init_without_anonymous_access(machine: &Machine) -> Result<Invitation> {
    // kubeadm mounts this directory into the API server.
    let file = "/etc/kubernetes/pki/authentication.yaml";
    machine.write(file, include_str!("../files/no-anonymous-access.yaml"), 0o600)?;
    init_with(machine, &format!("apiServer: {{extraArgs: [{{name: authentication-config, value: {file}}}]}}\n"))
}

/// With further members of kubeadm's ClusterConfiguration.
pub fn init_with(machine: &Machine, members: &str) -> Result<Invitation> {
    let certificate_key = configure(machine, members)?;
    machine.check(&INIT)?;
    invite(machine, certificate_key)
}

/// The configuration that [`INIT`] reads.
const FILE: &str = "/srv/kubeadm.yaml";
/// `kubeadm init` as it is run on a machine that is [configured](configure).
pub const INIT: [&str; 6] = ["kubeadm", "init", "--config", FILE, "--upload-certs", "--skip-token-print"];

/// Writes the configuration for [`INIT`], and gives the certificate key in it.
pub fn configure(machine: &Machine, members: &str) -> Result<String> {
    let certificate_key = machine.check(&["kubeadm", "certs", "certificate-key"])?.trim().to_owned();
    let kind = "kind: ClusterConfiguration\n";
    let configuration = configuration(machine, &certificate_key).replace(kind, &format!("{kind}{members}"));
    machine.write(FILE, configuration, 0o600)?;
    Ok(certificate_key)
}

/// What other machines need to join a cluster that uploaded its certificates with this key.
pub fn invite(machine: &Machine, certificate_key: String) -> Result<Invitation> {
    let command = machine.check(&["kubeadm", "token", "create", "--print-join-command"])?.trim().to_owned();
    Ok(Invitation { command, certificate_key })
}

/// `kubeadm join`, and nothing besides.
pub fn join(machine: &Machine, invitation: &Invitation, part: Part) -> Result<()> {
    let Invitation { command, certificate_key } = invitation;
    let further = match part {
        Part::ControlPlane => format!(" --control-plane --certificate-key {certificate_key}"),
        Part::Worker => String::new(),
    };
    machine.shell(&format!("{command}{further} --ignore-preflight-errors=SystemVerification")).map(drop)
}

impl Machine {
    /// `kubectl` with this control plane's administrator's rights.
    pub fn kubectl(&self, words: &[&str]) -> Result<String> {
        let mut all = vec!["kubectl", "--kubeconfig=/etc/kubernetes/admin.conf", "--request-timeout=10s"];
        all.extend(words);
        self.check(&all)
    }

    /// An object of this control plane's cluster, or a list.
    pub fn kubectl_json(&self, words: &[&str]) -> Result<Value> {
        let mut all = words.to_vec();
        all.push("--output=json");
        let printed = self.kubectl(&all)?;
        serde_json::from_str(&printed).map_err(|error| crate::Error::Unreadable {
            what: format!("kubectl {}", words.join(" ")),
            found: error.to_string(),
        })
    }

    /// Waits until exactly these nodes are Ready, as the API server of this machine sees it.
    pub fn wait_for_nodes(&self, names: &[&str]) -> Result<()> {
        self.wait_for_nodes_since(names, "")
    }

    /// The same, each said so by its kubelet after a moment, as [`now`](Self::now) gives it: the API server calls a node
    /// Ready for most of a minute after its power was cut.
    pub fn wait_for_nodes_since(&self, names: &[&str], moment: &str) -> Result<()> {
        let mut wanted: Vec<&str> = names.to_vec();
        wanted.sort_unstable();
        until(&format!("nodes {wanted:?} Ready"), LIMIT, || {
            let nodes = self.kubectl_json(&["get", "nodes"]).map_err(|error| error.to_string())?;
            let is_ready = |node: &&Value| is_since(node, "Ready", moment);
            let mut ready: Vec<&str> = items(&nodes).filter(is_ready).filter_map(name).collect();
            ready.sort_unstable();
            if ready == wanted { Ok(()) } else { Err(format!("{ready:?} are Ready")) }
        })?;
        for (set, programs) in BEHIND_A_READY_NODE {
            programs.iter().try_for_each(|program| judges::ran(program, Version::Pinned(set.version())))?;
        }
        self.judged("containerd")
    }

    /// Waits until one node's kubelet has said after a moment that it is Ready, whatever other nodes there are.
    pub fn wait_for_node_since(&self, name: &str, moment: &str) -> Result<()> {
        until(&format!("node {name} Ready since {moment}"), LIMIT, || {
            let node = self.kubectl_json(&["get", "node", name]).map_err(|error| error.to_string())?;
            if is_since(&node, "Ready", moment) { Ok(()) } else { Err(node["status"]["conditions"].to_string()) }
        })
    }

    /// The time by the machine's clock, to the second, as the API server writes it.
    pub fn now(&self) -> Result<String> {
        Ok(self.check(&["date", "--utc", "+%Y-%m-%dT%H:%M:%SZ"])?.trim().to_owned())
    }

    /// Waits until a deployment has all the replicas that it wants.
    pub fn wait_for_deployment(&self, namespace: &str, deployment: &str) -> Result<()> {
        until(&format!("deployment {deployment} available"), LIMIT, || {
            let found = self.kubectl_json(&["get", "deployment", deployment, "--namespace", namespace]);
            let found = found.map_err(|error| error.to_string())?;
            let (wanted, ready) = (&found["spec"]["replicas"], &found["status"]["readyReplicas"]);
            if wanted == ready { Ok(()) } else { Err(format!("{ready} of {wanted} replicas are ready")) }
        })
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list["items"].as_array().into_iter().flatten()
}

fn name(object: &Value) -> Option<&str> {
    object["metadata"]["name"].as_str()
}

/// Whether a condition holds by a report that is younger than a moment. Times in this form compare as text.
fn is_since(object: &Value, condition: &str, moment: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|found| {
        let is_younger = found["lastHeartbeatTime"].as_str().is_some_and(|time| time > moment);
        found["type"] == condition && found["status"] == "True" && is_younger
    })
}
