//! Forms that kubeadm asks of texts.
use crate::version::KubernetesVersion;
use objects::hex;
use std::net::IpAddr;

/// `id.secret` of a bootstrap token.
pub(super) fn is_token(text: &str) -> bool {
    let of =
        |part: &str, length| part.len() == length && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.split_once('.').is_some_and(|(id, secret)| of(id, 6) && of(secret, 16))
}

/// 32 bytes in hexadecimal.
pub(super) fn is_certificate_key(text: &str) -> bool {
    hex::encodes(text, 32)
}

/// `sha256:` and 32 bytes in hexadecimal.
pub(super) fn is_ca_hash(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(is_certificate_key)
}

/// An address of IPv4 or IPv6.
pub(super) fn is_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

/// An address that other machines can reach.
pub(super) fn is_reachable_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok_and(|address| !address.is_loopback())
}

/// A name of DNS in lower case.
pub(super) fn is_dns_name(text: &str) -> bool {
    let label = |label: &str| {
        let plain = label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        !label.is_empty() && plain && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// What may stand in a certificate: an address, a name, or a name for all names of a domain.
pub(super) fn is_certificate_name(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    is_address(text) || is_dns_name(lower.strip_prefix("*.").unwrap_or(&lower))
}

/// A name or address, with a port if it has one.
pub(super) fn is_endpoint(text: &str) -> bool {
    let (host, port) = host_and_port(text);
    (is_address(host) || is_dns_name(host)) && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// Whether an endpoint names its port.
pub(super) fn has_port(text: &str) -> bool {
    host_and_port(text).1.is_some()
}

fn host_and_port(text: &str) -> (&str, Option<&str>) {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.starts_with('[') => (host, Some(port)),
        _ => (text, None),
    };
    (host.trim_start_matches('[').trim_end_matches(']'), port)
}

/// A version such as v1.36.4, or a label that kubeadm resolves.
pub(super) fn is_kubernetes_version(text: &str) -> bool {
    let release = text.split(['-', '+']).next().unwrap_or(text);
    let full = release.matches('.').count() == 2 && text.parse::<KubernetesVersion>().is_ok();
    full || ["stable", "latest", "ci/", "release/"].iter().any(|label| text.starts_with(label))
}

/// What may stand in the name of an image.
pub(super) fn is_image_repository(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:/@".contains(&byte))
}

/// A path from the root.
pub(super) fn is_absolute(text: &str) -> bool {
    text.starts_with('/')
}

/// A socket's path or address.
pub(super) fn is_socket(text: &str) -> bool {
    is_absolute(text) || text.starts_with("unix://") || text.starts_with("npipe://")
}

/// An https address.
pub(super) fn is_https(text: &str) -> bool {
    text.strip_prefix("https://").is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// A group that bootstrap tokens may authenticate as.
pub(super) fn is_token_group(text: &str) -> bool {
    let plain = |rest: &str| {
        let all = rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b':' | b'-'));
        all && rest.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    text.strip_prefix("system:bootstrappers:").is_some_and(plain)
}
