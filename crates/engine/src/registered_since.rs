//! A machine whose undo has started to delete, and which has become a member of etcd again since, such as by kubeadm alone:
//! the record of the undo shows nothing of that member.
use crate::{
    Cluster, EtcdAccess, EtcdPod, Patience, Unanswered, before_kubeadm::BeforeKubeadm, certificates_elsewhere,
    etcd_data,
};
use etcd::{Member, Membership, Quorum};
use host::{Host, Inspect};

/// What etcd says of this machine since.
pub(crate) enum Since {
    /// It is no member, or has no manifest of etcd.
    Nothing,
    /// An etcd with a quorum lists it.
    Member(Membership, Member),
    /// There is data, and no etcd with a quorum answers.
    Unknown(String),
}

impl Since {
    /// The members of etcd and that of this machine, if it is known to be one.
    pub(crate) fn member(self) -> Option<(Membership, Member)> {
        match self {
            Self::Member(membership, member) => Some((membership, member)),
            Self::Nothing | Self::Unknown(_) => None,
        }
    }
}

/// Asks etcd. The undo has removed its own member before; and `kubeadm reset` deletes manifests before certificates, so that
/// both are gone or it has not come so far.
pub(crate) fn registered_since(
    certificates: &str,
    host: &dyn Inspect,
    cluster: &dyn Cluster,
    patience: &Patience<'_>,
) -> host::Result<Since> {
    let Some(pod) = EtcdPod::on(host)? else { return Ok(Since::Nothing) };
    let certificates = certificates_elsewhere::of_etcd(certificates, host)?;
    let unknown = match EtcdAccess::on(host, &certificates)?.map(|access| cluster.members(&access, patience)) {
        None => format!("{certificates}/etcd has no client certificate"),
        Some(Err(Unanswered(why))) => why,
        Some(Ok(membership)) => {
            match (&membership.quorum, membership.of_server(&pod.peer_url, &pod.client_urls).cloned()) {
                (Quorum::Held, Some(member)) => return Ok(Since::Member(membership, member)),
                (Quorum::Held, None) => return Ok(Since::Nothing),
                (Quorum::Lost(why), _) => format!("etcd has no quorum: {why}"),
            }
        }
    };
    Ok(if etcd_data::is_in(&pod.data_directory, host)? { Since::Unknown(unknown) } else { Since::Nothing })
}

/// Ends such an undo: what the machine is now decides what it needs.
pub(crate) fn end_undo(host: &mut dyn Host) -> host::Result<()> {
    match BeforeKubeadm::read(host)?.filter(|record| record.is_recorded) {
        Some(mut record) => {
            record.reset = None;
            record.write(host)
        }
        None => BeforeKubeadm::forget(host),
    }
}
