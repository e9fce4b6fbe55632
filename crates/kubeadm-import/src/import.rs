//! All of kubeadm's documents of one machine as the one document of ours that they mean.
use crate::{
    error::ImportError,
    init_config::{ImportedInit, init_config},
    join_config::{ImportedJoin, join_config},
    kubernetes_version::is_label,
    report::ImportReport,
};
use kubeadm::{
    ComponentConfig,
    hub::{Documents, JoinConfiguration},
};

/// The value of a document that has no place as a whole.
const WHOLE: &str = "(the whole document)";

/// What the caller knows beside kubeadm's documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The kind of the document, where kubeadm's are for two machines.
    pub kind: Option<DocumentKind>,
    /// The version of Kubernetes; it outranks that of the files.
    pub kubernetes_version: Option<String>,
}

/// Which document of ours is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// For the first node of a cluster.
    InitConfig,
    /// For a further node.
    JoinConfig,
}

/// The document, and what it does not hold.
#[derive(Debug, PartialEq, Eq)]
pub enum Imported {
    /// For the first node of a cluster.
    Init(Box<ImportedInit>),
    /// For a further node.
    Join(Box<ImportedJoin>),
}

impl Imported {
    fn report(&mut self) -> &mut ImportReport {
        match self {
            Self::Init(imported) => &mut imported.report,
            Self::Join(imported) => &mut imported.report,
        }
    }
}

/// The one document that kubeadm's become. Those of other commands are unsupported as a whole.
pub fn import(documents: Documents, components: &[ComponentConfig], wanted: &Wanted) -> Result<Imported, ImportError> {
    let Documents { cluster, init, join, reset, upgrade, cluster_status } = documents;
    let is_init = init.is_some() || cluster.is_some();
    let version = wanted.kubernetes_version.as_deref();
    let mut imported = match (wanted.kind, is_init, join) {
        (None, true, Some(_)) => return Err(ImportError::TwoMachines),
        (None, false, None) => return Err(ImportError::NoConfiguration),
        (Some(DocumentKind::InitConfig), false, _) => return Err(ImportError::NoInitConfiguration),
        (Some(DocumentKind::JoinConfig), _, None) => return Err(ImportError::NoJoinConfiguration),
        (None | Some(DocumentKind::InitConfig), true, _) => {
            Imported::Init(Box::new(whole_init(init_config(init, cluster, components), version)?))
        }
        (None | Some(DocumentKind::JoinConfig), _, Some(join)) => {
            Imported::Join(Box::new(whole_join(join, components, version)))
        }
    };
    let report = imported.report();
    if reset.is_some() {
        report.refused("ResetConfiguration", WHOLE, "`machineadm reset` has flags and no document");
    }
    if upgrade.is_some() {
        report.refused("UpgradeConfiguration", WHOLE, "machineadm has no document for `kubeadm upgrade`");
    }
    if cluster_status.is_some() {
        report.note("ClusterStatus", "has no effect: kubeadm wrote it itself, up to Kubernetes 1.21");
    }
    Ok(imported)
}

/// An InitConfig that stands alone: it names its version of Kubernetes.
fn whole_init(imported: ImportedInit, version: Option<&str>) -> Result<ImportedInit, ImportError> {
    let ImportedInit { mut document, mut report } = imported;
    if let Some(version) = version {
        let named = std::mem::replace(&mut document.kubernetes_version, version.to_owned());
        if !named.is_empty() && named.trim_start_matches('v') != version.trim_start_matches('v') {
            let text = format!("is {named} in the files and {version} in the document");
            report.note("ClusterConfiguration.kubernetesVersion", text);
        }
    }
    if document.kubernetes_version.is_empty() || is_label(&document.kubernetes_version) {
        return Err(ImportError::NoKubernetesVersion);
    }
    if document.certificate_key.is_some() {
        let text = "uploads the certificates, as kubeadm does with --upload-certs";
        report.note("InitConfiguration.certificateKey", text);
    }
    Ok(ImportedInit { document, report })
}

fn whole_join(join: JoinConfiguration, components: &[ComponentConfig], version: Option<&str>) -> ImportedJoin {
    let mut imported = join_config(join);
    imported.document.kubernetes_version = version.map(str::to_owned);
    for component in components {
        imported.report.note(&component.kind, "has no effect: `kubeadm join` does not read it");
    }
    imported
}
