//! `machineadm join`: kubeadm's flags become a JoinConfig, which runs like any other configuration.
use super::{
    bootstrap,
    certs::{arguments::KeyOption, key},
    configuration_file,
    discover::arguments::DiscoverySource,
    kubeadm_errors::{no_phase_is_refused, tolerated_checks},
    kubelet_patches, plan, small_file,
    tls_bootstrap_token::TlsBootstrapToken,
};
use crate::{
    cli::{Output, RootOption},
    command_error::CommandError,
    context::without_errors,
    show,
};
use clap::{ArgAction, Args};
use discovery::method::{Flags, Purpose, choose};
use documents::{
    Source,
    v1alpha1::{ControlPlaneSpec, DiscoverySpec, FileSpec, JoinConfig, PreflightCheck, TokenSpec},
};
use host::contract::Exit;
use kubeadm_import::{
    ImportedJoin, join_config,
    join_phases::{Joining, SkippedJoinPhases},
    values::{node_name, non_empty, own_address, socket_path},
};
use secret::Secret;
use std::path::Path;
use zeroize::Zeroizing;

#[derive(Debug, Args)]
pub(crate) struct Join {
    #[command(flatten)]
    pub(crate) source: DiscoverySource,
    #[command(flatten)]
    pub(crate) tls: TlsBootstrapToken,
    /// Make this machine a control plane node
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) control_plane: bool,
    #[command(flatten)]
    pub(crate) key: KeyOption,
    /// IP address of this machine's API server and etcd, with --control-plane. Default: the address of the default route
    #[arg(long, value_name = "ADDRESS", requires = "control_plane")]
    pub(crate) apiserver_advertise_address: Option<String>,
    /// Port of this machine's API server, with --control-plane [default: 6443]
    #[arg(long, value_name = "PORT", requires = "control_plane")]
    pub(crate) apiserver_bind_port: Option<u16>,
    /// Name of the node. Default: the host name
    #[arg(long, value_name = "NAME")]
    pub(crate) node_name: Option<String>,
    /// Socket of the container runtime. Default: /run/containerd/containerd.sock
    #[arg(long, value_name = "SOCKET")]
    pub(crate) cri_socket: Option<String>,
    /// Preflight checks that may fail, by the names of machineadm or of kubeadm, such as swap or NumCPU; `all` is every
    /// one; may be repeated or a list with commas
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    pub(crate) ignore_preflight_errors: Vec<String>,
    /// Phases of kubeadm to skip: `preflight`; may be repeated or a list with commas
    #[arg(long, value_name = "PHASE", value_delimiter = ',')]
    pub(crate) skip_phases: Vec<String>,
    /// Directory of kubeadm's patches; those of the kubelet's configuration apply to a worker, all with --control-plane
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) patches: Option<String>,
    /// Read a JoinConfiguration of kubeadm, in any API version; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// Give up discovery after this time, such as 5m or 90s [default: 5m]
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) dry_run: bool,
    /// Print the JoinConfig document that these flags mean, with its token, and change nothing
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) print_config: bool,
    /// Output format of the outcome
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

pub(crate) fn run(asked: &Join, root: &Path) -> Result<Exit, CommandError> {
    one_standard_input(asked)?;
    let text = documents::write(None, &document(asked)?);
    let bytes = Zeroizing::new(text.expose().clone().into_bytes());
    let sources = vec![Source { name: "join".to_owned(), bytes }];
    if asked.print_config {
        without_errors(documents::read(sources))?;
        show::print(text.expose().clone())?;
        return Ok(Exit::Done);
    }
    match asked.dry_run {
        true => plan::of_sources(sources, asked.output, root),
        false => bootstrap::of_sources(sources, asked.output, root),
    }
}

/// Standard input has one content.
fn one_standard_input(asked: &Join) -> Result<(), CommandError> {
    small_file::one_standard_input(&[
        ("--token-file", &asked.source.token_file),
        ("--tls-bootstrap-token-file", &asked.tls.file),
        ("--certificate-key-file", &asked.key.certificate_key_file),
        ("--discovery-file", &asked.source.discovery_file),
        ("--config", &asked.config),
    ])
}

/// What the flags mean: those of the command line, or those of a JoinConfiguration.
fn document(asked: &Join) -> Result<JoinConfig, CommandError> {
    let flags = asked.source.flags(Purpose::Join)?;
    let tls = asked.tls.read()?;
    let mut document = match &asked.config {
        Some(name) => {
            if has_discovery(&flags) {
                return Err(CommandError::usage(
                    "--config excludes an ENDPOINT, --discovery-file, tokens and CA pins: it holds them",
                ));
            }
            of_file(name)?
        }
        None => of_flags(&flags, tls.clone())?,
    };
    document.tls_bootstrap_token = tls.or(document.tls_bootstrap_token);
    document.discovery.timeout = asked.timeout.clone().or(document.discovery.timeout);
    document.node_name = node_name(asked.node_name.clone()).or(document.node_name);
    if let Some(socket) = non_empty(asked.cri_socket.clone()) {
        document.runtime_socket = socket_path(&socket);
    }
    for check in tolerated_checks(&asked.ignore_preflight_errors)? {
        if !document.tolerated_checks.contains(&check) {
            document.tolerated_checks.push(check);
        }
    }
    document.control_plane = control_plane(asked, document.control_plane)?;
    let skipped = SkippedJoinPhases::read(&asked.skip_phases, Joining::of(&document.control_plane));
    no_phase_is_refused(&skipped.refused)?;
    if skipped.preflight {
        document.tolerated_checks = vec![PreflightCheck::All];
    }
    match (non_empty(asked.patches.clone()), &mut document.control_plane) {
        (Some(directory), Some(spec)) => spec.patches = Some(absolute("--patches", &directory)?),
        (Some(directory), None) => document.kubelet = kubelet_patches::read(&directory)?,
        (None, _) => {}
    }
    Ok(document)
}

/// What the flags and a JoinConfiguration say of a control plane node; a certificate key makes no worker one.
fn control_plane(asked: &Join, configured: Option<ControlPlaneSpec>) -> Result<Option<ControlPlaneSpec>, CommandError> {
    let is_wanted = asked.control_plane || configured.is_some();
    let given = configured.as_ref().and_then(|spec| spec.certificate_key.as_ref());
    if let (Some(name), Some(_)) = (&asked.config, given) {
        small_file::warn_if_others_read("--config", name, "the certificate key");
    }
    let key = key::given(&asked.key, given)?;
    if !is_wanted {
        let given = [
            ("a certificate key", key.is_some()),
            ("--apiserver-advertise-address", asked.apiserver_advertise_address.is_some()),
            ("--apiserver-bind-port", asked.apiserver_bind_port.is_some()),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((what, _)) => Err(CommandError::usage(format!(
                "{what} is for control plane nodes: pass --control-plane, or leave it out"
            ))),
            None => Ok(None),
        };
    }
    let spec = configured.unwrap_or_default();
    let digits = key.map(|key| Secret::new(key.expose_digits().to_string()));
    Ok(Some(ControlPlaneSpec {
        certificate_key: digits.or(spec.certificate_key),
        advertise_address: own_address(asked.apiserver_advertise_address.clone()).or(spec.advertise_address),
        api_server_port: asked.apiserver_bind_port.or(spec.api_server_port),
        ..spec
    }))
}

/// `--config`: what a JoinConfiguration means. A field that a JoinConfig has no place for is refused by its name.
fn of_file(name: &str) -> Result<JoinConfig, CommandError> {
    let join = configuration_file::read(Some(name))?.join;
    let join = join.ok_or_else(|| CommandError::invalid("--config has no JoinConfiguration"))?;
    let ImportedJoin { mut document, worker_patches, report } = join_config(join);
    report.refuse_unsupported()?;
    if let Some(directory) = worker_patches {
        document.kubelet = kubelet_patches::read(&directory)?;
    }
    Ok(document)
}

/// A document names a file by its absolute path, so that a run after a reboot finds it.
fn absolute(flag: &str, path: &str) -> Result<String, CommandError> {
    let path = std::path::absolute(path).ok().and_then(|path| path.to_str().map(str::to_owned));
    path.ok_or_else(|| CommandError::invalid(format!("{flag} must be a path in UTF-8")))
}

/// Whether any flag says how to discover. One that is not used, such as a CA pin, must not pass in silence.
const fn has_discovery(flags: &Flags) -> bool {
    let Flags { purpose: _, endpoints, token, token_file, discovery_token, pins, skip_ca_verification, file, .. } =
        flags;
    let has_token = token.is_some() || token_file.is_some() || discovery_token.is_some();
    let has_trust = !pins.is_empty() || *skip_ca_verification || flags.accept_untrusted_certificate;
    !endpoints.is_empty() || file.is_some() || has_token || has_trust
}

/// Flags that exclude each other, and those that are missing, are named as flags before they become a document.
fn of_flags(flags: &Flags, tls: Option<Secret<String>>) -> Result<JoinConfig, CommandError> {
    choose(flags).map_err(|problems| CommandError::invalid_input(problems.iter().map(ToString::to_string)))?;
    let token = flags.token.clone().or_else(|| flags.token_file.clone());
    let discovery = match &flags.file {
        Some(file) => DiscoverySpec { file: Some(file_spec(file, flags)?), ..DiscoverySpec::default() },
        None => DiscoverySpec {
            token: Some(TokenSpec {
                endpoints: flags.endpoints.clone(),
                token: flags.discovery_token.clone().or_else(|| token.clone()),
                ca_pins: flags.pins.clone(),
                unsafe_without_ca_pins: flags.skip_ca_verification,
                ..TokenSpec::default()
            }),
            ..DiscoverySpec::default()
        },
    };
    if flags.file.is_some() && tls.is_none() {
        return Err(CommandError::usage(
            "--discovery-file requires --tls-bootstrap-token-file or --tls-bootstrap-token: the file has no credentials",
        ));
    }
    // Beside another --discovery-token, --token is for the certificate.
    let tls_bootstrap_token = token.filter(|_| flags.discovery_token.is_some());
    Ok(JoinConfig { discovery, tls_bootstrap_token, ..JoinConfig::default() })
}

/// Where a document finds the kubeconfig.
fn file_spec(file: &str, flags: &Flags) -> Result<FileSpec, CommandError> {
    let location = match file {
        "-" => {
            return Err(CommandError::usage(
                "--discovery-file - cannot be read again after a reboot: name a file or an https URL",
            ));
        }
        file if file.contains("://") => file.to_owned(),
        file => absolute("--discovery-file", file)?,
    };
    Ok(FileSpec { location: Secret::new(location), accept_untrusted_certificate: flags.accept_untrusted_certificate })
}
