//! Which certificate files a cluster has, and where: as its ClusterConfiguration says.
use crate::{ApiServer, Result};
use certs::{Etcd, ExternalEtcd, FileSet};
use kubeadm::{Rules, Source, Strictness, hub::ClusterConfiguration, kubeadm_config_map as map};
use std::path::{Component, Path, PathBuf};

/// kubeadm's own.
const DIRECTORY: &str = objects::kubernetes_paths::PKI;
const PATH: &str = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";

/// The certificate files of a control plane node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The certificates directory, an absolute path.
    pub directory: PathBuf,
    /// The files that are copied.
    pub files: FileSet,
}

/// Why a ClusterConfiguration tells no layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLayout {
    /// The cluster was not made by kubeadm.
    #[error("the cluster has no ConfigMap kube-system/kubeadm-config: kubeadm did not create it")]
    NoMap,
    /// The ConfigMap has no ClusterConfiguration that can be read.
    #[error("the ConfigMap kube-system/kubeadm-config has no usable ClusterConfiguration: {0}")]
    Unreadable(String),
    /// A path in it cannot be one of certificate files.
    #[error("{field} of the ClusterConfiguration must be an absolute path without `..`")]
    Path {
        /// The field.
        field: &'static str,
    },
}

impl Layout {
    /// The layout of a cluster with this configuration. Every path that is not absolute is refused.
    pub fn of(cluster: &ClusterConfiguration) -> Result<Self, NoLayout> {
        let directory = cluster.certificates_dir.as_deref().filter(|path| !path.is_empty()).unwrap_or(DIRECTORY);
        let etcd = match &cluster.etcd.external {
            None => Etcd::Stacked,
            Some(external) => Etcd::External(ExternalEtcd {
                ca_file: path("etcd.external.caFile", external.ca_file.as_deref())?,
                cert_file: path("etcd.external.certFile", external.cert_file.as_deref())?,
                key_file: path("etcd.external.keyFile", external.key_file.as_deref())?,
            }),
        };
        let directory = path("certificatesDir", Some(directory))?.unwrap_or_else(|| DIRECTORY.into());
        Ok(Self { directory, files: FileSet::new(&etcd) })
    }

    /// Where kubeadm puts the files of a cluster with stacked etcd, unless told otherwise.
    pub fn usual() -> Self {
        Self { directory: DIRECTORY.into(), files: FileSet::new(&Etcd::Stacked) }
    }
}

impl ApiServer {
    /// The layout that kubeadm-config tells.
    pub fn certs_layout(&self) -> Result<Result<Layout, NoLayout>> {
        Ok(self.cluster_configuration()?.and_then(|cluster| Layout::of(&cluster)))
    }

    /// The ClusterConfiguration in kubeadm-config.
    pub fn cluster_configuration(&self) -> Result<Result<ClusterConfiguration, NoLayout>> {
        let Some(config) = self.get(PATH)? else { return Ok(Err(NoLayout::NoMap)) };
        let text = config["data"][map::CLUSTER_CONFIGURATION].as_str();
        Ok(text.ok_or_else(|| NoLayout::Unreadable("it has none".to_owned())).and_then(read))
    }
}

fn read(text: &str) -> Result<ClusterConfiguration, NoLayout> {
    let rules = Rules { strictness: Strictness::Tolerant, minor: None };
    let read = kubeadm::read(&[Source { name: map::CLUSTER_CONFIGURATION, text }], rules);
    let problem = read.problems.iter().find(|_| read.has_errors()).map(ToString::to_string);
    match (read.documents.cluster, problem) {
        (Some(cluster), None) => Ok(cluster),
        (_, problem) => Err(NoLayout::Unreadable(problem.unwrap_or_else(|| "it is another kind".to_owned()))),
    }
}

fn path(field: &'static str, path: Option<&str>) -> Result<Option<PathBuf>, NoLayout> {
    let Some(path) = path.filter(|path| !path.is_empty()) else { return Ok(None) };
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    let fits = path.starts_with('/') && path.len() > 1 && Path::new(path).components().all(is_plain);
    if fits { Ok(Some(path.into())) } else { Err(NoLayout::Path { field }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n";

    fn layout(rest: &str) -> Result<Layout, NoLayout> {
        read(&format!("{HEAD}{rest}")).and_then(|cluster| Layout::of(&cluster))
    }

    fn entries(layout: &Layout) -> Vec<&'static str> {
        layout.files.files().iter().map(|file| file.name.entry()).collect()
    }

    #[test]
    fn what_is_not_said_is_as_kubeadm_has_it() {
        let usual = layout("kubernetesVersion: v1.36.4\n").unwrap();
        assert_eq!(usual, Layout::usual());
        assert_eq!((usual.directory.to_str(), entries(&usual).len()), (Some("/etc/kubernetes/pki"), 8));
        assert_eq!(layout("etcd: {local: {dataDir: /var/lib/etcd}}\n"), Ok(Layout::usual()));
    }

    #[test]
    fn another_directory_and_external_etcd_are_followed() {
        let told = layout("certificatesDir: /srv/pki\netcd: {external: {endpoints: [https://e:2379], caFile: /e/ca, certFile: /e/c, keyFile: /e/k}}\n").unwrap();
        assert_eq!(told.directory, Path::new("/srv/pki"));
        assert_eq!(entries(&told)[6..], ["external-etcd-ca.crt", "external-etcd.crt", "external-etcd.key"]);
        let places: Vec<_> = told.files.files()[6..].iter().map(|file| file.location.path(&told.directory)).collect();
        assert_eq!(places, ["/e/ca", "/e/c", "/e/k"].map(PathBuf::from));
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        for wrong in ["pki", "/", "/etc/../root", "./pki"] {
            assert_eq!(
                layout(&format!("certificatesDir: {wrong}\n")),
                Err(NoLayout::Path { field: "certificatesDir" }),
                "{wrong}"
            );
        }
        let external = "etcd: {external: {endpoints: [https://e:2379], caFile: ca, certFile: /c, keyFile: /k}}\n";
        assert_eq!(layout(external), Err(NoLayout::Path { field: "etcd.external.caFile" }));
    }

    #[test]
    fn another_document_is_no_layout() {
        for text in ["", "kind: [", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n"] {
            assert!(matches!(read(text), Err(NoLayout::Unreadable(_))), "{text}");
        }
    }
}
