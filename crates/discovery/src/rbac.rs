//! What a cluster needs so that machines with a token can find and join it: cluster-info, roles and bindings.
use crate::{
    cluster_info::{ClusterInfo, NAME, NAMESPACE},
    usage::NODE_GROUP,
};
use objects::{ClusterRole, ClusterRoleBinding, Object, ObjectMeta, PolicyRule, Role, RoleBinding, RoleRef, Subject};

const CLUSTER_INFO_READER: &str = "kubeadm:bootstrap-signer-clusterinfo";
const GET_NODES: &str = "kubeadm:get-nodes";

/// Roles of the whole cluster, each with who gets it: the binding's name, the role, the subject.
fn cluster_bindings() -> [(&'static str, &'static str, Subject); 5] {
    let nodes = || Subject::group(NODE_GROUP);
    [
        (GET_NODES, GET_NODES, nodes()),
        ("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", nodes()),
        (
            "kubeadm:node-autoapprove-bootstrap",
            "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
            nodes(),
        ),
        (
            "kubeadm:node-autoapprove-certificate-rotation",
            "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
            Subject::group("system:nodes"),
        ),
        (
            "kubeadm:apiserver-kubelet-client",
            "system:kubelet-api-admin",
            Subject::user("kube-apiserver-kubelet-client"),
        ),
    ]
}

/// Everything that machines with a token need, in the order in which it is made; names and rules are kubeadm's.
/// kube-apiserver makes the namespace. Anonymous reading comes last, when there is something to read.
pub fn bootstrap_objects(info: &ClusterInfo) -> Vec<Object> {
    let mut objects = vec![ClusterRole::new(ObjectMeta::named(GET_NODES), vec![PolicyRule::get("nodes", &[])]).into()];
    objects.extend(cluster_bindings().map(|(name, role, subject)| {
        Object::from(ClusterRoleBinding::new(ObjectMeta::named(name), RoleRef::cluster_role(role), vec![subject]))
    }));
    objects.push(info.config_map().into());
    objects.push(Role::new(reader(), vec![PolicyRule::get("configmaps", &[NAME])]).into());
    let anonymous = vec![Subject::user("system:anonymous")];
    objects.push(RoleBinding::new(reader(), RoleRef::role(CLUSTER_INFO_READER), anonymous).into());
    objects
}

fn reader() -> ObjectMeta {
    ObjectMeta::named_in(NAMESPACE, CLUSTER_INFO_READER)
}
