//! A JoinConfiguration as a JoinConfig.
use super::{
    init::{port, unless_usual},
    node::{Node, node},
    own_address,
    report::ImportReport,
    set,
};
use crate::command::skipped_phases::{self, Joining, Preflight};
use documents::v1alpha1::{
    ControlPlaneSpec, DiscoverySpec, FileSpec, JoinConfig, JoinTimeouts, PreflightCheck, TokenSpec,
};
use kubeadm::hub::{self, JoinConfiguration};
use objects::Duration;
use secret::Secret;

const KIND: &str = "JoinConfiguration";
/// Where kubeadm puts the certificate of the cluster unless a file says otherwise.
const CA_CERTIFICATE: &str = "/etc/kubernetes/pki/ca.crt";

/// A JoinConfig, and what it does not hold yet.
pub(in crate::command) struct ImportedJoin {
    pub(in crate::command) document: JoinConfig,
    /// The directory of a worker's patches. Those of its kubelet belong into the document: the caller reads them.
    pub(in crate::command) worker_patches: Option<String>,
    pub(in crate::command) report: ImportReport,
}

/// What kubeadm's document means.
pub(in crate::command) fn join(given: JoinConfiguration) -> ImportedJoin {
    let mut report = ImportReport::of::<JoinConfig>();
    let JoinConfiguration {
        dry_run,
        node_registration,
        ca_cert_path,
        discovery,
        control_plane,
        skip_phases,
        patches,
        timeouts,
    } = given;
    report.unsupported_if_set(format!("{KIND}.dryRun"), dry_run.filter(|dry_run| *dry_run));
    let ca = set(ca_cert_path).filter(|path| path != CA_CERTIFICATE);
    report.unsupported_if_set(format!("{KIND}.caCertPath"), ca);
    let mut control_plane = control_plane.map(|given| of_control_plane(given, &mut report));
    let joining = Joining::of(&control_plane);
    let node = node(KIND, node_registration, &mut report);
    let Node { name, runtime_socket, taints, labels, addresses, mut tolerated_checks, image_pull } = node;
    if joining == Joining::ControlPlane && taints.as_ref().is_some_and(Vec::is_empty) {
        let why = "a JoinConfig cannot make a control plane node without a taint; remove the taint later";
        report.refused(format!("{KIND}.nodeRegistration.taints"), "[]", why);
    }
    if skip(&skip_phases, joining, &mut report) == Preflight::Skipped {
        tolerated_checks = vec![PreflightCheck::All];
    }
    let directory = patches.and_then(|hub::Patches { directory }| set(directory));
    let worker_patches = match &mut control_plane {
        Some(spec) => {
            spec.patches = directory;
            None
        }
        None => directory,
    };
    let Times { discovery: timeout, timeouts } = times(&timeouts.unwrap_or_default(), joining, &mut report);
    let (token, file, tls_bootstrap_token) = of_discovery(discovery);
    let document = JoinConfig {
        discovery: DiscoverySpec { token, file, timeout },
        tls_bootstrap_token,
        control_plane,
        node_name: name,
        node_addresses: addresses,
        labels,
        taints: taints.unwrap_or_default(),
        runtime_socket: runtime_socket.unwrap_or_else(|| JoinConfig::default().runtime_socket),
        tolerated_checks,
        image_pull,
        timeouts,
        ..JoinConfig::default()
    };
    ImportedJoin { document, worker_patches, report }
}

type Discovery = (Option<TokenSpec>, Option<FileSpec>, Option<Secret<String>>);

fn of_discovery(discovery: hub::Discovery) -> Discovery {
    let hub::Discovery { bootstrap_token, file, tls_bootstrap_token } = discovery;
    let is_said = |token: &Secret<String>| !token.expose().is_empty();
    let by_token = |given: hub::BootstrapTokenDiscovery| {
        let hub::BootstrapTokenDiscovery { token, api_server_endpoint, ca_cert_hashes, unsafe_skip_ca_verification } =
            given;
        TokenSpec {
            endpoints: set(api_server_endpoint).into_iter().collect(),
            token: token.filter(is_said),
            ca_pins: ca_cert_hashes,
            unsafe_without_ca_pins: unsafe_skip_ca_verification.unwrap_or_default(),
            ..TokenSpec::default()
        }
    };
    let by_file = |hub::FileDiscovery { kube_config_path }| {
        let path = set(kube_config_path)?;
        let location = path.strip_prefix("file://").unwrap_or(&path).to_owned();
        Some(FileSpec { location: Secret::new(location), ..FileSpec::default() })
    };
    (bootstrap_token.map(by_token), file.and_then(by_file), tls_bootstrap_token.filter(is_said))
}

fn of_control_plane(given: hub::JoinControlPlane, report: &mut ImportReport) -> ControlPlaneSpec {
    let hub::JoinControlPlane { local_api_endpoint, certificate_key } = given;
    let hub::ApiEndpoint { advertise_address, bind_port } = local_api_endpoint;
    ControlPlaneSpec {
        certificate_key: certificate_key.filter(|key| !key.expose().is_empty()),
        advertise_address: own_address(advertise_address),
        api_server_port: port(&format!("{KIND}.controlPlane.localAPIEndpoint.bindPort"), bind_port, report),
        ..ControlPlaneSpec::default()
    }
}

fn skip(phases: &[String], joining: Joining, report: &mut ImportReport) -> Preflight {
    let here = |phase: &str| format!("{KIND}.skipPhases[{phase}]");
    let (preflight, refused) = skipped_phases::read(phases, joining);
    if preflight == Preflight::Skipped {
        report.note(here("preflight"), "is set by spec.toleratedChecks");
    }
    let is_preflight = |phase: &str| phase.split('/').next() == Some("preflight");
    let is_refused = |phase: &String| refused.iter().any(|refusal| refusal.phase == *phase);
    for phase in phases.iter().filter(|phase| !is_preflight(phase) && !is_refused(phase)) {
        report.note(here(phase), "has no effect: a worker has no such phase");
    }
    for refusal in refused {
        report.refused(here(&refusal.phase), &refusal.phase, refusal.why);
    }
    preflight
}

/// How long a join waits.
struct Times {
    discovery: Option<String>,
    timeouts: JoinTimeouts,
}

fn times(given: &hub::Timeouts, joining: Joining, report: &mut ImportReport) -> Times {
    let hub::Timeouts {
        control_plane_component_health_check,
        kubelet_health_check,
        kubernetes_api_call,
        etcd_api_call,
        tls_bootstrap,
        discovery,
        upgrade_manifests,
    } = *given;
    let others = [
        ("kubernetesAPICall", unless_usual(kubernetes_api_call, 1)),
        ("etcdAPICall", unless_usual(etcd_api_call, 2)),
        ("upgradeManifests", unless_usual(upgrade_manifests, 5)),
    ];
    for (field, time) in others {
        report.unsupported_if_set(format!("{KIND}.timeouts.{field}"), time);
    }
    let mut control_plane = unless_usual(control_plane_component_health_check, 4);
    if joining == Joining::Worker && control_plane.take().is_some() {
        let here = format!("{KIND}.timeouts.controlPlaneComponentHealthCheck");
        report.note(here, "has no effect: a worker has no control plane");
    }
    let text = |time: Option<Duration>| time.map(|time| time.to_string());
    let timeouts = JoinTimeouts {
        kubelet: text(unless_usual(kubelet_health_check, 4)),
        certificate: text(unless_usual(tls_bootstrap, 5)),
        control_plane: text(control_plane),
        etcd: None,
    };
    Times { discovery: text(unless_usual(discovery, 5)), timeouts }
}
