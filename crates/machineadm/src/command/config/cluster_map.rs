//! The kubeadm-config ConfigMap of a cluster, read and written through kubectl.
use host::contract::Exit;
use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

/// Whether the map could be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// It is written.
    Yes,
    /// Somebody else has written it since it was read.
    Meanwhile,
}

/// The map as JSON, with the version that a later write is compared with.
pub(super) fn get(kubeconfig: &str) -> Result<String, Exit> {
    let mut kubectl = kubectl(kubeconfig);
    kubectl.args(["--namespace=kube-system", "get", "configmap", "kubeadm-config", "--output=json"]);
    let output = kubectl.stdin(Stdio::null()).output().map_err(|error| no_kubectl(&error))?;
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(failed("read", &output)) }
}

/// Writes it, unless it has changed since it was read.
pub(super) fn replace(kubeconfig: &str, map: &str) -> Result<Replaced, Exit> {
    let mut kubectl = kubectl(kubeconfig);
    kubectl.args(["replace", "--filename=-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = kubectl.spawn().map_err(|error| no_kubectl(&error))?;
    // What it does not read, it tells of in its own words.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(map.as_bytes()));
    let output = child.wait_with_output().map_err(|error| no_kubectl(&error))?;
    match output.status.success() {
        true => Ok(Replaced::Yes),
        false if text(&output.stderr).contains("(Conflict)") => Ok(Replaced::Meanwhile),
        false => Err(failed("write", &output)),
    }
}

fn kubectl(kubeconfig: &str) -> Command {
    let mut kubectl = Command::new("kubectl");
    kubectl.arg(format!("--kubeconfig={kubeconfig}")).arg("--request-timeout=30s");
    kubectl
}

fn no_kubectl(error: &std::io::Error) -> Exit {
    eprintln!("error: cannot run kubectl: {error}\nremedy: install kubectl, or edit a file with -f");
    Exit::Failed
}

fn failed(verb: &str, output: &Output) -> Exit {
    eprintln!("error: cannot {verb} kubeadm-config: {}", text(&output.stderr).trim());
    Exit::Failed
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
