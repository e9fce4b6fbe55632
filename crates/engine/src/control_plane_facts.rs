//! What a run has found out of the control plane that its machine joins.
use crate::{Cluster, EtcdAccess, EtcdPod, Patience, Unanswered, acts::ADMIN, etcd_data};
use certs::FileSet;
use documents::Secret;
use etcd::{Member, Membership};
use host::Inspect;
use std::path::PathBuf;

/// The control plane of a cluster, as a machine that joins it knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPlaneFacts {
    /// The certificates directory of every control plane node.
    pub directory: PathBuf,
    /// The certificate files that they share.
    pub files: FileSet,
    /// A kubeconfig with the administrator's rights: the machine's own, or one that was issued for this run.
    pub administrator: Secret<Vec<u8>>,
    /// This machine in etcd; none where etcd is external.
    pub member: Option<MemberFacts>,
}

/// This machine in etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberFacts {
    /// How etcd is asked.
    pub access: EtcdAccess,
    /// Where other members reach this machine.
    pub peer_url: String,
    /// Where clients reach its etcd server, if it has a manifest of one.
    pub client_urls: Vec<String>,
    /// Where its data is.
    pub data_directory: String,
    /// Its entry, if etcd has one.
    pub own: Option<Member>,
}

impl ControlPlaneFacts {
    /// By what a machine has that is a control plane node already, or nearly: its administrator's kubeconfig, its
    /// certificates and its etcd. `None` where it has no such kubeconfig. The peer URL counts where there is no manifest
    /// of etcd yet.
    pub(crate) fn of_machine(
        host: &dyn Inspect,
        cluster: &dyn Cluster,
        peer_url: &str,
        patience: &Patience<'_>,
    ) -> host::Result<Result<Option<Self>, Unanswered>> {
        let Some(administrator) = host.file(ADMIN)?.map(|file| file.contents) else { return Ok(Ok(None)) };
        let (directory, files) = match cluster.certs_layout(administrator.expose(), patience) {
            Ok(Some(layout)) => layout,
            Ok(None) => return Ok(Err(Unanswered("the cluster has no ConfigMap kubeadm-config".to_owned()))),
            Err(why) => return Ok(Err(why)),
        };
        let mut facts = Self { directory, files, administrator, member: None };
        if !facts.is_stacked() {
            return Ok(Ok(Some(facts)));
        }
        let data_directory = etcd_data::directory(host)?;
        let pod = EtcdPod::on(host)?.unwrap_or_else(|| EtcdPod {
            peer_url: peer_url.to_owned(),
            client_urls: Vec::new(),
            data_directory,
        });
        let Some(access) = EtcdAccess::on(host, &facts.directory.to_string_lossy())? else {
            return Ok(Err(Unanswered("this machine has no client certificate for etcd".to_owned())));
        };
        let membership = match cluster.members(&access, patience) {
            Ok(membership) => membership,
            Err(why) => return Ok(Err(why)),
        };
        facts.member = Some(MemberFacts::new(access, pod, &membership));
        Ok(Ok(Some(facts)))
    }

    /// Whether etcd runs on the control plane nodes.
    pub(crate) fn is_stacked(&self) -> bool {
        self.files.files().iter().any(|file| file.name == certs::FileName::EtcdCaKey)
    }
}

impl MemberFacts {
    /// By the etcd server of this machine, as its manifest names it or as kubeadm will.
    pub(crate) fn new(access: EtcdAccess, server: EtcdPod, membership: &Membership) -> Self {
        let EtcdPod { peer_url, client_urls, data_directory } = server;
        let own = membership.of_server(&peer_url, &client_urls).cloned();
        Self { access, peer_url, client_urls, data_directory, own }
    }

    /// Its entry in a list of members.
    pub(crate) fn own_in<'a>(&self, membership: &'a Membership) -> Option<&'a Member> {
        membership.of_server(&self.peer_url, &self.client_urls)
    }
}
