//! Certificates and kubeconfigs, made by kubeadm itself, phase by phase.
use crate::error::file;
use crate::programs::Programs;
use crate::{Error, Result, child};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// All CAs in one file, and what signs the serving certificates of those who have none of kubeadm's.
pub(super) const ALL_AUTHORITIES: &str = "authorities.crt";

/// The API server's address in the configuration: kubeadm refuses loopback here, and nothing ever connects to it.
const ADVERTISED: &str = "10.255.255.1";

/// Writes `pki/` and the kubeconfigs into a directory, all for an API server on this port of loopback.
pub(super) fn write(kubernetes: &Programs, directory: &Path, port: u16) -> Result<()> {
    let config = directory.join("kubeadm.yaml");
    let text = include_str!("../../files/loopback.yaml").replace("PORT", &port.to_string());
    let text = text.replace("ADVERTISED", ADVERTISED).replace("PKI", &directory.join("pki").display().to_string());
    fs::write(&config, text).map_err(file("write", &config))?;
    let phase = |words: &[&str]| {
        let mut kubeadm = Command::new(kubernetes.path("kubeadm"));
        child::check(kubeadm.args(["init", "phase"]).args(words).arg("--config").arg(&config), LIMIT)
    };
    phase(&["certs", "all"])?;
    for user in ["admin", "super-admin", "controller-manager", "scheduler"] {
        phase(&["kubeconfig", user, "--kubeconfig-dir", &directory.display().to_string()])?;
        let path = directory.join(format!("{user}.conf"));
        let text = fs::read_to_string(&path).map_err(file("read", &path))?;
        fs::write(&path, text.replace(ADVERTISED, "127.0.0.1")).map_err(file("write", path))?;
    }
    let administrator = directory.join("super-admin.conf");
    let text = fs::read_to_string(&administrator).map_err(file("read", administrator))?;
    for (field, name) in [("client-certificate-data", "admin.crt"), ("client-key-data", "admin.key")] {
        let path = directory.join(name);
        fs::write(&path, decoded(&text, field)?).map_err(file("write", path))?;
    }
    let authorities = ["ca.crt", "etcd/ca.crt"].map(|name| directory.join("pki").join(name));
    let all = authorities.iter().map(|path| fs::read_to_string(path).map_err(file("read", path)));
    let path = directory.join(ALL_AUTHORITIES);
    fs::write(&path, all.collect::<Result<String>>()?).map_err(file("write", path))
}

fn decoded(kubeconfig: &str, field: &str) -> Result<Vec<u8>> {
    let value = kubeconfig.lines().find_map(|line| line.trim().strip_prefix(field)?.strip_prefix(": "));
    let bytes = value.and_then(|value| BASE64_STANDARD.decode(value.trim()).ok());
    bytes.ok_or_else(|| Error::Unreadable { what: "super-admin.conf".to_owned(), found: format!("no {field}") })
}
