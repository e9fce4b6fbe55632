//! What a cluster needs so that machines can discover and join it, made so: for a command now, for a phase later.
use crate::{ApiServer, Effect, Ensured, Result};
use discovery::{ClusterInfo, rbac::bootstrap_objects};
use objects::Object;

/// One object and what had to be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Such as `ConfigMap kube-public/cluster-info`.
    pub object: String,
    /// What had to be done.
    pub ensured: Ensured,
}

impl ApiServer {
    /// Makes cluster-info, the roles and the bindings so, in order; `done` is told of each. What others put beside is
    /// kept, signatures too: the signer renews them when the kubeconfig changes.
    pub fn ensure_bootstrap_objects(
        &self,
        info: &ClusterInfo,
        effect: Effect,
        done: &mut dyn FnMut(Settled),
    ) -> Result<()> {
        for object in bootstrap_objects(info) {
            let value = serde_json::to_value(&object).map_err(|_| self.strange("an object of ours is no JSON"))?;
            let ensured = self.ensure(&object.collection(), &value, effect)?;
            done(Settled { object: title(&object), ensured });
        }
        Ok(())
    }
}

fn title(object: &Object) -> String {
    let metadata = object.metadata();
    let namespace = if metadata.namespace.is_empty() { String::new() } else { format!("{}/", metadata.namespace) };
    format!("{} {namespace}{}", object.kind(), metadata.name)
}
