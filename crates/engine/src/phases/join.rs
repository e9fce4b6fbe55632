//! JoinConfig: joins a cluster as a worker with kubeadm (R1), in the API version that this kubeadm prefers.
use super::{
    Phase, Role,
    tolerated_checks::{ToleratedChecks, image_pull_policy},
    worker::{NodeTraces, Worker},
};
use crate::{
    Look, PlanError, Planned,
    acts::{self, KubeadmJoin, kubeadm_join, proxy_variables},
    instance_values, steps_for,
};
use discovery::{BootstrapToken, Endpoint, method::Pinning};
use documents::{
    AnyDocument, Decoded, Secret,
    v1alpha1::{self, JoinDiscovery, TokenSource},
};
use host::contract::{DISCOVERY_FILE, KUBELET_PATCHES};
use kubeadm::{
    Target,
    hub::{Arg, Discovery, Documents, FileDiscovery, JoinConfiguration, NodeRegistration, Patches, Taint},
    render,
};
use std::rc::Rc;

pub(super) const PHASE: Phase = Phase {
    kind: "JoinConfig",
    summary: "joins a cluster with kubeadm, or finishes its own interrupted join",
    role: Role::MakesNode,
    plan,
    acts: |_| vec![kubeadm_join::ID.to_owned()],
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let AnyDocument::Join(wanted) = &document.body else { return Ok(Planned::default()) };
    // What is not known before the commands have run is not known here either.
    if let Some(commands) = look.waits_for_acts() {
        return Ok(Planned { known_after: Some(commands), ..Planned::default() });
    }
    steps_for(Rc::new(act(wanted, look)?), look)
}

/// What there is of a worker node.
pub(super) fn traces(look: &Look<'_>) -> Result<NodeTraces, PlanError> {
    let worker = Worker::seen(look)?;
    Ok(NodeTraces { act: kubeadm_join::ID, are_any: worker.has_traces(), are_all: worker.credentials().is_some() })
}

/// `kubeadm join` with all that it needs to know, for the kubeadm that preflight found.
pub(super) fn act(wanted: &v1alpha1::Join, look: &Look<'_>) -> Result<KubeadmJoin, PlanError> {
    let wanted = &instance_values::of_join(wanted, look)?;
    let version = look.facts.kubeadm.clone().or_else(|| wanted.kubernetes_version.clone());
    let version = version.ok_or_else(|| PlanError::Unfit(vec!["kubeadm is not installed".to_owned()]))?;
    let target = Target::new(&version).map_err(|why| PlanError::Unfit(vec![why.to_string()]))?;
    let node = node_name(wanted, look)?;
    let converted = kubeadm::convert(&documents(wanted, &node, &target), &target);
    if !converted.losses.is_empty() {
        let problem = |loss: &kubeadm::Loss| {
            format!("the kubeadm of {} has no field for {}", target.release(), kubeadm::shown(&loss.path))
        };
        return Err(PlanError::Unfit(converted.losses.iter().map(problem).collect()));
    }
    let kubelet = (!wanted.kubelet.is_empty()).then(|| serde_json::Value::Object(wanted.kubelet.clone()).to_string());
    let token = wanted.node_token().map(|token| known_token(token, look)).transpose()?.flatten();
    Ok(KubeadmJoin {
        file: Secret::new(render::yaml_stream(converted.documents.iter().map(|document| &document.value))),
        flags: converted
            .flags
            .iter()
            .map(kubeadm::Flag::argument)
            .chain(ToleratedChecks::new(&wanted.tolerated_checks, &wanted.kubelet, target.minor()).flag())
            .collect(),
        environment: proxy_variables::given(look.wanted),
        kubelet: kubelet.map(Secret::new),
        api_version: target.api().to_string(),
        version,
        endpoints: endpoints(&wanted.discovery),
        discovery: Secret::new(asked(&wanted.discovery)),
        node,
        cluster: look.facts.cluster.clone(),
        token,
        within: acts::kubeadm::within(&wanted.timeouts),
    })
}

/// A token, read from its file where it is in one.
pub(super) fn token(source: &TokenSource, look: &Look<'_>) -> Result<BootstrapToken, PlanError> {
    let TokenSource::File(path) = source else {
        return known_token(source, look)?
            .ok_or_else(|| PlanError::Unfit(vec!["there is no bootstrap token".to_owned()]));
    };
    let unfit = |why: String| PlanError::Unfit(vec![format!("{path} {why}")]);
    let file =
        look.host.file(path)?.ok_or_else(|| unfit("does not exist: it should hold a bootstrap token".to_owned()))?;
    let owner = look.host.default_owner().0;
    if file.mode & 0o077 != 0 || file.uid != owner {
        return Err(unfit(format!(
            "has mode {:04o} and belongs to user {}: only root may have access to a token; run: chown root {path} && chmod \
             0600 {path}",
            file.mode, file.uid
        )));
    }
    let text = String::from_utf8_lossy(file.contents.expose());
    text.trim_end().parse().map_err(|error: discovery::token::NoToken| unfit(error.to_string()))
}

/// The same for a plan, which may come before the file.
fn known_token(source: &TokenSource, look: &Look<'_>) -> Result<Option<BootstrapToken>, PlanError> {
    match source {
        TokenSource::Given(token) => Ok(Some(token.clone())),
        TokenSource::File(path) => match look.host.exists(path)? {
            true => token(source, look).map(Some),
            false => Ok(None),
        },
    }
}

/// The node's name: that of the document, else the host's, as kubeadm writes it.
fn node_name(wanted: &v1alpha1::Join, look: &Look<'_>) -> Result<String, PlanError> {
    let host = || look.host.sysctl("kernel/hostname").map(|name| name.unwrap_or_default().trim().to_lowercase());
    Ok(wanted.node_name.clone().map_or_else(host, Ok)?)
}

/// Where the cluster is looked for, for people.
fn endpoints(discovery: &JoinDiscovery) -> String {
    match discovery {
        JoinDiscovery::Token { endpoints, .. } => {
            endpoints.iter().map(Endpoint::authority).collect::<Vec<_>>().join(", ")
        }
        JoinDiscovery::File { source, .. } => objects::one_line(source.shown()),
    }
}

/// All that the document says of discovery but its token, for a reviewed plan to compare.
fn asked(discovery: &JoinDiscovery) -> String {
    match discovery {
        JoinDiscovery::Token { endpoints, token, pinning } => {
            let pins = match pinning {
                Pinning::Pins(pins) => pins.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
                Pinning::Without => "none".to_owned(),
            };
            let token = match token {
                TokenSource::Given(token) => token.expose().to_string(),
                TokenSource::File(path) => path.clone(),
            };
            let urls: Vec<_> = endpoints.iter().map(|endpoint| endpoint.url("")).collect();
            format!("token {} {pins} {token}", urls.join(","))
        }
        JoinDiscovery::File { source, verification } => {
            let location = match source {
                discovery::method::Source::Path(text) | discovery::method::Source::Url(text) => text.as_str(),
                discovery::method::Source::StandardInput => "-",
            };
            format!("file {location} {verification:?}")
        }
    }
}

/// What the user asked, in our own types; what was not asked for is kubeadm's to choose, so it stays unset. The cluster
/// comes by a kubeconfig of our own, with what discovery verified.
fn documents(wanted: &v1alpha1::Join, node: &str, target: &Target) -> Documents {
    let labels: Vec<_> = wanted.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let taint = |taint: &v1alpha1::NodeTaint| Taint {
        key: Some(taint.key.clone()),
        value: (!taint.value.is_empty()).then(|| taint.value.clone()),
        effect: Some(taint.effect.name().to_owned()),
        ..Taint::default()
    };
    let argument = |name: &str, value: String| Arg { name: name.to_owned(), value, merge_method: None };
    Documents {
        join: Some(JoinConfiguration {
            node_registration: NodeRegistration {
                name: Some(node.to_owned()).filter(|node| !node.is_empty()),
                cri_socket: Some(format!("unix://{}", wanted.runtime_socket)),
                taints: (!wanted.taints.is_empty()).then(|| wanted.taints.iter().map(taint).collect()),
                kubelet_extra_args: [("node-labels", labels), ("node-ip", wanted.node_addresses.clone())]
                    .into_iter()
                    .filter(|(_, values)| !values.is_empty())
                    .map(|(name, values)| argument(name, values.join(",")))
                    .collect(),
                ignore_preflight_errors: ToleratedChecks::new(
                    &wanted.tolerated_checks,
                    &wanted.kubelet,
                    target.minor(),
                )
                .names(),
                image_pull_policy: image_pull_policy(wanted.image_pull, target.api()),
                ..NodeRegistration::default()
            },
            discovery: Discovery {
                file: Some(FileDiscovery { kube_config_path: Some(DISCOVERY_FILE.to_owned()) }),
                ..Discovery::default()
            },
            patches: (!wanted.kubelet.is_empty()).then(|| Patches { directory: Some(KUBELET_PATCHES.to_owned()) }),
            timeouts: super::init::timeouts(&wanted.timeouts),
            ..JoinConfiguration::default()
        }),
        ..Documents::default()
    }
}
