//! Changing the API server of a control plane node that runs: kubeadm-config first, so that the next upgrade and the next
//! control plane node have the change, then files and manifest of this node, as one act ([`crate::acts`]).
//!
//! ```text
//!  kubeadm-config ──kubeadm──▶ manifest as it should be ──┐
//!        │ + ControlPlaneConfig                           ├─ compared with the manifest of this node: others' edits?
//!        └──kubeadm──▶ manifest as it shall be ───────────┘
//! ```
//!
//! kubeadm itself renders both, so that a manifest of ours is the one that `kubeadm upgrade` renders later.
mod apply;
mod failed_start;
mod record;

pub(crate) use apply::{Rollback, overwrite, wait_until_ready};
pub(crate) use record::{ChangeRecord, write};

use crate::{
    Act, Look, Manifests, Patience, PlanError, Planned, Problem, Remark, Step, Unanswered,
    acts::{ADMIN, CONTROL_PLANE_CHANGE_ID, ControlPlaneChange, NewApiServer, NewMap, STARTING_KUBEADM},
    api_server_manifest::{MANIFEST, SeenManifest},
    control_plane_files::{ControlPlaneFiles, is_encrypted_by_us, left_out_with, merge_into},
    etcd_access::{CERTIFICATES, certificates_directory},
    fingerprint::Parts,
    line::changed_lines,
    look::Stage,
    phases::worker::KUBELET_KUBECONFIG,
    plan_key::PlanKey,
};
use documents::{AnyDocument, Secret, v1alpha1::CONTROL_PLANE_VOLUME_PREFIX};
use failed_start::failed_start;
use host::{Change, Progress};
use kubeadm::{
    Target,
    kubeadm_config_map::{CLUSTER_CONFIGURATION, edit},
    static_pod::StaticPod,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    time::Duration,
};

pub(crate) use crate::acts::KUBEADM_CONFIG;
/// Changes with the contents of the files, so that the kubelet restarts the API server: most files are read only then.
pub(crate) const DIGEST: &str = "machineadm.cluster.x-k8s.io/files-digest";
/// How long an API server may take after an interrupted change.
const RECOVERY: Duration = Duration::from_secs(4 * 60);

/// What is missing on a machine that is a control plane node; `None` where it is none yet.
/// `writes` makes its files so.
pub(crate) fn plan(
    files: &ControlPlaneFiles,
    writes: Vec<Change>,
    look: &Look<'_>,
) -> Result<Option<Planned>, PlanError> {
    if is_unfinished(look)? {
        return Ok(None);
    }
    if !look.host.exists(MANIFEST)? {
        return if look.host.exists(KUBELET_KUBECONFIG)? { Err(PlanError::unfit(WORKER.to_owned())) } else { Ok(None) };
    }
    let mut planned = Planned::default();
    if !look.host.live() {
        planned.remarks.push(Remark::OnRunningMachine("an API server is changed"));
        return Ok(Some(planned));
    }
    let admin = look.host.file(ADMIN)?.ok_or_else(|| PlanError::unfit(NO_ADMIN.to_owned()))?;
    let record = ChangeRecord::read(look.host)?;
    let unfinished = match &record {
        Some(record) if record.describes(look.host)? => Some(record),
        _ => None,
    };
    let map = match ask(look, admin.contents.expose(), unfinished) {
        Ok(map) => map.ok_or_else(|| PlanError::unfit(NO_MAP.to_owned()))?,
        Err(Unanswered(why)) => {
            match unfinished {
                Some(_) => planned.steps.push(Step::Run(Rc::new(ControlPlaneChange::RollBack { why }))),
                None => planned.remarks.push(Remark::Unasked { what: "kubeadm-config".to_owned(), why }),
            }
            return Ok(Some(planned));
        }
    };
    let Some(seen) = SeenManifest::on(look)? else { return Ok(None) };
    let has_unread_files = unfinished.map_or(Ok(false), |record| record.has_changed_files_alone(look.host))?;
    let new = Comparison { files, look, seen: &seen, map: &map, has_unread_files }.new_api_server(writes)?;
    // A record that others have made worthless goes with the next change, also if that changes nothing.
    let is_needed = new.is_needed() || record.is_some();
    let change: Rc<dyn Act> = Rc::new(ControlPlaneChange::Change(Box::new(new)));
    let progress = look.host.progress(CONTROL_PLANE_CHANGE_ID)?;
    planned.steps.extend(match (is_needed, progress) {
        (true, _) => Some(Step::Run(change)),
        (false, Progress::Started | Progress::Failed) => Some(Step::Close(change)),
        (false, _) => None,
    });
    Ok(Some(planned))
}

/// Whether kubeadm was interrupted: what it left is undone or finished by a later turn.
fn is_unfinished(look: &Look<'_>) -> Result<bool, PlanError> {
    for act in STARTING_KUBEADM {
        if matches!(look.host.progress(act)?, Progress::Started | Progress::Failed) {
            return Ok(true);
        }
    }
    Ok(false)
}

const WORKER: &str = "this machine is a worker, and a ControlPlaneConfig is for control plane nodes: remove the document from \
    its configuration";
const NO_ADMIN: &str = "/etc/kubernetes/admin.conf does not exist, and kubeadm-config cannot be changed without it: restore it \
    (kubeadm init phase kubeconfig admin), then run machineadm again";
const NO_MAP: &str = "the cluster has no ConfigMap kube-system/kubeadm-config: kubeadm did not create it, and its API server \
    cannot be changed by a ControlPlaneConfig";

const STILL_ENCRYPTED: &str = "spec.encryption is no longer in the ControlPlaneConfig, and the API server could not read what \
    etcd has stored encrypted. Put the provider `identity` first, write all encrypted objects anew, remove the argument \
    encryption-provider-config from kubeadm-config (machineadm config edit-map), then remove spec.encryption";

/// kubeadm-config. After an interrupted change the API server may be starting, for as long as it does not fail.
fn ask(look: &Look<'_>, admin: &[u8], unfinished: Option<&ChangeRecord>) -> Result<Option<Value>, Unanswered> {
    let within = match (unfinished, look.stage) {
        (Some(_), Stage::Run) => RECOVERY,
        _ => look.patience,
    };
    let is_starting = || unfinished.is_none_or(|record| failed_start(look.host, &record.old_pods).is_none());
    look.cluster.object(admin, KUBEADM_CONFIG, &Patience { within, while_true: &is_starting })
}

/// The digest in a manifest. The kubelet restarts a pod only when its manifest has changed: a number follows the digest
/// when files were changed by others and are as before again.
struct SeenDigest<'a> {
    digest: Option<&'a str>,
    number: u32,
}

impl<'a> SeenDigest<'a> {
    fn of(pod: &'a StaticPod) -> Self {
        let seen = pod.annotation(DIGEST);
        match seen.and_then(|seen| seen.split_once('+')) {
            Some((digest, number)) => Self { digest: Some(digest), number: number.parse().unwrap_or_default() },
            None => Self { digest: seen, number: 0 },
        }
    }

    /// The annotation with which the API server reads its files; `None` when it has read them.
    fn next(&self, digest: &str, files: FilesAre) -> Option<String> {
        match self.digest {
            Some(seen) if seen != digest => Some(digest.to_owned()),
            _ if files == FilesAre::Read => None,
            Some(_) => Some(format!("{digest}+{}", self.number.saturating_add(1))),
            None => Some(digest.to_owned()),
        }
    }
}

/// Whether the API server has read its files as they shall be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FilesAre {
    Read,
    Unread,
}

/// Whether a change writes something else than was there: owner and mode of a file do not matter to the API server.
fn is_other_content(change: &Change) -> bool {
    match change {
        Change::WriteFile { was, file, .. } => was.as_ref().is_none_or(|was| was.contents != file.contents),
        _ => false,
    }
}

/// What is, beside what shall be.
struct Comparison<'a> {
    files: &'a ControlPlaneFiles,
    look: &'a Look<'a>,
    seen: &'a SeenManifest,
    map: &'a Value,
    /// Whether an unfinished change has written files, and not the manifest.
    has_unread_files: bool,
}

impl Comparison<'_> {
    fn new_api_server(&self, writes: Vec<Change>) -> Result<NewApiServer, PlanError> {
        let before = apply::data_of(self.map);
        let after = self.edited(&before)?;
        let host = self.look.host;
        let render = |data: &BTreeMap<String, String>| {
            self.seen.rendered_from(data.get(CLUSTER_CONFIGURATION).map(String::as_str).unwrap_or_default(), host)
        };
        let (old, new) = (render(&before)?, render(&after)?);
        let own = self.seen.pod.clone().with_annotation(DIGEST, None);
        self.check_others_edits([&own, &old, &new])?;
        let digest = self.digest()?;
        let is_unread = self.has_unread_files || writes.iter().any(is_other_content);
        let files = if is_unread { FilesAre::Unread } else { FilesAre::Read };
        let next = SeenDigest::of(&self.seen.pod).next(&digest, files);
        let is_changed = own != new || next.is_some();
        let manifest = is_changed.then(|| new.with_annotation(DIGEST, Some(&next.unwrap_or(digest))));
        Ok(NewApiServer {
            advertised: self.seen.advertised.clone(),
            diff: self.shown(manifest.as_ref()),
            manifest: manifest.map(|pod| Secret::new(pod.text())),
            writes,
            map: (before != after).then(|| self.new_map(before, after)),
        })
    }

    /// Stops where somebody else has edited the manifest. It may be one from before a change of kubeadm-config that another
    /// control plane node, or an interrupted run, has made: what a ControlPlaneConfig decides may differ.
    fn check_others_edits(&self, [own, old, new]: [&StaticPod; 3]) -> Result<(), PlanError> {
        let decided: BTreeSet<String> = [own, new].into_iter().flat_map(|pod| self.decided(pod)).collect();
        let is_decided = |name: &str, _: &str| decided.contains(name);
        let rest = |pod: &StaticPod| pod.clone().without(&is_decided, CONTROL_PLANE_VOLUME_PREFIX);
        let is_rendered = own == old || own == new || rest(own) == rest(new);
        match self.look.manifests {
            Manifests::Respected if !is_rendered => {
                Err(PlanError::ForeignManifest(changed_lines(&rest(new).text(), &rest(own).text())))
            }
            _ => Ok(()),
        }
    }

    /// The arguments of a manifest that the document decides, or an earlier one has.
    fn decided(&self, pod: &StaticPod) -> Vec<String> {
        let others = |name: &str| pod.argument(name).map(str::to_owned);
        let decided = pod.arguments().filter(|(name, value)| self.files.decides(name, value, &others));
        // With one of these kubeadm leaves out the other.
        decided.flat_map(|(name, _)| [Some(name), left_out_with(name)]).flatten().map(str::to_owned).collect()
    }

    fn new_map(&self, before: BTreeMap<String, String>, after: BTreeMap<String, String>) -> NewMap {
        let mut object = self.map.clone();
        object["data"] = after.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect();
        NewMap { object, before, after }
    }

    /// The data of kubeadm-config with what the document says.
    fn edited(&self, before: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, PlanError> {
        let unfit = |why: String| PlanError::unfit(format!("kubeadm-config: {why}"));
        let text = before.get(CLUSTER_CONFIGURATION).map(String::as_str).unwrap_or_default();
        let version =
            objects::yaml::value(text).ok().and_then(|cluster| Some(cluster["kubernetesVersion"].as_str()?.to_owned()));
        let version = version.ok_or_else(|| unfit("it has no Kubernetes version".to_owned()))?;
        let target = Target::new(&version).map_err(|error| unfit(error.to_string()))?;
        let mut was_encrypted = false;
        let edited = edit(before, &target, |cluster| {
            was_encrypted = is_encrypted_by_us(cluster);
            merge_into(self.files, cluster);
        });
        let edited = edited.map_err(|error| unfit(crate::outcome::chain(&error)))?;
        if was_encrypted && !self.files.encrypts() {
            return Err(PlanError::unfit(STILL_ENCRYPTED.to_owned()));
        }
        if edited.losses.is_empty() {
            return Ok(edited.data);
        }
        let lost =
            edited.losses.iter().map(|loss| format!("kubeadm-config of {version} has no place for {}", loss.path));
        Err(PlanError::Unfit(lost.map(Problem::from).collect()))
    }

    /// The digest of all files. Everybody who may read pods can see it, and files may hold what can be guessed: its key
    /// is made from the key of service accounts, which all control plane nodes have.
    fn digest(&self) -> Result<String, PlanError> {
        let host = self.look.host;
        let directory = certificates_directory(host)?.unwrap_or_else(|| CERTIFICATES.to_owned());
        let key = host.file(&format!("{directory}/sa.key"))?;
        let key = key.map(|file| Sha256::digest(file.contents.expose()).into()).unwrap_or_default();
        let code = Parts::of(&PlanKey::new(key), |parts| {
            parts.text(DIGEST);
            for file in &self.files.files {
                parts.text(&file.name).bytes(file.contents.expose());
            }
        });
        Ok(format!("hmac-sha256:{code}"))
    }

    fn is_encrypted(&self) -> bool {
        let mut documents = self.look.wanted.documents.iter();
        documents.any(|document| document.sealed && matches!(document.body, AnyDocument::ControlPlane(_)))
    }

    /// The lines of the manifest that change. What an encrypted document says is not shown.
    fn shown(&self, manifest: Option<&StaticPod>) -> Vec<String> {
        match manifest {
            Some(manifest) if !self.is_encrypted() => changed_lines(&self.seen.pod.text(), &manifest.text()),
            _ => Vec::new(),
        }
    }
}
