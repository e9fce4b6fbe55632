//! The InitConfig that flags mean: those of the command line, or those of kubeadm's files and the few beside them.
use super::arguments::{CertificateFlags, ClusterFlags, Init};
use crate::{
    command::{
        certs::key,
        configuration_file,
        kubeadm_errors::{no_phase_is_refused, tolerated_checks},
        small_file,
    },
    command_error::CommandError,
    context::silent_machine,
};
use documents::v1alpha1::{ApiServer, ClusterPart, InitConfig, InitTokenSpec};
use engine::outcome::chain;
use host::{Inspect, linux::input::Care};
use kubeadm::hub::Documents;
use kubeadm_import::{
    ImportedInit, init_config,
    init_phases::{SkippedInitPhases, remove_settings_without_effect},
    kubernetes_version,
    values::{endpoint_with_port, node_name, non_empty, own_address, socket_path},
};
use secret::Secret;
use std::{collections::BTreeMap, path::Path, time::Duration};

/// How long kubeadm may take to print its version.
const VERSION: Duration = Duration::from_secs(60);

/// What the flags mean. Only the token that nobody has given is missing.
pub(super) fn of(asked: &Init, root: &Path) -> Result<InitConfig, CommandError> {
    let mut document = match &asked.config {
        Some(name) => of_file(name)?,
        None => of_flags(&asked.cluster)?,
    };
    // It has an effect with `--upload-certs` only, as with kubeadm.
    let configured_key = document.certificate_key.take();
    document.node_name = node_name(asked.node.node_name.clone()).or(document.node_name);
    if let Some(socket) = non_empty(asked.node.cri_socket.clone()) {
        document.runtime_socket = socket_path(&socket);
    }
    if let Some(directory) = non_empty(asked.node.patches.clone()) {
        document.patches = Some(absolute("--patches", &directory)?);
    }
    for check in tolerated_checks(&asked.node.ignore_preflight_errors)? {
        if !document.tolerated_checks.contains(&check) {
            document.tolerated_checks.push(check);
        }
    }
    let skipped = SkippedInitPhases::read(&asked.node.skip_phases);
    no_phase_is_refused(&skipped.refused)?;
    skipped.apply(&mut document);
    if asked.config.is_some() {
        leave_out_skipped(&mut document);
    }
    document.certificate_key = match asked.certificates.upload_certs && !skipped.upload_certs {
        true => Some(certificate_key(&asked.certificates, configured_key.as_ref())?),
        false => no_certificate_key(&asked.certificates, configured_key.as_ref())?,
    };
    document.control_plane_endpoint =
        document.control_plane_endpoint.map(|host| endpoint_with_port(&host, document.api_server_port));
    document.kubernetes_version = version(&document.kubernetes_version, root)?;
    Ok(document)
}

/// `--config`: what files of kubeadm mean. A field that an InitConfig has no place for is refused by its name.
fn of_file(name: &str) -> Result<InitConfig, CommandError> {
    let read = configuration_file::read_all(name)?;
    let Documents { init, cluster, join, .. } = read.documents;
    if init.is_none() && cluster.is_none() {
        let found = if join.is_some() { ", but a JoinConfiguration: run `machineadm join`" } else { "" };
        let text = format!("--config has neither an InitConfiguration nor a ClusterConfiguration{found}");
        return Err(CommandError::invalid(text));
    }
    if init.as_ref().is_some_and(|init| init.certificate_key.is_some()) {
        small_file::warn_if_others_read("--config", name, "the certificate key");
    }
    let ImportedInit { document, report } = init_config(init, cluster, &read.component_configs);
    report.refuse_unsupported()?;
    Ok(document)
}

/// What a file says of a part that is skipped has no effect, as with kubeadm.
fn leave_out_skipped(document: &mut InitConfig) {
    for part in remove_settings_without_effect(document) {
        match part {
            ClusterPart::BootstrapToken => {
                warn!("bootstrapTokens of --config have no effect: the phase bootstrap-token is skipped");
            }
            ClusterPart::KubeProxy => {
                warn!(
                    "the KubeProxyConfiguration of --config has no effect: the cluster is created without kube-proxy"
                );
            }
            ClusterPart::CoreDns => {}
        }
    }
}

fn of_flags(flags: &ClusterFlags) -> Result<InitConfig, CommandError> {
    let (bootstrap_token, without) = token(flags)?;
    let all = |texts: &[String]| texts.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>();
    Ok(InitConfig {
        kubernetes_version: flags.kubernetes_version.clone().unwrap_or_default(),
        control_plane_endpoint: non_empty(flags.control_plane_endpoint.clone()),
        advertise_address: own_address(flags.apiserver_advertise_address.clone()),
        pod_subnets: all(&flags.pod_network_cidr),
        service_subnets: all(&flags.service_cidr),
        bootstrap_token,
        without,
        dns_domain: non_empty(flags.service_dns_domain.clone()),
        api_server_port: flags.apiserver_bind_port,
        certificates_directory: non_empty(flags.cert_dir.clone())
            .map(|path| absolute("--cert-dir", &path))
            .transpose()?,
        image_repository: non_empty(flags.image_repository.clone()),
        feature_gates: feature_gates(&flags.feature_gates)?,
        api_server: ApiServer { cert_sans: all(&flags.apiserver_cert_extra_sans), ..ApiServer::default() },
        ..InitConfig::default()
    })
}

/// The token of the flags; an empty one is none, as the specification has it.
fn token(flags: &ClusterFlags) -> Result<(Option<InitTokenSpec>, Vec<ClusterPart>), CommandError> {
    let token = match &flags.token_file {
        Some(name) => {
            let text = small_file::text(name, Care::Applying)?;
            small_file::warn_if_others_read("--token-file", name, "the token");
            match text.trim_end() {
                "" => return Err(CommandError::invalid("--token-file is empty: write a token into it")),
                text => Some(Secret::new(text.to_owned())),
            }
        }
        None => flags.token.clone().map(Secret::new),
    };
    if token.as_ref().is_some_and(|token| token.expose().is_empty()) {
        return match flags.token_ttl {
            None => Ok((None, vec![ClusterPart::BootstrapToken])),
            Some(_) => Err(CommandError::usage("--token-ttl has no effect: --token \"\" creates no token")),
        };
    }
    let is_said = token.is_some() || flags.token_ttl.is_some();
    Ok((is_said.then(|| InitTokenSpec { token, ttl: flags.token_ttl.clone() }), Vec::new()))
}

/// The key of an upload, generated if none is given.
fn certificate_key(
    flags: &CertificateFlags,
    configured: Option<&Secret<String>>,
) -> Result<Secret<String>, CommandError> {
    let given = key::given(&flags.key, configured)?;
    if flags.skip_certificate_key_print && given.is_none() {
        let text =
            "--skip-certificate-key-print requires a certificate key: a generated key that is not printed is lost";
        return Err(CommandError::usage(text).with_remedy("pass --certificate-key-file, or certificateKey in --config"));
    }
    let key = given.map_or_else(key::generated, Ok)?;
    Ok(Secret::new(key.expose_digits().to_string()))
}

/// Without an upload a key has no effect, which is not passed over in silence.
fn no_certificate_key(
    flags: &CertificateFlags,
    configured: Option<&Secret<String>>,
) -> Result<Option<Secret<String>>, CommandError> {
    if flags.key.certificate_key.is_some() || flags.key.certificate_key_file.is_some() {
        return Err(CommandError::usage(
            "a certificate key requires --upload-certs, and that its phase is not skipped",
        ));
    }
    if configured.is_some() {
        warn!("certificateKey of --config has no effect: --upload-certs is not given, or its phase is skipped");
    }
    Ok(None)
}

fn feature_gates(given: &[String]) -> Result<BTreeMap<String, bool>, CommandError> {
    let (mut gates, mut problems) = (BTreeMap::new(), Vec::new());
    for gate in given.iter().filter(|gate| !gate.is_empty()) {
        match gate.split_once('=').map(|(name, value)| (name, value.parse())) {
            Some((name, Ok(value))) => _ = gates.insert(name.to_owned(), value),
            _ => problems.push(format!("--feature-gates {gate}: must be NAME=true or NAME=false")),
        }
    }
    if problems.is_empty() { Ok(gates) } else { Err(CommandError::invalid_input(problems)) }
}

/// A document names a directory by its absolute path, so that a run after a reboot finds it.
fn absolute(flag: &str, path: &str) -> Result<String, CommandError> {
    let path = std::path::absolute(path).ok().map(|path| path.components().collect::<std::path::PathBuf>());
    path.and_then(|path| path.to_str().map(str::to_owned))
        .ok_or_else(|| CommandError::invalid(format!("{flag} must be a path in UTF-8")))
}

/// The version of Kubernetes: the one that was given, else that of the machine's kubeadm. The internet is not asked.
fn version(given: &str, root: &Path) -> Result<String, CommandError> {
    if kubernetes_version::is_label(given) {
        let text = format!(
            "the Kubernetes version {} is a label, which kubeadm looks up on the internet",
            objects::one_line(given)
        );
        return Err(CommandError::invalid(text)
            .with_remedy("name a version such as v1.36.4, or none for the version of this machine's kubeadm"));
    }
    if !given.is_empty() {
        return Ok(given.to_owned());
    }
    let remedy = "install kubeadm, or pass --kubernetes-version";
    let machine = silent_machine(root)?;
    match machine.output(&["kubeadm", "version", "-o", "short"], VERSION) {
        Ok(Some(text)) => Ok(text.trim().to_owned()),
        Ok(None) => {
            Err(CommandError::invalid("the Kubernetes version is not known: kubeadm is not installed")
                .with_remedy(remedy))
        }
        Err(error) => {
            let text = format!("kubeadm does not print its version: {}", objects::one_line(&chain(&error)));
            Err(CommandError::invalid(text).with_remedy(remedy))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_on_or_off() {
        let gates = |words: &[&str]| feature_gates(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let wanted = [("A".to_owned(), true), ("B".to_owned(), false)].into_iter().collect();
        assert_eq!(gates(&["A=true", "B=false", ""]), Ok(wanted));
        let error = gates(&["A", "B=on"]).unwrap_err().to_string();
        assert!(error.contains("--feature-gates A:") && error.contains("--feature-gates B=on:"), "{error}");
    }
}
