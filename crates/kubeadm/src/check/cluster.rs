//! What holds for the whole cluster.
use super::{
    At,
    form::{
        is_absolute, is_certificate_name, is_dns_name, is_endpoint, is_https, is_image_repository,
        is_kubernetes_version,
    },
    subnets::subnets,
};
use crate::{
    gates,
    hub::{ApiServer, Arg, ClusterConfiguration, Etcd, HostPathMount},
    version::KubernetesVersion,
};

const ALGORITHMS: &[&str] = &["RSA-2048", "RSA-3072", "RSA-4096", "ECDSA-P256", "ECDSA-P384"];
const PATH_TYPES: &[&str] =
    &["BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
const MERGE_METHODS: &[&str] = &["append", "prepend"];

pub(super) fn cluster(cluster: &ClusterConfiguration, minor: Option<u32>, at: &mut At<'_>) {
    let mut in_networking = at.at("networking");
    subnets(cluster, &mut in_networking);
    let domain = "must be a DNS domain such as cluster.local";
    in_networking.check("dnsDomain", cluster.networking.dns_domain.as_deref(), is_dns_name, domain);
    version(cluster.kubernetes_version.as_deref(), minor, at);
    let endpoint = "must be a name in lower case or an address, with its port: cp.example.com:6443";
    at.check("controlPlaneEndpoint", cluster.control_plane_endpoint.as_deref(), is_endpoint, endpoint);
    let repository = "must be the name of a registry";
    at.check("imageRepository", cluster.image_repository.as_deref(), is_image_repository, repository);
    at.check("certificatesDir", cluster.certificates_dir.as_deref(), is_absolute, "must be an absolute path");
    let algorithm = cluster.encryption_algorithm.as_deref();
    let known = |word: &str| ALGORITHMS.contains(&word);
    at.check("encryptionAlgorithm", algorithm, known, "must be RSA-2048, RSA-3072, RSA-4096, ECDSA-P256 or ECDSA-P384");
    let dns = |word: &str| matches!(word, "CoreDNS" | "kube-dns");
    at.at("dns").check("type", cluster.dns.kind.as_deref(), dns, "must be CoreDNS");
    for name in cluster.feature_gates.keys() {
        feature_gate(name, minor, &mut at.at(&format!("featureGates.{name}")));
    }
    api_server(&cluster.api_server, &mut at.at("apiServer"));
    for (name, component) in [("controllerManager", &cluster.controller_manager), ("scheduler", &cluster.scheduler)] {
        let mut at = at.at(name);
        arguments(&component.extra_args, &mut at.at("extraArgs"));
        volumes(&component.extra_volumes, &mut at);
    }
    etcd(&cluster.etcd, &mut at.at("etcd"));
}

/// kubeadm goes back one minor and no further.
fn version(version: Option<&str>, minor: Option<u32>, at: &mut At<'_>) {
    at.check("kubernetesVersion", version, is_kubernetes_version, "must be a version such as v1.36.4");
    let own = version.and_then(|version| version.parse::<KubernetesVersion>().ok());
    if own.zip(minor).is_some_and(|(version, minor)| minor.saturating_sub(version.effective_minor()) > 1) {
        at.at("kubernetesVersion").refuse("is too old for this kubeadm: at most one minor version older is supported");
    }
}

fn feature_gate(name: &str, minor: Option<u32>, at: &mut At<'_>) {
    match (gates::named(name), minor) {
        (None, _) => at.refuse("unknown feature gate: no kubeadm from 1.13 to 1.37 supports it"),
        (Some(gate), Some(minor)) if !gates::is_known(name, minor) => {
            let last = gate.last.map_or_else(String::new, |last| format!(" to 1.{last}"));
            at.refuse(&format!(
                "this kubeadm does not support the feature gate; supported from 1.{}{last}",
                gate.first
            ));
        }
        _ => {}
    }
}

fn api_server(api_server: &ApiServer, at: &mut At<'_>) {
    let names = "must be an address, a DNS name, or one that starts with *.";
    at.check_each("certSANs", &api_server.cert_sans, is_certificate_name, names);
    arguments(&api_server.extra_args, &mut at.at("extraArgs"));
    volumes(&api_server.extra_volumes, at);
}

pub(super) fn arguments(arguments: &[Arg], at: &mut At<'_>) {
    for Arg { name, merge_method, .. } in arguments {
        if name.is_empty() {
            at.refuse("an argument requires a name");
        }
        let known = |word: &str| MERGE_METHODS.contains(&word);
        at.check(&format!("{name}.mergeMethod"), merge_method.as_deref(), known, "must be append or prepend");
    }
}

fn volumes(volumes: &[HostPathMount], at: &mut At<'_>) {
    for (index, volume) in volumes.iter().enumerate() {
        let known = |word: &str| PATH_TYPES.contains(&word);
        let path_type = volume.path_type.as_deref();
        at.at(&format!("extraVolumes[{index}]")).advise("pathType", path_type, known, "must be a type of a host path");
    }
}

fn etcd(etcd: &Etcd, at: &mut At<'_>) {
    if etcd.local.is_some() && etcd.external.is_some() {
        at.refuse("local and external are mutually exclusive");
    }
    if let Some(local) = &etcd.local {
        let mut at = at.at("local");
        let names = "must be an address, a DNS name, or one that starts with *.";
        at.check("dataDir", local.data_dir.as_deref(), is_absolute, "must be an absolute path");
        at.check_each("serverCertSANs", &local.server_cert_sans, is_certificate_name, names);
        at.check_each("peerCertSANs", &local.peer_cert_sans, is_certificate_name, names);
        arguments(&local.extra_args, &mut at.at("extraArgs"));
    }
    let Some(external) = &etcd.external else { return };
    let mut at = at.at("external");
    let files = [&external.ca_file, &external.cert_file, &external.key_file];
    let secured = files.iter().any(|file| file.as_ref().is_some_and(|file| !file.is_empty()));
    let is_url = |text: &str| is_https(text) || (!secured && text.starts_with("http://"));
    at.check_each(
        "endpoints",
        &external.endpoints,
        is_url,
        "must be an https address (http only without certificates)",
    );
    if external.endpoints.is_empty() {
        at.at("endpoints").refuse("at least one is required");
    }
    let is_set = |file: &Option<String>| file.as_ref().is_some_and(|file| !file.is_empty());
    if is_set(&external.cert_file) != is_set(&external.key_file) {
        at.refuse("certFile and keyFile must be set together");
    }
    for (name, file) in ["caFile", "certFile", "keyFile"].into_iter().zip(files) {
        at.check(name, file.as_deref(), is_absolute, "must be an absolute path");
    }
}
