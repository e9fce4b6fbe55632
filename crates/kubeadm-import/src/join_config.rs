//! A JoinConfiguration as a JoinConfig.
use crate::{
    join_phases::{Joining, SkippedJoinPhases},
    node_registration::{NodeSettings, node_settings},
    report::ImportReport,
    timeouts::UnusualTimeouts,
    values::{api_server_port, non_empty, own_address},
};
use documents::v1alpha1::{
    ControlPlaneSpec, DiscoverySpec, FileSpec, JoinConfig, JoinTimeouts, PreflightCheck, TokenSpec,
};
use kubeadm::hub::{self, JoinConfiguration};
use secret::Secret;

const KIND: &str = "JoinConfiguration";
/// Where kubeadm puts the certificate of the cluster unless a file says otherwise.
const CA_CERTIFICATE: &str = objects::kubernetes_paths::CA_CERTIFICATE;

/// A JoinConfig, and what it does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedJoin {
    /// The document. Its version of Kubernetes is the cluster's unless the caller sets one.
    pub document: JoinConfig,
    /// The directory of a worker's patches. Those of its kubelet belong into the document: the caller reads them.
    pub worker_patches: Option<String>,
    /// What of kubeadm's document it does not hold.
    pub report: ImportReport,
}

/// What kubeadm's document means.
pub fn join_config(given: JoinConfiguration) -> ImportedJoin {
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
    let ca = non_empty(ca_cert_path).filter(|path| path != CA_CERTIFICATE);
    report.unsupported_if_set(format!("{KIND}.caCertPath"), ca);
    let mut control_plane = control_plane.map(|given| of_control_plane(given, &mut report));
    let joining = Joining::of(&control_plane);
    let node = node_settings(KIND, node_registration, &mut report);
    let NodeSettings { name, runtime_socket, taints, labels, addresses, mut tolerated_checks, image_pull } = node;
    if joining == Joining::ControlPlane && taints.as_ref().is_some_and(Vec::is_empty) {
        let why = "a JoinConfig cannot make a control plane node without a taint; remove the taint later";
        report.refused(format!("{KIND}.nodeRegistration.taints"), "[]", why);
    }
    if tolerates_every_check(&skip_phases, joining, &mut report) {
        tolerated_checks = vec![PreflightCheck::All];
    }
    let directory = patches.and_then(|hub::Patches { directory }| non_empty(directory));
    let worker_patches = match &mut control_plane {
        Some(spec) => {
            spec.patches = directory;
            None
        }
        None => directory,
    };
    let (timeout, timeouts) = join_timeouts(timeouts, joining, &mut report);
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
            endpoints: non_empty(api_server_endpoint).into_iter().collect(),
            token: token.filter(is_said),
            ca_pins: ca_cert_hashes,
            unsafe_without_ca_pins: unsafe_skip_ca_verification.unwrap_or_default(),
            ..TokenSpec::default()
        }
    };
    let by_file = |hub::FileDiscovery { kube_config_path }| {
        let path = non_empty(kube_config_path)?;
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
        api_server_port: api_server_port(&format!("{KIND}.controlPlane.localAPIEndpoint.bindPort"), bind_port, report),
        ..ControlPlaneSpec::default()
    }
}

/// Reports skipped phases; whether that of the preflight checks is one of them.
fn tolerates_every_check(phases: &[String], joining: Joining, report: &mut ImportReport) -> bool {
    let here = |phase: &str| format!("{KIND}.skipPhases[{phase}]");
    let SkippedJoinPhases { preflight, without_effect, refused } = SkippedJoinPhases::read(phases, joining);
    if preflight {
        report.note(here("preflight"), "is set by spec.toleratedChecks");
    }
    for phase in without_effect {
        report.note(here(&phase), "has no effect: a worker has no such phase");
    }
    for refusal in refused {
        report.refused(here(&refusal.phase), &refusal.phase, refusal.why);
    }
    preflight
}

/// How long a join waits: for discovery, and for the rest.
fn join_timeouts(
    given: Option<hub::Timeouts>,
    joining: Joining,
    report: &mut ImportReport,
) -> (Option<String>, JoinTimeouts) {
    let UnusualTimeouts { mut control_plane, kubelet, tls_bootstrap, discovery } =
        UnusualTimeouts::of(KIND, given, report);
    if joining == Joining::Worker && control_plane.take().is_some() {
        let here = format!("{KIND}.timeouts.controlPlaneComponentHealthCheck");
        report.note(here, "has no effect: a worker has no control plane");
    }
    (discovery, JoinTimeouts { kubelet, certificate: tls_bootstrap, control_plane, etcd: None })
}
