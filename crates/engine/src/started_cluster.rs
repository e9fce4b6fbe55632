//! A cluster whose `kubeadm init` did not finish: whether others may have joined it meanwhile, so that it is not undone.
use crate::{
    EtcdAccess, EtcdPod, Patience, Unanswered, World,
    acts::ADMIN,
    etcd_access::MANIFEST,
    etcd_data,
    phases::worker::{KUBELET_KUBECONFIG, NODE_USER, Worker},
};
use etcd::Member;
use host::{Inspect, Service};
use objects::{one_line, yaml};

const NODES: &str = "/api/v1/nodes";

/// Why the cluster on this machine is not deleted; `None` when nobody else can have anything of it.
///
/// An etcd that has data and does not answer is a reason: its data is deleted only when it was seen that no other member
/// needs it.
pub(crate) fn reason_to_keep(certificates: &str, world: &World<'_>) -> host::Result<Option<String>> {
    let kubelet_runs = || matches!(world.host.service("kubelet"), Ok(Service::Active));
    let patience = Patience { within: world.patience, while_true: &kubelet_runs };
    Ok(match other_members(certificates, world, &patience)? {
        Some(reason) => Some(reason),
        None => other_nodes(certificates, world, &patience)?,
    })
}

fn other_members(certificates: &str, world: &World<'_>, patience: &Patience<'_>) -> host::Result<Option<String>> {
    if !etcd_data::is_here(certificates, world.host)? {
        return Ok(None);
    }
    let Some(pod) = EtcdPod::on(world.host)? else {
        return Ok(Some(format!("its etcd has data, and {MANIFEST} is missing or cannot be read")));
    };
    let Some(access) = EtcdAccess::on(world.host, certificates)? else {
        return Ok(Some("its etcd has data, and the certificate to ask it is missing".to_owned()));
    };
    Ok(match world.cluster.members(&access, patience) {
        Ok(membership) => {
            let others = membership.members.iter().filter(|member| !member.has_peer_url(&pod.peer_url));
            list("its etcd has other members", others.map(Member::title))
        }
        Err(Unanswered(why)) => Some(format!("its etcd has data and does not answer: {}", one_line(&why))),
    })
}

fn other_nodes(certificates: &str, world: &World<'_>, patience: &Patience<'_>) -> host::Result<Option<String>> {
    let own = own_node(world.host)?;
    let names = match nodes_by_api(world, patience)? {
        Some(names) => names,
        None => match nodes_by_etcd(certificates, world)? {
            Ok(names) => names,
            Err(Unanswered(why)) => {
                return Ok(Some(format!("whether its etcd has other Nodes is unknown: {}", one_line(&why))));
            }
        },
    };
    let others = names.iter().map(String::as_str).filter(|name| own.as_deref() != Some(name));
    Ok(list("the cluster has other Nodes", others))
}

/// `None` where the API server does not answer.
fn nodes_by_api(world: &World<'_>, patience: &Patience<'_>) -> host::Result<Option<Vec<String>>> {
    let Some(admin) = world.host.file(ADMIN)? else { return Ok(None) };
    let Ok(Some(nodes)) = world.cluster.object(admin.contents.expose(), NODES, patience) else { return Ok(None) };
    let items = nodes["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(Some(items.iter().filter_map(|node| node["metadata"]["name"].as_str()).map(str::to_owned).collect()))
}

/// An API server that does not answer now may have answered when others joined. Without data nobody has.
fn nodes_by_etcd(certificates: &str, world: &World<'_>) -> host::Result<Result<Vec<String>, Unanswered>> {
    if !etcd_data::is_here(certificates, world.host)? {
        return Ok(Ok(Vec::new()));
    }
    Ok(match EtcdAccess::on(world.host, certificates)? {
        Some(access) => world.cluster.nodes_in_etcd(&access),
        None => Err(Unanswered("the certificate to ask it is missing".to_owned())),
    })
}

/// The name of this machine's Node, by the kubelet's kubeconfig that `kubeadm init` writes; a kubelet that joins writes one
/// without the name, and its certificate has it.
pub fn own_node(host: &dyn Inspect) -> host::Result<Option<String>> {
    let kubeconfig = host.file(KUBELET_KUBECONFIG)?;
    let text = kubeconfig.as_ref().and_then(|file| std::str::from_utf8(file.contents.expose()).ok());
    let value = text.and_then(|text| yaml::value(text).ok()).unwrap_or_default();
    let user = value["users"][0]["name"].as_str().and_then(|user| user.strip_prefix(NODE_USER));
    let named = user.map(str::to_owned);
    named.map_or_else(|| Ok(Worker::on(host)?.certified_node().map(str::to_owned)), |name| Ok(Some(name)))
}

fn list<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> = names.map(one_line).collect();
    (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
}
