//! What init, join, reset and upgrade need.
use super::{
    At,
    cluster::arguments,
    form::{
        has_port, is_absolute, is_ca_hash, is_certificate_key, is_dns_name, is_endpoint, is_https,
        is_reachable_address, is_socket, is_token, is_token_group,
    },
};
use crate::hub::{
    ApiEndpoint, BootstrapTokenDiscovery, Discovery, InitConfiguration, JoinConfiguration, NodeRegistration,
    ResetConfiguration, UpgradeConfiguration,
};
use secret::Secret;

const TOKEN: &str = "must be a bootstrap token: 6 characters, a dot and 16 characters, lower-case letters or digits";
const KEY: &str = "must be 64 hexadecimal digits";
const ABSOLUTE: &str = "must be an absolute path";
const POLICY: &str = "must be Always, IfNotPresent or Never";
const UNMOUNT_FLAGS: &[&str] = &["MNT_FORCE", "MNT_DETACH", "MNT_EXPIRE", "UMOUNT_NOFOLLOW"];

pub(super) fn init(init: &InitConfiguration, at: &mut At<'_>) {
    for (index, token) in init.bootstrap_tokens.iter().enumerate() {
        let mut at = at.at(&format!("bootstrapTokens[{index}]"));
        at.check("token", expose(&token.token), is_token, TOKEN);
        if expose(&token.token) == Some("") {
            at.at("token").refuse(TOKEN);
        }
        let usage = |word: &str| matches!(word, "signing" | "authentication");
        at.check_each("usages", &token.usages, usage, "must be signing or authentication");
        let group = "must start with system:bootstrappers: and end with a lower-case letter or digit";
        at.check_each("groups", &token.groups, is_token_group, group);
        if token.ttl.is_some() && token.expires.is_some() {
            at.refuse("ttl and expires are mutually exclusive");
        }
    }
    node(&init.node_registration, &mut at.at("nodeRegistration"));
    endpoint(&init.local_api_endpoint, &mut at.at("localAPIEndpoint"));
    at.check("certificateKey", expose(&init.certificate_key), is_certificate_key, KEY);
}

pub(super) fn join(join: &JoinConfiguration, at: &mut At<'_>) {
    node(&join.node_registration, &mut at.at("nodeRegistration"));
    at.check("caCertPath", join.ca_cert_path.as_deref(), is_absolute, ABSOLUTE);
    discovery(&join.discovery, &mut at.at("discovery"));
    if let Some(control_plane) = &join.control_plane {
        let mut at = at.at("controlPlane");
        endpoint(&control_plane.local_api_endpoint, &mut at.at("localAPIEndpoint"));
        at.check("certificateKey", expose(&control_plane.certificate_key), is_certificate_key, KEY);
    }
}

fn discovery(discovery: &Discovery, at: &mut At<'_>) {
    match (&discovery.bootstrap_token, &discovery.file) {
        (None, None) => at.refuse("requires bootstrapToken or file"),
        (Some(_), Some(_)) => at.refuse("bootstrapToken and file are mutually exclusive"),
        (Some(by_token), None) => token_discovery(by_token, &mut at.at("bootstrapToken")),
        (None, Some(file)) => {
            let mut at = at.at("file");
            let is_place = |text: &str| is_https(text) || is_absolute(text) || text.starts_with("file:///");
            at.check(
                "kubeConfigPath",
                file.kube_config_path.as_deref(),
                is_place,
                "must be a path or an https address",
            );
            if file.kube_config_path.as_ref().is_none_or(String::is_empty) {
                at.at("kubeConfigPath").refuse("is missing");
            }
        }
    }
    at.check("tlsBootstrapToken", expose(&discovery.tls_bootstrap_token), is_token, TOKEN);
}

fn token_discovery(by_token: &BootstrapTokenDiscovery, at: &mut At<'_>) {
    at.check("token", expose(&by_token.token), is_token, TOKEN);
    if expose(&by_token.token).is_none_or(str::is_empty) {
        at.at("token").refuse("is missing");
    }
    let server = "must be a name or address with its port, such as cp.example.com:6443";
    at.check("apiServerEndpoint", by_token.api_server_endpoint.as_deref(), has_port, server);
    at.advise("apiServerEndpoint", by_token.api_server_endpoint.as_deref(), is_endpoint, server);
    if by_token.api_server_endpoint.as_ref().is_none_or(String::is_empty) {
        at.at("apiServerEndpoint").refuse("is missing");
    }
    for (index, hash) in by_token.ca_cert_hashes.iter().enumerate() {
        at.advise(
            &format!("caCertHashes[{index}]"),
            Some(hash),
            is_ca_hash,
            "must be sha256: and 64 hexadecimal digits",
        );
    }
    if by_token.ca_cert_hashes.is_empty() && by_token.unsafe_skip_ca_verification != Some(true) {
        at.refuse("needs caCertHashes, or unsafeSkipCAVerification: true");
    }
}

fn node(node: &NodeRegistration, at: &mut At<'_>) {
    let is_name = |text: &str| is_dns_name(&text.to_ascii_lowercase());
    at.check("name", node.name.as_deref(), is_name, "must be a DNS name");
    at.advise("criSocket", node.cri_socket.as_deref(), is_socket, "must be an absolute path or start with unix://");
    at.check("imagePullPolicy", node.image_pull_policy.as_deref(), is_policy, POLICY);
    ignored(&node.ignore_preflight_errors, at);
    arguments(&node.kubelet_extra_args, &mut at.at("kubeletExtraArgs"));
    for (index, taint) in node.taints.iter().flatten().enumerate() {
        let effect = |word: &str| matches!(word, "NoSchedule" | "PreferNoSchedule" | "NoExecute");
        let message = "must be NoSchedule, PreferNoSchedule or NoExecute";
        at.at(&format!("taints[{index}]")).advise("effect", taint.effect.as_deref(), effect, message);
    }
}

fn endpoint(endpoint: &ApiEndpoint, at: &mut At<'_>) {
    let address = endpoint.advertise_address.as_deref();
    at.check(
        "advertiseAddress",
        address,
        is_reachable_address,
        "must be an address of this machine, such as 192.168.0.10",
    );
    if endpoint.bind_port.is_some_and(|port| port != 0 && !(1..=65535).contains(&port)) {
        at.at("bindPort").refuse("must be from 1 to 65535");
    }
}

pub(super) fn reset(reset: &ResetConfiguration, at: &mut At<'_>) {
    at.check("certificatesDir", reset.certificates_dir.as_deref(), is_absolute, ABSOLUTE);
    at.advise("criSocket", reset.cri_socket.as_deref(), is_socket, "must be an absolute path or start with unix://");
    ignored(&reset.ignore_preflight_errors, at);
    let known = |word: &str| UNMOUNT_FLAGS.contains(&word);
    at.check_each(
        "unmountFlags",
        &reset.unmount_flags,
        known,
        "must be MNT_FORCE, MNT_DETACH, MNT_EXPIRE or UMOUNT_NOFOLLOW",
    );
}

pub(super) fn upgrade(upgrade: &UpgradeConfiguration, at: &mut At<'_>) {
    at.at("apply").check("imagePullPolicy", upgrade.apply.image_pull_policy.as_deref(), is_policy, POLICY);
    at.at("node").check("imagePullPolicy", upgrade.node.image_pull_policy.as_deref(), is_policy, POLICY);
    ignored(&upgrade.apply.ignore_preflight_errors, &mut at.at("apply"));
    ignored(&upgrade.node.ignore_preflight_errors, &mut at.at("node"));
    ignored(&upgrade.plan.ignore_preflight_errors, &mut at.at("plan"));
}

/// `all` is everything already.
fn ignored(checks: &[String], at: &mut At<'_>) {
    if checks.len() > 1 && checks.iter().any(|check| check.eq_ignore_ascii_case("all")) {
        at.at("ignorePreflightErrors").warn("`all` must be the only item");
    }
}

fn is_policy(word: &str) -> bool {
    matches!(word, "Always" | "IfNotPresent" | "Never")
}

fn expose(secret: &Option<Secret<String>>) -> Option<&str> {
    secret.as_ref().map(|secret| secret.expose().as_str())
}
