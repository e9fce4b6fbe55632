//! Discovery: finds and verifies the cluster that a JoinConfig names, before kubeadm is started.
use super::{cluster_skew::Skew, join, worker::Worker};
use crate::{
    Facts, Look, Patience, PlanError, Planned, Remark, TurnId, Unanswered,
    acts::kubeadm_join::bootstrap_kubeconfig,
    look::Stage,
    turns::{Addition, Place, Subject},
};
use discovery::{ClusterInfo, Method, Pin, method::Pinning};
use documents::{
    AnyDocument,
    v1alpha1::{self, JoinDiscovery},
};
use outcome::AddedTurn;
use std::time::Duration;

/// How long the API server may take to tell its version.
const VERSION: Duration = Duration::from_secs(10);

pub(crate) const ADDITION: Addition = Addition {
    turn: AddedTurn::Discovery,
    summary: "finds the cluster of a JoinConfig and verifies it; a cluster that does not answer yet is asked again",
    place: Place::BeforeNode,
    applies: |node| node.is_some_and(|node| matches!(node.body, AnyDocument::Join(_))),
    plan,
};

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let Some(AnyDocument::Join(wanted)) = subject.node.map(|node| &node.body) else { return Ok(Planned::default()) };
    if let Some(commands) = look.waits_for_acts() {
        return Ok(Planned { known_after: Some(commands), ..Planned::default() });
    }
    let worker = Worker::seen(look)?;
    if worker.credentials().is_some() {
        check_same_cluster(wanted, &worker)?;
        return Ok(Planned::default());
    }
    if look.stage == Stage::Preview {
        return Ok(Planned { known_after: Some(TurnId::from(AddedTurn::Discovery)), ..Planned::default() });
    }
    let method = method(wanted, look)?;
    let cluster = look.cluster.discover(&method, wanted.timeout)?;
    let remarks = fits(wanted, &cluster, look)?;
    Ok(Planned { remarks, facts: Facts { cluster: Some(cluster), ..Facts::default() }, ..Planned::default() })
}

/// Refuses a cluster that this machine's versions or clock do not fit: kubeadm would find that out late, or the kubelet
/// after it. An API server that does not tell its version is no reason to stop.
fn fits(wanted: &v1alpha1::Join, cluster: &ClusterInfo, look: &Look<'_>) -> Result<Vec<Remark>, PlanError> {
    let Some(token) = wanted.node_token() else { return Ok(Vec::new()) };
    let kubeconfig = bootstrap_kubeconfig(cluster, &join::token(token, look)?);
    let patience = Patience { within: VERSION, while_true: &|| false };
    let server = match look.cluster.version(kubeconfig.expose(), &patience) {
        Ok(server) => server,
        Err(Unanswered(why)) => return Ok(vec![Remark::Unasked { what: "version of the API server".into(), why }]),
    };
    let Skew { problems, remarks } = Skew::between(look.facts, &server, &wanted.tolerated_checks);
    if problems.is_empty() { Ok(remarks) } else { Err(PlanError::Unfit(problems)) }
}

/// How discovery is asked, with the token read from its file.
fn method(wanted: &v1alpha1::Join, look: &Look<'_>) -> Result<Method, PlanError> {
    Ok(match &wanted.discovery {
        JoinDiscovery::Token { endpoints, token, pinning } => {
            Method::Token { endpoints: endpoints.clone(), token: join::token(token, look)?, pinning: pinning.clone() }
        }
        JoinDiscovery::File { source, verification } => {
            Method::File { source: source.clone(), verification: *verification }
        }
    })
}

/// A node of another cluster is not joined to this one. Only CA pins can tell: the token may have expired by now.
fn check_same_cluster(wanted: &v1alpha1::Join, worker: &Worker) -> Result<(), PlanError> {
    let JoinDiscovery::Token { pinning: Pinning::Pins(pins), .. } = &wanted.discovery else { return Ok(()) };
    let is_other = worker.authorities().is_some_and(|own| Pin::matching(pins, own.certificates()).is_empty());
    match is_other {
        true => Err(PlanError::OtherCluster),
        false => Ok(()),
    }
}
