//! What a cluster needs so that machines can discover and join it, made so: for a command now, for a phase later.
use crate::{ApiServer, Effect, Ensured, Result};
use discovery::{
    ClusterInfo,
    cluster_info::{KUBECONFIG_KEY, SIGNATURE_PREFIX},
    rbac::bootstrap_objects,
};
use objects::Object;
use serde_json::Value;

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
    /// kept, except for signatures of another kubeconfig.
    pub fn ensure_bootstrap_objects(
        &self,
        info: &ClusterInfo,
        effect: Effect,
        done: &mut dyn FnMut(Settled),
    ) -> Result<()> {
        for object in bootstrap_objects(info) {
            let value = serde_json::to_value(&object).map_err(|_| self.strange("an object of ours is no JSON"))?;
            let ensured = self.ensure_but(&object.collection(), &value, effect, forget_signatures)?;
            done(Settled { object: title(&object), ensured });
        }
        Ok(())
    }
}

/// A signature of another kubeconfig proves nothing, and whoever finds one that doesn't fit takes it for an attack: until
/// the signer has made new ones there are none.
fn forget_signatures(want: &Value, live: &mut Value) {
    let kubeconfig = &want["data"][KUBECONFIG_KEY];
    if !kubeconfig.is_null()
        && live["data"][KUBECONFIG_KEY] != *kubeconfig
        && let Some(data) = live["data"].as_object_mut()
    {
        data.retain(|key, _| !key.starts_with(SIGNATURE_PREFIX));
    }
}

fn title(object: &Object) -> String {
    let metadata = object.metadata();
    let namespace = if metadata.namespace.is_empty() { String::new() } else { format!("{}/", metadata.namespace) };
    format!("{} {namespace}{}", object.kind(), metadata.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn signatures_go_with_the_kubeconfig_that_they_are_for() {
        let live = json!({"data": {"kubeconfig": "a", "jws-kubeconfig-abcdef": "x", "other": "y"}});
        for (want, left) in [
            (json!({"data": {"kubeconfig": "a"}}), live.clone()),
            (json!({"metadata": {"labels": {"a": "b"}}}), live.clone()),
            (json!({"data": {"kubeconfig": "b"}}), json!({"data": {"kubeconfig": "a", "other": "y"}})),
        ] {
            let mut found = live.clone();
            forget_signatures(&want, &mut found);
            assert_eq!(found, left, "{want}");
        }
    }
}
