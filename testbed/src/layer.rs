//! The layer between Debian and a machine's own disk: the programs that Debian lacks, and what they need.
use crate::error::file;
use crate::profile::{Runtime, Software};
use crate::programs::{CONTAINERD, KUBERNETES};
use crate::{Result, cache, wait};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// What is put at a path.
#[derive(Debug)]
enum Content {
    Text(&'static str),
    /// A program that is a text.
    Script(&'static str),
    /// A program of the cache, shared by a hard link.
    Program(PathBuf),
    Link(String),
    Directory,
}

/// The layer for this software; made now unless the cache has it.
pub(crate) fn ensure(software: &Software) -> Result<PathBuf> {
    let content = content(software)?;
    let place = cache::directory()?.join("layers").join(cache::name_of(&format!("{content:?}"))?);
    cache::make_once(&place, |partial| {
        // Also the mode of the machine's root directory.
        fs::set_permissions(partial, fs::Permissions::from_mode(0o755)).map_err(file("change", partial))?;
        content.iter().try_for_each(|(path, content)| lay(partial, path, content))
    })?;
    Ok(place)
}

fn content(software: &Software) -> Result<Vec<(String, Content)>> {
    let mut content = vec![
        // chronyd may not set the host's clock; -x says that it need not.
        ("etc/default/chrony".to_owned(), Content::Text("DAEMON_OPTS=\"-x\"\n")),
        (
            "etc/systemd/system/chrony.service.d/testbed.conf".to_owned(),
            Content::Text(include_str!("../files/chrony.conf")),
        ),
        ("etc/cloud/cloud.cfg.d/90-testbed.cfg".to_owned(), Content::Text(include_str!("../files/cloud.cfg"))),
        // Its being there makes the journal outlive a boot.
        ("var/log/journal".to_owned(), Content::Directory),
    ];
    let Software::Node(runtime) = software else { return Ok(content) };
    content.extend(service("testbed-machine.service", include_str!("../files/testbed-machine.service")));
    content.extend(service("kubelet.service", include_str!("../files/kubelet.service")));
    let drop_in = "etc/systemd/system/kubelet.service.d/10-kubeadm.conf".to_owned();
    content.push((drop_in, Content::Text(include_str!("../files/10-kubeadm.conf"))));
    let kubernetes = KUBERNETES.ensure()?;
    content.extend(["kubeadm", "kubelet", "kubectl"].map(|name| program(name, kubernetes.path(name))));
    if wait::is_slow_host()? {
        // Its own limits are minutes, and can only be set in its file.
        content.push(("usr/local/bin/kubeadm".to_owned(), Content::Script(include_str!("../files/slow-kubeadm"))));
    }
    let config = match runtime {
        Runtime::Containerd2 => {
            let containerd = CONTAINERD.ensure()?;
            content.extend(
                ["containerd", "containerd-shim-runc-v2", "ctr"].map(|name| program(name, containerd.path(name))),
            );
            include_str!("../files/containerd-2.toml")
        }
        Runtime::Debian => include_str!("../files/containerd-1.toml"),
    };
    content.push(("etc/containerd/config.toml".to_owned(), Content::Text(config)));
    Ok(content)
}

/// A unit, and the link that enables it.
fn service(name: &str, unit: &'static str) -> [(String, Content); 2] {
    [
        (format!("etc/systemd/system/{name}"), Content::Text(unit)),
        (format!("etc/systemd/system/multi-user.target.wants/{name}"), Content::Link(format!("../{name}"))),
    ]
}

fn program(name: &str, path: PathBuf) -> (String, Content) {
    (format!("usr/bin/{name}"), Content::Program(path))
}

fn lay(root: &Path, path: &str, content: &Content) -> Result<()> {
    let to = make_parent(root, path)?;
    match content {
        Content::Text(text) => put(root, path, 0o644, text.as_bytes()),
        Content::Script(text) => put(root, path, 0o755, text.as_bytes()),
        Content::Program(from) => fs::hard_link(from, &to).map_err(file("link", to)),
        Content::Link(target) => symlink(target, &to).map_err(file("link", to)),
        Content::Directory => fs::create_dir(&to).map_err(file("create", to)),
    }
}

/// Writes a file below a root, and the directories above it.
pub(crate) fn put(root: &Path, path: &str, mode: u32, content: &[u8]) -> Result<()> {
    let to = make_parent(root, path)?;
    fs::write(&to, content).map_err(file("write", &to))?;
    fs::set_permissions(&to, fs::Permissions::from_mode(mode)).map_err(file("change", to))
}

fn make_parent(root: &Path, path: &str) -> Result<PathBuf> {
    let to = root.join(path);
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(file("create", parent))?;
    }
    Ok(to)
}

/// The network of a machine's pods: Debian's plugins, a bridge, addresses from this range.
pub(crate) fn pod_network(subnet: &str) -> String {
    let range = serde_json::json!([[{ "subnet": subnet }]]);
    let ipam = serde_json::json!({ "type": "host-local", "ranges": range, "routes": [{ "dst": "0.0.0.0/0" }] });
    let bridge = serde_json::json!({
        "type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true, "ipam": ipam
    });
    let ports = serde_json::json!({ "type": "portmap", "capabilities": { "portMappings": true } });
    serde_json::json!({ "cniVersion": "0.4.0", "name": "pods", "plugins": [bridge, ports] }).to_string()
}
