//! The etcd member of this machine, as a reset has to know it before it deletes any data.
use super::{MemberQuestion, ResetError};
use crate::{
    Cluster, EtcdAccess, EtcdPod, Patience, Unanswered,
    before_kubeadm::{BeforeKubeadm, ResetProgress},
    scoped_reset::has_member_data,
};
use etcd::{Member, Membership, Role};
use host::Inspect;
use objects::one_line;

/// What etcd says of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OwnMember {
    /// No cluster has a member for this machine.
    None,
    /// It could not be asked. There is no data on this machine; a member that was only added may be in the list.
    NotAsked(String),
    /// It is the only one: with its data the cluster is deleted.
    Only,
    /// It can be removed.
    Removable {
        member: Member,
        /// Voters that remain.
        voters: usize,
        /// Client URLs of the others.
        servers: Vec<String>,
    },
}

impl OwnMember {
    /// Whether both lead to the same steps.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Removable { member, .. }, Self::Removable { member: other, .. }) => member.id == other.id,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// Whom to ask.
pub(super) struct Asked<'a> {
    pub(super) host: &'a dyn Inspect,
    pub(super) cluster: &'a dyn Cluster,
    pub(super) certificates: &'a str,
    pub(super) question: MemberQuestion,
    pub(super) patience: &'a Patience<'a>,
}

/// Asks etcd for the member of this machine, and judges whether it can go.
pub(super) fn own_member(asked: &Asked<'_>) -> Result<OwnMember, ResetError> {
    let Asked { host, cluster, certificates, question, patience } = *asked;
    let progress = BeforeKubeadm::read(host)?.and_then(|record| record.reset);
    // A reset that has started to delete has asked before.
    if question == MemberQuestion::IsRemoved || matches!(progress, Some(ResetProgress::Deleting { .. })) {
        return Ok(OwnMember::None);
    }
    let pod = EtcdPod::on(host)?;
    let data = pod.as_ref().map(|pod| has_member_data(&pod.data_directory, host)).transpose()?.unwrap_or(false);
    let unasked = |why: String| match data {
        true => Err(ResetError::MemberUnknown(why)),
        false => Ok(OwnMember::NotAsked(why)),
    };
    let Some(mut access) = EtcdAccess::on(host, certificates)? else {
        let missing = || format!("{certificates}/etcd has no client certificate");
        return if data { unasked(missing()) } else { Ok(OwnMember::None) };
    };
    if let Some(ResetProgress::RemovingMember { servers }) = progress {
        access.endpoints.extend(servers);
    }
    let Some(peer_url) = own_peer_url(pod, host)? else {
        return unasked("the address of this machine is unknown".to_owned());
    };
    match cluster.members(&access, patience) {
        Ok(membership) => judge(&membership, &peer_url),
        Err(Unanswered(why)) => unasked(one_line(&why)),
    }
}

/// Where others reach the member: by its manifest, else as kubeadm names it. A join that was interrupted between the two
/// has no manifest.
fn own_peer_url(pod: Option<EtcdPod>, host: &dyn Inspect) -> host::Result<Option<String>> {
    if let Some(pod) = pod {
        return Ok(Some(pod.peer_url));
    }
    let address = host.address_towards(None)?;
    Ok(address.map(|address| match address.is_ipv6() {
        true => format!("https://[{address}]:2380"),
        false => format!("https://{address}:2380"),
    }))
}

fn judge(membership: &Membership, peer_url: &str) -> Result<OwnMember, ResetError> {
    let Some(member) = membership.at(peer_url) else { return Ok(OwnMember::None) };
    if membership.members.len() == 1 {
        return Ok(OwnMember::Only);
    }
    if let Some(obstacle) = membership.removing(member) {
        return Err(ResetError::MemberNeeded(obstacle));
    }
    let others = || membership.members.iter().filter(|other| other.id != member.id);
    Ok(OwnMember::Removable {
        member: member.clone(),
        voters: others().filter(|other| other.role == Role::Voter).count(),
        servers: others().flat_map(|other| other.client_urls.clone()).collect(),
    })
}
