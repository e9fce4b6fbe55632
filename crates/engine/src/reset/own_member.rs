//! The etcd member of this machine, as a reset has to know it before it deletes any data.
use super::{MemberQuestion, ResetError};
use crate::{
    Cluster, EtcdAccess, EtcdPod, Patience, Unanswered,
    acts::kubeadm_join,
    before_kubeadm::{BeforeKubeadm, DeletedBy, ResetProgress},
    etcd_access::{MANIFEST, advertised_address},
    etcd_data,
    registered_since::{Since, registered_since},
};
use etcd::{Member, Membership, Quorum, Role};
use host::{Inspect, Progress};
use objects::one_line;
use std::time::Duration;

/// What etcd says of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OwnMember {
    /// No cluster has a member for this machine.
    None,
    /// It could not be asked. There is no data on this machine; a member that was only added may be in the list.
    NotAsked(String),
    /// The operator says that it is removed, and etcd, without a quorum, lists it.
    Asserted(String),
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
            // An etcd without a quorum may or may not answer.
            (Self::None | Self::Asserted(_), Self::None | Self::Asserted(_)) => true,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// Whom to ask.
pub(super) struct Asked<'a> {
    pub(super) host: &'a dyn Inspect,
    pub(super) cluster: &'a dyn Cluster,
    pub(super) certificates: &'a str,
    pub(super) access: Option<EtcdAccess>,
    pub(super) question: MemberQuestion,
    pub(super) patience: &'a Patience<'a>,
}

/// Asks etcd for the member of this machine, and judges whether it can go.
pub(super) fn own_member(asked: Asked<'_>) -> Result<OwnMember, ResetError> {
    let Asked { host, cluster, certificates, access, question, patience } = asked;
    let progress = BeforeKubeadm::read(host)?.and_then(|record| record.reset);
    match progress {
        // Whoever has started to delete has asked before.
        Some(ResetProgress::Deleting { by, .. }) => {
            // The undo of a join leaves a cluster of others, where the machine may have joined again.
            let is_of_join = by == DeletedBy::Act && host.progress(kubeadm_join::ID)? == Progress::Started;
            return match registered_since(certificates, host, cluster, patience)? {
                Since::Member(membership, member) => judge(&membership, &member),
                Since::Unknown(why) if is_of_join && question == MemberQuestion::IsAsked => {
                    Err(ResetError::MemberUnknown(one_line(&why)))
                }
                Since::Unknown(_) | Since::Nothing => Ok(OwnMember::None),
            };
        }
        Some(ResetProgress::Undone) => return Ok(OwnMember::None),
        Some(ResetProgress::RemovingMember { .. }) | None => {}
    }
    if question == MemberQuestion::IsRemoved {
        return asserted(server(EtcdPod::on(host)?, host)?, access, cluster);
    }
    let pod = EtcdPod::on(host)?;
    let data = etcd_data::is_here(certificates, host)?;
    let unasked = |why: String| match data {
        true => Err(ResetError::MemberUnknown(why)),
        false => Ok(OwnMember::NotAsked(why)),
    };
    let Some(mut access) = access else {
        let missing = || format!("{certificates}/etcd has no client certificate");
        return if data || pod.is_some() { unasked(missing()) } else { Ok(OwnMember::None) };
    };
    if let Some(ResetProgress::RemovingMember { servers }) = progress {
        access.endpoints.extend(servers);
    }
    let has_manifest = pod.is_some();
    let Some(Server { peer_url, client_urls }) = server(pod, host)? else {
        return unasked("the address of this machine is unknown".to_owned());
    };
    match cluster.members(&access, patience) {
        Ok(membership) => match membership.of_server(&peer_url, &client_urls) {
            Some(member) => judge(&membership, member),
            // The list may be older than this machine's member.
            None if matches!(membership.quorum, Quorum::Lost(_)) => {
                unasked("etcd has no quorum, so that its list of members may be old".to_owned())
            }
            // The address is a guess without the manifest.
            None if data && !has_manifest => unasked(format!(
                "{MANIFEST} is missing or cannot be read, and etcd has no member at {peer_url}, by which it could be known"
            )),
            None => Ok(OwnMember::None),
        },
        Err(Unanswered(why)) => unasked(one_line(&why)),
    }
}

/// The operator says that no cluster has a member of this machine. An etcd with a quorum knows better. One without may be
/// this machine's alone, which was removed while it was cut off from the others.
fn asserted(
    server: Option<Server>,
    access: Option<EtcdAccess>,
    cluster: &dyn Cluster,
) -> Result<OwnMember, ResetError> {
    let (Some(server), Some(access)) = (server, access) else { return Ok(OwnMember::None) };
    let at_once = Patience { within: Duration::ZERO, while_true: &|| false };
    let Ok(membership) = cluster.members(&access, &at_once) else { return Ok(OwnMember::None) };
    match membership.of_server(&server.peer_url, &server.client_urls) {
        Some(_) if membership.members.len() == 1 => Ok(OwnMember::Only),
        Some(member) if membership.quorum == Quorum::Held => {
            Err(ResetError::MemberListed(format!("{} ({})", member.title(), member.id)))
        }
        Some(member) => Ok(OwnMember::Asserted(format!("{} ({})", member.title(), member.id))),
        None => Ok(OwnMember::None),
    }
}

/// Where the etcd server of this machine is reached.
struct Server {
    peer_url: String,
    client_urls: Vec<String>,
}

/// Where others reach the member: by its manifest, else as kubeadm names it. A join that was interrupted between the two
/// has no manifest.
fn server(pod: Option<EtcdPod>, host: &dyn Inspect) -> host::Result<Option<Server>> {
    if let Some(EtcdPod { peer_url, client_urls, .. }) = pod {
        return Ok(Some(Server { peer_url, client_urls }));
    }
    let address = advertised_address(host)?.map_or_else(|| host.address_towards(None), |address| Ok(Some(address)))?;
    Ok(address.map(|address| {
        let peer_url = match address.is_ipv6() {
            true => format!("https://[{address}]:2380"),
            false => format!("https://{address}:2380"),
        };
        Server { peer_url, client_urls: Vec::new() }
    }))
}

fn judge(membership: &Membership, member: &Member) -> Result<OwnMember, ResetError> {
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
