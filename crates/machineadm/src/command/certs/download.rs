//! `machineadm certs download`: from the Secret to this machine's files, with a bootstrap token and nothing else.
use super::{arguments::Download as Asked, failures::CopyFailure, key, layout, warn_of_skew};
use crate::{
    command::{api, configuration_file, discover, duration, run::lock, small_file, token::arguments::Connection},
    command_error::CommandError,
    context::silent_machine,
    show,
};
use certs::CertificateKey;
use cluster::{
    ApiServer, Kubeconfig,
    kubeadm_certs::{Download, Downloaded, Layout},
};
use discovery::{
    BootstrapToken,
    certificate::CaBundle,
    given_tokens::tls_bootstrap_token,
    method::{Flags, Patience, Purpose},
};
use engine::certificate_files::{Existing, Placement};
use host::contract::Exit;
use kubeadm::hub::{Documents, JoinConfiguration};
use serde_json::json;
use std::path::{Path, PathBuf};

pub(super) fn run(asked: &Asked, connection: &Connection, root: &Path) -> Result<Exit, CommandError> {
    let patience = Patience::within(duration("--timeout", &asked.timeout)?);
    small_file::one_standard_input(&[
        ("--certificate-key-file", &asked.key.certificate_key_file),
        ("--token-file", &asked.source.token_file),
        ("--tls-bootstrap-token-file", &asked.tls.file),
        ("--discovery-file", &asked.source.discovery_file),
        ("--config", &asked.config),
    ])?;
    let documents = configuration_file::read(asked.config.as_deref())?;
    let key = certificate_key(asked, &documents)?;
    let directory = layout::directory(asked.cert_dir.as_ref())?;
    let layout = layout::of_documents(&documents)?;
    let existing = if asked.force { Existing::Replaced } else { Existing::Refused };
    let mut machine = silent_machine(root)?;
    let _lock = lock(&machine, "machineadm certs download")?;
    let Cluster { server, roots } = cluster(asked, connection, &documents, root, patience)?;
    let downloaded = server.download_certs(&Download { key: &key, roots: &roots, layout });
    let Downloaded { layout, set, skew } = downloaded.map_err(|error| CopyFailure::of_download(&error))?;
    warn_of_skew(skew);
    let layout = Layout { directory: directory.unwrap_or(layout.directory), ..layout };
    let placement = Placement::of(&machine, &set, &layout.directory, existing)?;
    let placement = placement.map_err(|obstacles| CopyFailure::of_obstacles(&obstacles))?;
    placement.write(&mut machine)?;
    print(&placement, &layout.directory, asked)?;
    Ok(Exit::Done)
}

fn certificate_key(asked: &Asked, documents: &Documents) -> Result<CertificateKey, CommandError> {
    let control_plane = documents.join.as_ref().and_then(|join| join.control_plane.as_ref());
    let configured = control_plane.and_then(|control_plane| control_plane.certificate_key.as_ref());
    key::given(&asked.key, configured)?.ok_or_else(|| {
        CommandError::usage("a certificate key is required: pass --certificate-key-file, --certificate-key, or certificateKey in --config")
    })
}

/// A cluster that can be read with a bootstrap token, and the CA certificates that it is trusted by.
struct Cluster {
    server: ApiServer,
    roots: CaBundle,
}

/// The cluster of a kubeconfig, of discovery now, or the saved one.
fn cluster(
    asked: &Asked,
    connection: &Connection,
    documents: &Documents,
    root: &Path,
    patience: Patience,
) -> Result<Cluster, CommandError> {
    let flags = flags(asked, documents)?;
    let is_discovered = !flags.endpoints.is_empty() || flags.file.is_some();
    if let Some(file) = &connection.kubeconfig {
        if is_discovered || has_token(asked, documents, &flags) {
            return Err(CommandError::usage("--kubeconfig excludes discovery and tokens: it holds both"));
        }
        return limited(api::kubeconfig(connection)?, file);
    }
    let token = token(asked, documents, &flags)?;
    let cached = match is_discovered {
        true => discover::discovered(&flags, patience)?,
        false => discover::saved(root)?.ok_or_else(|| {
            CommandError::usage(
                "the cluster is not known: name an ENDPOINT or --discovery-file, pass --config, or save the cluster with \
                 `machineadm discover --store` first",
            )
        })?,
    };
    let kubeconfig = Kubeconfig::with_token(cached.info(), &token).map_err(|error| api::failed(&error))?;
    Ok(Cluster { server: api::connect(kubeconfig)?, roots: cached.info().roots().clone() })
}

/// Whether any token is given beside a kubeconfig, which would be ignored.
fn has_token(asked: &Asked, documents: &Documents, flags: &Flags) -> bool {
    let configured = documents.join.as_ref().is_some_and(|join| join.discovery.tls_bootstrap_token.is_some());
    let for_tls = asked.tls.is_given() || configured;
    for_tls || flags.token.is_some() || flags.token_file.is_some() || flags.discovery_token.is_some()
}

/// A kubeconfig is used only if it holds a bootstrap token: a joining machine has no other identity.
fn limited(kubeconfig: Kubeconfig, file: &Path) -> Result<Cluster, CommandError> {
    let bearer = kubeconfig.authorization.as_ref().and_then(|header| header.expose().strip_prefix("Bearer "));
    let is_token = bearer.is_some_and(|text| text.parse::<BootstrapToken>().is_ok());
    if !is_token || kubeconfig.identity.is_some() || kubeconfig.exec.is_some() {
        let text = format!(
            "the credentials in {} are not a bootstrap token: certificates are downloaded only with one",
            file.display()
        );
        return Err(CommandError::invalid(text)
            .with_remedy("pass an ENDPOINT and --token-file, or a kubeconfig with a bootstrap token"));
    }
    // Without CA certificates of its own, those of the system verify the API server.
    let roots = kubeconfig.authorities.as_deref().map_or_else(|| Ok(CaBundle::default()), CaBundle::from_der);
    let roots = roots.map_err(|error| CommandError::invalid(format!("{}: {error}", file.display())))?;
    Ok(Cluster { server: api::connect(kubeconfig)?, roots })
}

/// How the cluster is discovered: by flags, or by a JoinConfiguration.
fn flags(asked: &Asked, documents: &Documents) -> Result<Flags, CommandError> {
    let given = asked.source.flags(Purpose::Join)?;
    let Some(join) = &documents.join else { return Ok(given) };
    let replaced = [
        (!given.endpoints.is_empty(), "ENDPOINT"),
        (given.file.is_some(), "--discovery-file"),
        (given.discovery_token.is_some(), "--discovery-token"),
        (!given.pins.is_empty(), "--discovery-token-ca-cert-hash"),
        (given.skip_ca_verification, "--discovery-token-unsafe-skip-ca-verification"),
    ];
    let replaced: Vec<_> = replaced.iter().filter(|(is_given, _)| *is_given).map(|(_, name)| *name).collect();
    if !replaced.is_empty() {
        let text = "--config has a JoinConfiguration, which determines discovery: remove";
        return Err(CommandError::usage(format!("{text} {}", replaced.join(", "))));
    }
    Ok(configured(join, given))
}

fn configured(join: &JoinConfiguration, given: Flags) -> Flags {
    let by_token = join.discovery.bootstrap_token.clone().unwrap_or_default();
    let file = join.discovery.file.as_ref().and_then(|file| file.kube_config_path.clone());
    Flags {
        endpoints: by_token.api_server_endpoint.into_iter().collect(),
        discovery_token: by_token.token,
        pins: by_token.ca_cert_hashes,
        skip_ca_verification: by_token.unsafe_skip_ca_verification.unwrap_or_default(),
        file,
        ..given
    }
}

/// The token that authenticates: the one for TLS bootstrap, else the one of discovery.
fn token(asked: &Asked, documents: &Documents, flags: &Flags) -> Result<BootstrapToken, CommandError> {
    let configured = documents.join.as_ref().and_then(|join| join.discovery.tls_bootstrap_token.clone());
    let tls = asked.tls.read()?.or(configured);
    let token = flags.token.as_ref().or(flags.token_file.as_ref()).or(flags.discovery_token.as_ref());
    let token = tls_bootstrap_token(tls.as_ref(), token);
    let token = token.map_err(|problems| CommandError::invalid_input(problems.iter().map(ToString::to_string)))?;
    token.ok_or_else(|| {
        CommandError::usage(
            "a bootstrap token is required: pass --token-file, or --tls-bootstrap-token-file with --discovery-file",
        )
    })
}

fn print(placement: &Placement, directory: &Path, asked: &Asked) -> Result<(), CommandError> {
    let files =
        placement.files().iter().map(|file| (&file.path, if file.is_written { "written" } else { "unchanged" }));
    match asked.output {
        None => show::print_text(&files.map(|(path, result)| format!("{path} {result}\n")).collect::<String>()),
        Some(output) => {
            let files: Vec<_> = files.map(|(path, result)| json!({"path": path, "result": result})).collect();
            show::machine_readable(&json!({"directory": PathBuf::from(directory), "files": files}), output)
        }
    }
}
