//! Control planes of several machines: their documents, and what etcd says of its members.
use crate::support::cluster::{Authority, LIMIT, TOKEN, control_plane};
use serde_json::Value;
use std::collections::BTreeMap;
use testbed::{Error, Machine, Result, until};

/// The certificate key of every cluster.
pub(crate) const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";

/// The first control plane node's documents: others can join.
pub(crate) fn first_of_several(ca: &Authority, endpoint: &str) -> String {
    let more = format!(
        "  controlPlaneEndpoint: {endpoint}\n  certificateKey: {KEY}\n  bootstrapToken: {{token: {TOKEN}}}\n  podSubnets:"
    );
    control_plane(ca).replacen("  podSubnets:", &more, 1)
}

/// A member of etcd, as etcd lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_learner: bool,
}

/// Asks the etcd of a control plane node, with its own client certificate.
pub(crate) fn etcd(machine: &Machine, path: &str, body: &str) -> Result<Value> {
    let pki = "/etc/kubernetes/pki/etcd";
    let url = format!("https://127.0.0.1:2379/v3/{path}");
    let words = format!(
        "curl -sS --max-time 10 --cacert {pki}/ca.crt --cert {pki}/healthcheck-client.crt --key \
         {pki}/healthcheck-client.key -X POST -d '{body}' {url}"
    );
    let printed = machine.shell(&words)?;
    serde_json::from_str(&printed).map_err(|_| Error::Unreadable { what: format!("etcd's {path}"), found: printed })
}

/// The members of etcd by their peer URLs, as this machine's etcd lists them.
pub(crate) fn members(machine: &Machine) -> Result<BTreeMap<String, Listed>> {
    let list = etcd(machine, "cluster/member/list", "{\"linearizable\":true}")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let listed = list["members"].as_array().into_iter().flatten().map(|member| {
        let is_learner = member["isLearner"] == true;
        (text(&member["peerURLs"][0]), Listed { id: text(&member["ID"]), name: text(&member["name"]), is_learner })
    });
    Ok(listed.collect())
}

/// The names of all members, which must all vote.
pub(crate) fn voters(machine: &Machine) -> Result<Vec<String>> {
    let members = members(machine)?;
    assert!(members.values().all(|member| !member.is_learner), "{members:?}");
    let mut names: Vec<String> = members.into_values().map(|member| member.name).collect();
    names.sort();
    Ok(names)
}

/// The API server of this very machine answers, and its etcd agrees with the others.
pub(crate) fn serves(machine: &Machine) -> Result<()> {
    let url = format!("--server=https://{}:6443", machine.address());
    until(&format!("{}'s own API server", machine.name()), LIMIT, || {
        let ready = machine.kubectl(&[&url, "get", "--raw", "/readyz"]).map_err(|error| error.to_string())?;
        if ready == "ok" { Ok(()) } else { Err(ready) }
    })?;
    let read = etcd(machine, "kv/range", "{\"key\":\"aGVhbHRo\"}")?;
    assert!(read["header"]["member_id"].is_string(), "{read}");
    Ok(())
}
