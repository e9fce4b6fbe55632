//! InitConfig: a new cluster with kubeadm (R1), in the API version that this kubeadm prefers.
use super::{
    Phase, Role, cluster_settings, join,
    tolerated_checks::{ToleratedChecks, image_pull_policy},
    worker::NodeTraces,
};
use crate::{
    Facts, Fault, Look, PlanError, Planned, Problem,
    acts::{
        self, DeleteUnusedToken, KubeadmInit, UPLOAD_ID, UploadCerts, delete_unused_token,
        kubeadm_init::{self, COREDNS, KUBE_PROXY, UNUSED_TOKEN},
        kubeadm_join,
        proxy_variables::{self, Variables, host_of},
    },
    control_plane_files::{ControlPlaneFiles, merge_into},
    etcd_access::CERTIFICATES,
    etcd_data, instance_values, steps_for,
};
use certs::{Etcd, FileSet, NoCertificateKey};
use discovery::{Lifetime, Usage, usage::NODE_GROUP};
use documents::{
    AnyDocument, Decoded, Secret,
    v1alpha1::{self, ClusterPart, Members},
};
use host::Progress;
use kubeadm::{
    Converted, Target,
    hub::{
        ApiEndpoint, Arg, BootstrapToken, ClusterConfiguration, Dns, Documents, InitConfiguration, Networking,
        NodeRegistration, Patches, Proxy, Taint, Timeouts,
    },
    render,
};
use objects::Duration;
use serde_json::Value;
use std::rc::Rc;

/// The network of services that kubeadm takes if there is none.
const SERVICE_SUBNET: &str = "10.96.0.0/12";

pub(super) const PHASE: Phase = Phase {
    kind: "InitConfig",
    summary: "creates a cluster with kubeadm, or undoes its own interrupted start and creates it again",
    role: Role::MakesNode,
    plan,
    acts,
};

/// An upload that the document no longer asks for is none of its acts: an interrupted one is then closed.
fn acts(document: &Decoded) -> Vec<String> {
    let AnyDocument::Init(wanted) = &document.body else { return Vec::new() };
    let uploads = wanted.certificate_key.is_some().then_some(UPLOAD_ID);
    let deletes = wanted.is_without(ClusterPart::BootstrapToken).then_some(delete_unused_token::ID);
    [Some(kubeadm_init::ID), deletes, uploads].into_iter().flatten().map(str::to_owned).collect()
}

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let AnyDocument::Init(wanted) = &document.body else { return Ok(Planned::default()) };
    // What is not known before the commands have run is not known here either.
    if let Some(commands) = look.waits_for_acts() {
        return Ok(Planned { known_after: Some(commands), ..Planned::default() });
    }
    check_downloaded_keys(look)?;
    let wanted = &instance_values::of_init(wanted, look)?;
    let environment = environment(wanted, look)?;
    let files = ControlPlaneFiles::of(look.wanted);
    let act = KubeadmInit { environment, ..act(wanted, files.as_ref(), look.facts)? };
    let mut planned = steps_for(Rc::new(act), look)?;
    if wanted.is_without(ClusterPart::BootstrapToken) {
        let deletion = steps_for(Rc::new(DeleteUnusedToken), look)?;
        planned.steps.extend(deletion.steps);
        planned.remarks.extend(deletion.remarks);
    }
    if let Some(upload) = upload(wanted)? {
        let upload = steps_for(Rc::new(upload), look)?;
        planned.steps.extend(upload.steps);
        planned.remarks.extend(upload.remarks);
    }
    Ok(planned)
}

/// kubeadm uses a CA that it finds. That of a cluster which this machine should have joined is none for a new one: the
/// administrators of each would be those of the other. A machine that has joined was reset since by an operator, who may have
/// put a CA there.
fn check_downloaded_keys(look: &Look<'_>) -> Result<(), PlanError> {
    let is_new = kubeadm_init::files_found(look.host)? == 0 && look.host.progress(kubeadm_join::ID)? != Progress::Ended;
    match is_new && join::has_downloaded_keys(look)? {
        true => Err(PlanError::Abandoned(
            "this machine has the private keys of another cluster, which were downloaded for a control plane node, and this \
             configuration creates a cluster; run \"machineadm reset\", then run machineadm again"
                .to_owned(),
        )),
        false => Ok(()),
    }
}

/// kubeadm's proxy variables: the addresses of the cluster itself are reached directly.
fn environment(wanted: &v1alpha1::Init, look: &Look<'_>) -> Result<Variables, PlanError> {
    let given = proxy_variables::given(look.wanted);
    if given.is_empty() {
        return Ok(given);
    }
    let endpoint = wanted.control_plane_endpoint.as_deref().map(host_of);
    let services = match wanted.service_subnets.is_empty() {
        true => vec![SERVICE_SUBNET.to_owned()],
        false => wanted.service_subnets.clone(),
    };
    // kubeadm takes the address of the default route.
    let address =
        wanted.advertise_address.map_or_else(|| look.host.address_towards(None), |address| Ok(Some(address)))?;
    let address = address.map(|address| address.to_string());
    let own = endpoint.into_iter().chain(address).chain(services).chain(wanted.pod_subnets.iter().cloned());
    Ok(proxy_variables::without_proxy_to(&given, &own.collect::<Vec<_>>()))
}

/// The upload of the certificates of this node.
pub(super) fn upload(wanted: &v1alpha1::Init) -> Result<Option<UploadCerts>, PlanError> {
    let Some(key) = &wanted.certificate_key else { return Ok(None) };
    let key = key.expose().parse().map_err(|why: NoCertificateKey| {
        PlanError::unfit(Problem::of(Fault::CertificateKey, format!("certificateKey {why}")))
    })?;
    let directory = wanted.settings.certificates_directory.as_deref().unwrap_or(CERTIFICATES);
    Ok(Some(UploadCerts { key, directory: directory.into(), files: FileSet::new(&Etcd::Stacked) }))
}

/// What there is of a control plane node.
pub(super) fn traces(look: &Look<'_>) -> Result<NodeTraces, PlanError> {
    let found = kubeadm_init::files_found(look.host)?;
    Ok(NodeTraces { act: kubeadm_init::ID, are_any: found > 0, are_all: found == kubeadm_init::FILES })
}

/// `kubeadm init` with all that it needs to know, for the kubeadm that preflight found.
pub(super) fn act(
    wanted: &v1alpha1::Init,
    files: Option<&ControlPlaneFiles>,
    facts: &Facts,
) -> Result<KubeadmInit, PlanError> {
    // Preflight sees to it that kubeadm is of the same minor version, which decides the API version.
    let target = Target::new(&wanted.kubernetes_version).map_err(|why| PlanError::unfit(why.to_string()))?;
    let mut hub = documents(wanted, &target);
    if let (Some(files), Some(cluster)) = (files, &mut hub.cluster) {
        merge_into(files, cluster);
    }
    let converted = kubeadm::convert(&hub, &target);
    if !converted.losses.is_empty() {
        let path = |loss: &kubeadm::Loss| kubeadm::shown(&loss.path);
        let paths = converted.losses.iter().map(path);
        let problem = |path| format!("the kubeadm of {} has no field for {path}", target.release());
        return Err(PlanError::Unfit(paths.map(problem).map(Problem::from).collect()));
    }
    Ok(KubeadmInit {
        file: Secret::new(file(wanted, &converted)),
        flags: converted
            .flags
            .iter()
            .map(kubeadm::Flag::argument)
            .chain(ToleratedChecks::new(&wanted.tolerated_checks, &wanted.kubelet, target.minor()).flag())
            .collect(),
        environment: Variables::new(),
        addons: [(ClusterPart::CoreDns, COREDNS), (ClusterPart::KubeProxy, KUBE_PROXY)]
            .into_iter()
            .filter_map(|(part, object)| (!wanted.is_without(part)).then_some(object))
            .collect(),
        api_version: target.api().to_string(),
        version: facts.kubeadm.clone().unwrap_or_else(|| wanted.kubernetes_version.clone()),
        runtime_socket: wanted.runtime_socket.clone(),
        certificates: wanted.settings.certificates_directory.clone(),
        etcd_data: etcd_data::configured(hub.cluster.as_ref().and_then(|cluster| cluster.etcd.local.as_ref())),
        within: acts::kubeadm::within(&wanted.timeouts),
    })
}

/// What the user asked, in our own types; what was not asked for is kubeadm's to choose, so it stays unset.
pub fn documents(wanted: &v1alpha1::Init, target: &Target) -> Documents {
    let joined = |subnets: &[String]| (!subnets.is_empty()).then(|| subnets.join(","));
    let disabled = |part| wanted.is_without(part).then_some(true);
    let settings = &wanted.settings;
    Documents {
        init: Some(InitConfiguration {
            node_registration: node_registration(wanted, target),
            local_api_endpoint: ApiEndpoint {
                advertise_address: wanted.advertise_address.map(|address| address.to_string()),
                bind_port: settings.api_server_port.map(i32::from),
            },
            bootstrap_tokens: tokens(wanted),
            patches: settings.patches.clone().map(|directory| Patches { directory: Some(directory) }),
            timeouts: timeouts(&wanted.timeouts),
            ..InitConfiguration::default()
        }),
        cluster: Some(ClusterConfiguration {
            kubernetes_version: Some(wanted.kubernetes_version.clone()),
            control_plane_endpoint: wanted.control_plane_endpoint.clone(),
            networking: Networking {
                pod_subnet: joined(&wanted.pod_subnets),
                service_subnet: joined(&wanted.service_subnets),
                dns_domain: settings.dns_domain.clone(),
            },
            dns: Dns { disabled: disabled(ClusterPart::CoreDns), ..Dns::default() },
            proxy: Proxy { disabled: disabled(ClusterPart::KubeProxy) },
            ..cluster_settings::configuration(settings)
        }),
        ..Documents::default()
    }
}

fn node_registration(wanted: &v1alpha1::Init, target: &Target) -> NodeRegistration {
    let labels: Vec<_> = wanted.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let taint = |taint: &v1alpha1::NodeTaint| Taint {
        key: Some(taint.key.clone()),
        value: (!taint.value.is_empty()).then(|| taint.value.clone()),
        effect: Some(taint.effect.name().to_owned()),
        ..Taint::default()
    };
    NodeRegistration {
        name: wanted.node_name.clone(),
        cri_socket: Some(format!("unix://{}", wanted.runtime_socket)),
        // An empty list is none, and not the default one.
        taints: wanted.taints.as_ref().map(|taints| taints.iter().map(taint).collect()),
        kubelet_extra_args: [("node-labels", labels), ("node-ip", wanted.node_addresses.clone())]
            .into_iter()
            .filter(|(_, values)| !values.is_empty())
            .map(|(name, values)| Arg { name: name.to_owned(), value: values.join(","), merge_method: None })
            .collect(),
        ignore_preflight_errors: cluster_settings::ignored_checks(wanted, target.minor()),
        image_pull_policy: image_pull_policy(wanted.image_pull, target.api()),
        ..NodeRegistration::default()
    }
}

/// The tokens that kubeadm creates; with an empty list it chooses one.
fn tokens(wanted: &v1alpha1::Init) -> Vec<BootstrapToken> {
    let token = match &wanted.bootstrap_token {
        _ if wanted.is_without(ClusterPart::BootstrapToken) => Some(unused_token()),
        Some(token) => Some(BootstrapToken {
            token: token.token.as_ref().map(|token| Secret::new(token.expose().to_string())),
            ttl: Some(match token.lifetime {
                Lifetime::Forever => Duration::seconds(0),
                Lifetime::For(span) => span,
            }),
            usages: Usage::ALL.map(|usage| usage.name().to_owned()).to_vec(),
            groups: vec![NODE_GROUP.to_owned()],
            ..BootstrapToken::default()
        }),
        None => None,
    };
    token.into_iter().collect()
}

/// kubeadm turns an empty list of tokens into one token, and wants one that authenticates. This one is in a group without
/// rights, expires soon, gets its secret when kubeadm runs, and is deleted after it.
fn unused_token() -> BootstrapToken {
    BootstrapToken {
        token: Some(Secret::new(UNUSED_TOKEN.to_owned())),
        description: Some("Not used: machineadm deletes it after kubeadm init.".to_owned()),
        ttl: Some(Duration::minutes(10)),
        usages: vec!["signing".to_owned(), "authentication".to_owned()],
        groups: vec!["system:bootstrappers:unused".to_owned()],
        ..BootstrapToken::default()
    }
}

/// How long kubeadm waits, as far as a document asks for it.
pub(super) fn timeouts(wanted: &v1alpha1::NodeTimeouts) -> Option<Timeouts> {
    let v1alpha1::NodeTimeouts { kubelet, control_plane, certificate, etcd: _ } = *wanted;
    let timeouts = Timeouts {
        kubelet_health_check: kubelet.map(duration),
        control_plane_component_health_check: control_plane.map(duration),
        tls_bootstrap: certificate.map(duration),
        ..Timeouts::default()
    };
    (timeouts != Timeouts::default()).then_some(timeouts)
}

fn duration(given: std::time::Duration) -> Duration {
    Duration::nanoseconds(i64::try_from(given.as_nanos()).unwrap_or(i64::MAX))
}

/// kubeadm's file: its own documents, and those of the components, as they came.
fn file(wanted: &v1alpha1::Init, converted: &Converted) -> String {
    let components = [
        ("kubelet.config.k8s.io/v1beta1", "KubeletConfiguration", &wanted.kubelet),
        ("kubeproxy.config.k8s.io/v1alpha1", "KubeProxyConfiguration", &wanted.kube_proxy),
    ];
    let components: Vec<Value> = components.into_iter().filter_map(component).collect();
    render::yaml_stream(converted.documents.iter().map(|document| &document.value).chain(&components))
}

fn component((api_version, kind, members): (&str, &str, &Members)) -> Option<Value> {
    let mut document = members.clone();
    document.insert("apiVersion".into(), api_version.into());
    document.insert("kind".into(), kind.into());
    (!members.is_empty()).then_some(Value::Object(document))
}

#[cfg(test)]
mod tests;
