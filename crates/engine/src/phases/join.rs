//! JoinConfig: joins a cluster with kubeadm (R1), as a worker or a control plane node, in the API version that this kubeadm prefers.
use super::{
    Phase, Role, control_plane,
    control_plane_traces::ControlPlaneTraces,
    static_pods,
    tolerated_checks::{ToleratedChecks, image_pull_policy},
    worker::{NodeTraces, Worker},
};
use crate::{
    Fault, Look, PlanError, Planned, Problem, Step,
    acts::{
        self, Certificates, CopySource, DOWNLOAD_ID, DownloadCerts, KubeadmJoin, KubeadmJoinControlPlane, kubeadm_join,
        proxy_variables,
    },
    before_kubeadm::{self, BeforeKubeadm},
    etcd_access::CERTIFICATES,
    instance_values, steps_for,
};
use certs::{CertificateKey, NoCertificateKey};
use discovery::{BootstrapToken, Endpoint, method::Pinning};
use documents::{
    AnyDocument, Decoded, Secret,
    v1alpha1::{self, CertificateKeySource, JoinControlPlane, JoinDiscovery, STATIC_PODS_DIRECTORY, TokenSource},
};
use host::{
    Progress,
    contract::{DISCOVERY_FILE, KUBELET_PATCHES},
};
use kubeadm::{
    Target,
    hub::{
        self, ApiEndpoint, Arg, Discovery, Documents, FileDiscovery, JoinConfiguration, NodeRegistration, Patches,
        Taint,
    },
    preflight_checks::{self, refuses_static_pods},
    render,
};
use std::rc::Rc;

pub(super) const PHASE: Phase = Phase {
    kind: "JoinConfig",
    summary: "joins a cluster with kubeadm, or finishes its own interrupted join",
    role: Role::MakesNode,
    plan,
    acts: |_| [kubeadm_join::ID, DOWNLOAD_ID].map(str::to_owned).to_vec(),
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let AnyDocument::Join(wanted) = &document.body else { return Ok(Planned::default()) };
    // What is not known before the commands have run is not known here either.
    if let Some(commands) = look.waits_for_acts() {
        return Ok(Planned { known_after: Some(commands), ..Planned::default() });
    }
    let join = act(wanted, look)?;
    match &wanted.control_plane {
        None => {
            check_started_control_plane(look)?;
            steps_for(Rc::new(join), look)
        }
        Some(control_plane) => of_control_plane(join, wanted, control_plane, look),
    }
}

/// A control plane join that did not finish may have an etcd member that votes: a worker's join would stop its kubelet and
/// delete its kubeconfig, and with two voters etcd would lose its quorum. And a worker must not have the private keys of the
/// cluster, which such a join downloads first.
fn check_started_control_plane(look: &Look<'_>) -> Result<(), PlanError> {
    let is_ours = look.host.progress(kubeadm_join::ID)? == Progress::Started;
    let traces = ControlPlaneTraces::on(look.host)?;
    let is_started = is_ours && (!traces.are_of_worker() || before_kubeadm::is_deleting(look.host)?);
    let text = match () {
        () if is_started => "kubeadm join of a control plane node was started and did not finish",
        () if traces.worker.credentials().is_none() && has_downloaded_keys(look)? => {
            "this machine has the private keys of the cluster, which were downloaded for a control plane node"
        }
        () => return Ok(()),
    };
    Err(PlanError::Abandoned(format!(
        "{text}, and this configuration joins a worker; run \"machineadm reset\", then run machineadm again"
    )))
}

/// Whether private keys of a cluster were downloaded to this machine, and are still there.
pub(super) fn has_downloaded_keys(look: &Look<'_>) -> Result<bool, PlanError> {
    if look.host.progress(DOWNLOAD_ID)? == Progress::New {
        return Ok(false);
    }
    let elsewhere = BeforeKubeadm::read(look.host)?.map(|record| record.elsewhere.directories).unwrap_or_default();
    for directory in elsewhere.iter().map(String::as_str).chain([CERTIFICATES]) {
        if look.host.exists(&format!("{directory}/ca.key"))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The certificates first, then `kubeadm join`, which uses the files that it finds.
fn of_control_plane(
    join: KubeadmJoin,
    wanted: &v1alpha1::Join,
    control_plane: &JoinControlPlane,
    look: &Look<'_>,
) -> Result<Planned, PlanError> {
    let facts = look.facts.control_plane.clone();
    let source = facts.as_ref().zip(join.cluster.as_ref()).zip(join.token.as_ref()).map(|((facts, cluster), token)| {
        let kubeconfig = kubeadm_join::bootstrap_kubeconfig(cluster, token);
        let (roots, directory) = (cluster.roots().clone(), facts.directory.clone());
        CopySource { kubeconfig, roots, directory, files: facts.files.clone() }
    });
    let mut planned = Planned::default();
    let has_joined = Worker::seen(look)?.credentials().is_some();
    if control_plane.certificate_key.is_some() && !has_joined {
        let key = known_certificate_key(control_plane, look)?;
        planned = steps_for(Rc::new(DownloadCerts { key, source }), look)?;
    }
    let act = KubeadmJoinControlPlane {
        join,
        facts,
        peer_url: control_plane::peer_url(control_plane, look)?,
        runtime_socket: wanted.runtime_socket.clone(),
        certificates: match control_plane.certificate_key {
            Some(_) => Certificates::Copied,
            None => Certificates::Own,
        },
    };
    let joining = steps_for(Rc::new(act), look)?;
    // What an interrupted join has left goes first; the certificates are looked at again after it.
    let undoes = matches!(joining.steps.first(), Some(Step::Redo(_)));
    if undoes {
        planned.steps.clear();
    }
    planned.steps.extend(joining.steps);
    planned.remarks.extend(joining.remarks);
    Ok(planned)
}

/// The certificate key of a document, read from its file where it is in one.
pub(super) fn certificate_key(wanted: &JoinControlPlane, look: &Look<'_>) -> Result<Option<CertificateKey>, PlanError> {
    let (name, text) = match &wanted.certificate_key {
        None => return Ok(None),
        Some(CertificateKeySource::Given(key)) => ("controlPlane.certificateKey", key.clone()),
        Some(CertificateKeySource::File(path)) => (path.as_str(), root_only(path, "a certificate key", look)?),
    };
    let key = text.expose().trim_end().parse();
    let unfit = |why: NoCertificateKey| PlanError::unfit(Problem::of(Fault::CertificateKey, format!("{name} {why}")));
    key.map(Some).map_err(unfit)
}

/// The same for a plan, which may come before the file.
fn known_certificate_key(wanted: &JoinControlPlane, look: &Look<'_>) -> Result<Option<CertificateKey>, PlanError> {
    match &wanted.certificate_key {
        Some(CertificateKeySource::File(path)) if !look.host.exists(path)? => Ok(None),
        _ => certificate_key(wanted, look),
    }
}

/// What there is of a node.
pub(super) fn traces(wanted: &v1alpha1::Join, look: &Look<'_>) -> Result<NodeTraces, PlanError> {
    if wanted.control_plane.is_some() {
        let traces = ControlPlaneTraces::on(look.host)?;
        return Ok(NodeTraces { act: kubeadm_join::ID, are_any: traces.are_any(), are_all: traces.are_all() });
    }
    let worker = Worker::seen(look)?;
    Ok(NodeTraces { act: kubeadm_join::ID, are_any: worker.has_traces(), are_all: worker.credentials().is_some() })
}

/// `kubeadm join` with all that it needs to know, for the kubeadm that preflight found.
pub(super) fn act(wanted: &v1alpha1::Join, look: &Look<'_>) -> Result<KubeadmJoin, PlanError> {
    let wanted = &instance_values::of_join(wanted, look)?;
    let version = look.facts.kubeadm.clone().or_else(|| wanted.kubernetes_version.clone());
    let version =
        version.ok_or_else(|| PlanError::unfit(Problem::of(Fault::NotInstalled, "kubeadm is not installed")))?;
    let target = Target::new(&version).map_err(|why| PlanError::unfit(why.to_string()))?;
    let node = node_name(wanted, look)?;
    let control_plane = wanted.control_plane.as_ref().map(|wanted| hub_control_plane(wanted, look)).transpose()?;
    let mut hub = documents(wanted, &node, &target);
    if let Some(join) = &mut hub.join {
        join.control_plane = control_plane;
        if refuses_static_pods(target.minor()) && static_pods::are_ours(look)? {
            join.node_registration.ignore_preflight_errors.push(preflight_checks::directory(STATIC_PODS_DIRECTORY));
        }
    }
    let converted = kubeadm::convert(&hub, &target);
    if !converted.losses.is_empty() {
        let problem = |loss: &kubeadm::Loss| {
            format!("the kubeadm of {} has no field for {}", target.release(), kubeadm::shown(&loss.path))
        };
        return Err(PlanError::Unfit(converted.losses.iter().map(problem).map(Problem::from).collect()));
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
        return known_token(source, look)?.ok_or_else(|| PlanError::unfit("there is no bootstrap token".to_owned()));
    };
    let text = root_only(path, "a bootstrap token", look)?;
    let unfit = |error: discovery::token::NoToken| PlanError::unfit(format!("{path} {error}"));
    text.expose().trim_end().parse().map_err(unfit)
}

/// The text of a file with a secret, which only root may read.
fn root_only(path: &str, what: &str, look: &Look<'_>) -> Result<Secret<String>, PlanError> {
    let unfit = |why: String| PlanError::unfit(format!("{path} {why}"));
    let file = look.host.file(path)?.ok_or_else(|| unfit(format!("does not exist: it should hold {what}")))?;
    let owner = look.host.default_owner().0;
    if file.mode & 0o077 != 0 || file.uid != owner {
        let noun = what.rsplit(' ').next().unwrap_or(what);
        return Err(unfit(format!(
            "has mode {:04o} and belongs to user {}: only root may have access to a {noun}; run: chown root {path} && chmod \
             0600 {path}",
            file.mode, file.uid
        )));
    }
    Ok(Secret::new(String::from_utf8_lossy(file.contents.expose()).into_owned()))
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
pub fn documents(wanted: &v1alpha1::Join, node: &str, target: &Target) -> Documents {
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
            patches: patches(wanted),
            timeouts: super::init::timeouts(&wanted.timeouts),
            ..JoinConfiguration::default()
        }),
        ..Documents::default()
    }
}

/// The directory of patches: the machine's own for static pods, or ours for the kubelet.
fn patches(wanted: &v1alpha1::Join) -> Option<Patches> {
    let given = wanted.control_plane.as_ref().and_then(|control_plane| control_plane.patches.clone());
    let ours = (!wanted.kubelet.is_empty()).then(|| KUBELET_PATCHES.to_owned());
    given.or(ours).map(|directory| Patches { directory: Some(directory) })
}

/// The control plane's part. The certificate key stays unset: machineadm has placed the certificates before, and kubeadm
/// uses those that it finds.
fn hub_control_plane(wanted: &JoinControlPlane, look: &Look<'_>) -> Result<hub::JoinControlPlane, PlanError> {
    let address = control_plane::advertise_address(wanted, look)?;
    let local_api_endpoint =
        ApiEndpoint { advertise_address: Some(address.to_string()), bind_port: wanted.api_server_port.map(i32::from) };
    Ok(hub::JoinControlPlane { local_api_endpoint, certificate_key: None })
}
