//! The kubeadm-config ConfigMap of a cluster, read and written, and the other ConfigMaps of kubeadm, read.
use crate::{
    command::{api, token::arguments::Connection},
    command_error::CommandError,
};
use cluster::{ApiServer, Effect, Replaced, Value};
use engine::outcome::chain;

const PATH: &str = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";
/// The ConfigMaps of kubeadm and of its addons.
const MAPS: &str = "/api/v1/namespaces/kube-system/configmaps";

/// The map of one cluster.
pub(super) struct ClusterMap(ApiServer);

impl ClusterMap {
    /// Of the cluster that a kubeconfig names.
    pub(super) fn of(connection: &Connection) -> Result<Self, CommandError> {
        api::connect(api::kubeconfig(connection)?).map(Self)
    }

    /// The map as JSON, with the version that a later write is compared with.
    pub(super) fn get(&self) -> Result<String, CommandError> {
        let map = self.0.get(PATH).map_err(|error| failed("read", &error))?;
        let none = || {
            CommandError::failed("the cluster has no ConfigMap kube-system/kubeadm-config: kubeadm did not create it")
        };
        map.map(|map| map.to_string()).ok_or_else(none)
    }

    /// The text of one key of another ConfigMap in kube-system; `None` if there is no such ConfigMap or key.
    pub(super) fn text_of(&self, name: &str, key: &str) -> Result<Option<String>, cluster::Error> {
        let map = self.0.get(&format!("{MAPS}/{name}"))?;
        Ok(map.and_then(|map| map["data"][key].as_str().map(str::to_owned)))
    }

    /// Writes it; `false` if another client has written it since it was read.
    pub(super) fn replace(&self, map: &str, effect: Effect) -> Result<bool, CommandError> {
        let map: Value =
            serde_json::from_str(map).map_err(|_| CommandError::failed("the edited ConfigMap is not JSON"))?;
        let replaced = self.0.replace(PATH, &map, effect).map_err(|error| failed("write", &error))?;
        Ok(matches!(replaced, Replaced::Replaced(_)))
    }
}

fn failed(verb: &str, error: &cluster::Error) -> CommandError {
    CommandError::failed(format!("cannot {verb} kubeadm-config: {}", chain(error)))
}
