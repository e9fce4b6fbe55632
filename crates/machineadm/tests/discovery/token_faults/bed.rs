//! A control plane, our commands on it, and its Secrets.
use super::holding::Holding;
use base64::{Engine, prelude::BASE64_STANDARD};
use cluster::{ApiServer, Kubeconfig, Timeouts};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Part},
    until,
};

/// For conditions that take seconds at most; this is for a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);
pub(crate) const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";
pub(crate) const CLUSTER_INFO: &str = "/api/v1/namespaces/kube-public/configmaps/cluster-info";

/// A connection of the test's own, past all relays.
pub(crate) fn connect(kubeconfig: &Path) -> ApiServer {
    ApiServer::connect(Kubeconfig::load(kubeconfig).unwrap(), Timeouts::default()).unwrap()
}

/// Writes the administrator's kubeconfig with a relay's address into a file.
pub(crate) fn through(relay: &Holding, plane: &ControlPlane, file: &Path) -> Result<PathBuf> {
    let text = std::fs::read_to_string(plane.kubeconfig()).unwrap();
    let led = text.replace(&plane.url(0)?, &format!("https://{}", relay.place()));
    assert_ne!(text, led);
    std::fs::write(file, led).unwrap();
    Ok(file.to_owned())
}

/// The API server's.
pub(crate) fn port(plane: &ControlPlane) -> Result<u16> {
    Ok(plane.url(0)?.rsplit(':').next().unwrap().parse().unwrap())
}

/// When all of these hold something, the API server is killed and started again; then they let go, come what may.
pub(crate) fn dies_in_the_middle(plane: &mut ControlPlane, relays: &[Holding]) -> Result<()> {
    let held = until("every command is in the middle", LIMIT, || {
        let free = relays.iter().filter(|relay| !relay.is_held()).count();
        if free == 0 { Ok(()) } else { Err(format!("{free} of {} go on", relays.len())) }
    });
    let killed = held.and_then(|()| plane.kill(Part::ApiServer(0)));
    let back = killed.and_then(|()| plane.restart(Part::ApiServer(0)));
    relays.iter().for_each(Holding::let_go);
    back
}

/// One of our commands, begun.
pub(crate) fn begin(kubeconfig: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(words).arg("--kubeconfig").arg(kubeconfig);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub(crate) fn run(kubeconfig: &Path, words: &[&str]) -> Output {
    begin(kubeconfig, words).wait_with_output().unwrap()
}

/// The run that completed: the first, or a second if the server was away for longer than the first had patience. A
/// command that gives up without having tried again is wrong.
pub(crate) fn completing(first: &Output, kubeconfig: &Path, words: &[&str]) -> Output {
    let complaint = text(&first.stderr);
    let last = match first.status.code() {
        Some(0) => first.clone(),
        Some(1) if complaint.contains("; retrying for ") => run(kubeconfig, words),
        other => panic!("{words:?} ended with {other:?}: {complaint}"),
    };
    assert_eq!(last.status.code(), Some(0), "{words:?}: {last:?}");
    last
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a token's Secret holds, decoded.
pub(crate) type Data = BTreeMap<String, String>;

/// Every token's Secret, by its name.
pub(crate) fn tokens(plane: &ControlPlane) -> Result<BTreeMap<String, Data>> {
    let selector = "--field-selector=type=bootstrap.kubernetes.io/token";
    let list = plane.kubectl(&["--namespace=kube-system", "get", "secrets", selector, "--output=json"])?;
    let list: Value = serde_json::from_str(&list).unwrap();
    let item = |item: &Value| (item["metadata"]["name"].as_str().unwrap().to_owned(), data(item));
    Ok(list["items"].as_array().unwrap().iter().map(item).collect())
}

pub(crate) fn data(secret: &Value) -> Data {
    let decoded = |value: &Value| text(&BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap());
    secret["data"].as_object().unwrap().iter().map(|(key, value)| (key.clone(), decoded(value))).collect()
}
