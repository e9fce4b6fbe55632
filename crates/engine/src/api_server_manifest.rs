//! The manifest of this machine's API server, beside what its kubeadm renders from a ClusterConfiguration.
use crate::{Look, PlanError, acts::proxy_variables::Variables};
use documents::{AnyDocument, Secret};
use host::{Inspect, Rendering};
use kubeadm::static_pod::{RenderedNode, StaticPod, rendering_file};
use std::time::Duration;

/// The static pod of this machine's API server.
pub(crate) const MANIFEST: &str = objects::kubernetes_paths::API_SERVER_MANIFEST;
/// The file that kubeadm writes.
const RENDERED: &str = "kube-apiserver.yaml";
/// Where kubeadm writes what a dry run renders.
const DRY_RUN_DIRECTORY: &str = "KUBEADM_INIT_DRYRUN_DIR";
/// The runtime's socket where no document names one; it does not show in a manifest.
const USUAL_SOCKET: &str = "/run/containerd/containerd.sock";
/// kubeadm only writes a file.
const WITHIN: Duration = Duration::from_secs(60);

/// What kubeadm needs beside a ClusterConfiguration to render the manifest of this machine's API server as it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeenManifest {
    /// The manifest.
    pub(crate) pod: StaticPod,
    /// Address and port of the API server.
    pub(crate) advertised: String,
    image: String,
    environment: Variables,
    runtime_socket: String,
    patches: Option<String>,
}

impl SeenManifest {
    /// The manifest of a machine; `None` where there is none.
    pub(crate) fn on(look: &Look<'_>) -> Result<Option<Self>, PlanError> {
        let Some(file) = look.host.file(MANIFEST)? else { return Ok(None) };
        let text = String::from_utf8_lossy(file.contents.expose()).into_owned();
        let unreadable = || unfit("cannot be read as the manifest of an API server that kubeadm rendered");
        let pod = StaticPod::read(&text).ok_or_else(unreadable)?;
        let (advertised, image) = pod.advertised().zip(pod.image()).ok_or_else(unreadable)?;
        let (runtime_socket, patches) = node_settings(look);
        Ok(Some(Self {
            advertised: advertised.to_owned(),
            image: image.to_owned(),
            environment: pod.proxy_variables().into_iter().map(|(name, value)| (name, Secret::new(value))).collect(),
            runtime_socket,
            patches,
            pod,
        }))
    }

    /// What this machine's kubeadm renders from a ClusterConfiguration, with the image of the manifest: which version runs
    /// is decided by `kubeadm upgrade`.
    pub(crate) fn rendered_from(&self, cluster: &str, host: &dyn Inspect) -> Result<StaticPod, PlanError> {
        let node = RenderedNode { advertised: &self.advertised, runtime_socket: &self.runtime_socket };
        let input =
            rendering_file(cluster, &node).ok_or_else(|| unfit("names no address and port that can be read"))?;
        let input_path = format!("{}/{}", Rendering::DIRECTORY, Rendering::INPUT);
        let mut argv = ["kubeadm", "init", "phase", "control-plane", "apiserver", "--dry-run", "--config"]
            .map(str::to_owned)
            .to_vec();
        argv.push(input_path);
        if let Some(patches) = &self.patches {
            argv.extend(["--patches".to_owned(), patches.clone()]);
        }
        let mut environment = self.environment.clone();
        environment.insert(DRY_RUN_DIRECTORY.to_owned(), Secret::new(Rendering::DIRECTORY.to_owned()));
        let rendering =
            Rendering { argv, environment, input: Secret::new(input), output: RENDERED.to_owned(), within: WITHIN };
        let rendered = host.rendered(&rendering)?;
        let pod = StaticPod::read(&String::from_utf8_lossy(rendered.expose()));
        let pod =
            pod.ok_or_else(|| PlanError::unfit("kubeadm has rendered no manifest of an API server".to_owned()))?;
        Ok(pod.with_image(&self.image))
    }
}

/// The socket of the container runtime, and the directory of kubeadm's patches, by the document that makes the node.
fn node_settings(look: &Look<'_>) -> (String, Option<String>) {
    let node = look.wanted.documents.iter().find_map(|document| match &document.body {
        AnyDocument::Init(init) => Some((init.runtime_socket.clone(), init.settings.patches.clone())),
        AnyDocument::Join(join) => {
            let patches = join.control_plane.as_ref().and_then(|control_plane| control_plane.patches.clone());
            Some((join.runtime_socket.clone(), patches))
        }
        _ => None,
    });
    node.unwrap_or_else(|| (USUAL_SOCKET.to_owned(), None))
}

fn unfit(why: &str) -> PlanError {
    PlanError::unfit(format!(
        "{MANIFEST}: {why}; restore it, for example with `kubeadm init phase control-plane apiserver`"
    ))
}
