//! A machine whose undo has started to delete, and which has become a member of etcd again since, such as by kubeadm alone:
//! the record of the undo shows nothing of that member.
use crate::{Cluster, EtcdAccess, EtcdPod, Patience, before_kubeadm::BeforeKubeadm, certificates_elsewhere};
use etcd::{Member, Membership, Quorum};
use host::{Host, Inspect};

/// The members of etcd and that of this machine, where an etcd with a quorum lists one. The undo has removed its own before;
/// and `kubeadm reset` deletes manifests before certificates, so that both are there only if it has not come so far.
pub(crate) fn registered_since(
    certificates: &str,
    host: &dyn Inspect,
    cluster: &dyn Cluster,
    patience: &Patience<'_>,
) -> host::Result<Option<(Membership, Member)>> {
    let Some(pod) = EtcdPod::on(host)? else { return Ok(None) };
    let certificates = certificates_elsewhere::of_etcd(certificates, host)?;
    let Some(access) = EtcdAccess::on(host, &certificates)? else { return Ok(None) };
    let Ok(membership) = cluster.members(&access, patience) else { return Ok(None) };
    let member = membership.of_server(&pod.peer_url, &pod.client_urls).cloned();
    Ok(member.filter(|_| membership.quorum == Quorum::Held).map(|member| (membership, member)))
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
