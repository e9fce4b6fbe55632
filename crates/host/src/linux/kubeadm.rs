//! kubeadm as a child, and what a look at the machine says of its work.
use super::{
    Linux,
    command::Runner,
    files, program,
    root::{Missing, Root},
};
use crate::{Effect, Error, Init, Result, contract};
use std::{
    collections::BTreeMap,
    fs, io, thread,
    time::{Duration, Instant},
};

/// How long kubeadm may take; it has limits of its own for each of its phases.
const INIT: Duration = Duration::from_secs(20 * 60);
const RESET: Duration = Duration::from_secs(5 * 60);
/// How long an API server that was just started may take to answer.
const ANSWER: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// What `kubeadm init` writes, in its order; certificates may be the user's own, so they tell nothing.
const MARKS: [&str; 6] = [
    "/etc/kubernetes/kubelet.conf",
    "/etc/kubernetes/admin.conf",
    "/etc/kubernetes/manifests/etcd.yaml",
    "/etc/kubernetes/manifests/kube-apiserver.yaml",
    "/etc/kubernetes/manifests/kube-controller-manager.yaml",
    "/etc/kubernetes/manifests/kube-scheduler.yaml",
];
/// What it leaves in the cluster; the addons come last.
const OBJECTS: [&str; 3] = [
    "/api/v1/namespaces/kube-system/configmaps/kubeadm-config",
    "/apis/apps/v1/namespaces/kube-system/deployments/coredns",
    "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy",
];

/// The version of the machine's kubeadm.
pub(super) fn version() -> Result<Option<String>> {
    match program::output("kubeadm", &["version", "-o", "short"]) {
        Ok(version) => Ok(Some(version.trim().to_owned())),
        Err(Error::System { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether something listens on a port: state 0A in the kernel's own tables.
pub(super) fn listens(port: u16) -> Result<bool> {
    let wanted = format!(":{port:04X}");
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = match fs::read_to_string(table) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(Error::System { doing: format!("read {table}"), source }),
        };
        let mut rows = text.lines().skip(1).map(|row| row.split_whitespace());
        if rows.any(|mut row| row.nth(1).is_some_and(|local| local.ends_with(&wanted)) && row.nth(1) == Some("0A")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How much of `kubeadm init` is there: its files, and then what it leaves in the cluster.
pub(super) fn effect(root: &Root) -> Result<Effect> {
    let mut found = 0;
    for mark in MARKS {
        found += usize::from(root.walk(mark, Missing::Report)?.is_some_and(|spot| spot.found.is_some()));
    }
    Ok(match found {
        0 => Effect::Absent,
        _ if found < MARKS.len() => Effect::Partial,
        _ if has_objects()? => Effect::Done,
        _ => Effect::Partial,
    })
}

/// Asks the API server, which may be starting.
fn has_objects() -> Result<bool> {
    let deadline = Instant::now() + ANSWER;
    loop {
        match ask("/readyz") {
            Ok(()) => return Ok(OBJECTS.iter().all(|object| ask(object).is_ok())),
            Err(Error::System { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Unfit {
                    what: "kubectl".into(),
                    why: "is missing, so nothing tells whether the cluster is complete".into(),
                    advice: "install it beside kubeadm, then run again".into(),
                });
            }
            // Only the kubelet starts an API server.
            Err(_) if Instant::now() >= deadline || !kubelet_runs() => return Ok(false),
            Err(_) => thread::sleep(BETWEEN_LOOKS),
        }
    }
}

/// Not merely tried again and again, as it is before kubeadm has given it a configuration.
fn kubelet_runs() -> bool {
    program::quiet("systemctl", &["is-active", "--quiet", "kubelet.service"]).is_ok()
}

fn ask(path: &str) -> Result<()> {
    let kubeconfig = "--kubeconfig=/etc/kubernetes/admin.conf";
    program::quiet("kubectl", &[kubeconfig, "--request-timeout=5s", "get", "--raw", path])
}

/// Runs `kubeadm init` with its file.
pub(super) fn init(host: &Linux, wanted: &Init) -> Result<()> {
    host.state().write(contract::KUBEADM_FILE, wanted.file.expose().as_bytes(), 0o600)?;
    // The token that it makes for the next machines is not for a log.
    let mut argv = vec!["kubeadm", "init", "--config", contract::KUBEADM_FILE, "--skip-token-print"];
    argv.extend(wanted.flags.iter().map(String::as_str));
    run(&host.runner(), &argv, INIT)?;
    files::remove(&host.root, contract::KUBEADM_FILE)
}

/// Takes back what an interrupted run of ours left.
pub(super) fn reset(host: &Linux, wanted: &Init) -> Result<()> {
    let socket = format!("--cri-socket=unix://{}", wanted.runtime_socket);
    run(&host.runner(), &["kubeadm", "reset", "--force", &socket], RESET)
}

fn run(runner: &Runner<'_>, argv: &[&str], within: Duration) -> Result<()> {
    let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
    runner.argv("kubeadm", &argv, &BTreeMap::new(), within)
}
