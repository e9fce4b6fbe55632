//! Beginning a cluster with kubeadm (R1).
use super::preflight;
use crate::{Known, Machine, Phase, PlanError, Planned, steps_for};
use documents::{Secret, v1alpha1, v1alpha1::Repeat};
use host::{Act, Inspect};
use serde_json::{Value, json};

const API_VERSION: &str = "kubeadm.k8s.io/v1beta4";

pub(crate) struct Init;

impl Phase for Init {
    fn name(&self) -> &'static str {
        "init"
    }

    fn summary(&self) -> &'static str {
        "begins a cluster with kubeadm, or takes back its own half-done beginning and begins again"
    }

    fn plan(&self, machine: &Machine, known: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError> {
        let Some(wanted) = &machine.init else { return Ok(Planned::default()) };
        if preflight::waits_for_commands(machine, known, seen)? {
            return Ok(Planned { known_after: Some(preflight::NAME), ..Planned::default() });
        }
        steps_for(act(wanted), Repeat::Once, seen)
    }
}

/// `kubeadm init` with all that it needs to know.
pub(super) fn act(wanted: &v1alpha1::Init) -> Act {
    Act::Init(host::Init {
        file: Secret::new(file(wanted)),
        api_version: API_VERSION.into(),
        version: wanted.kubernetes_version.clone(),
        runtime_socket: wanted.runtime_socket.clone(),
    })
}

/// kubeadm's file. JSON is YAML with every string quoted, so that kubeadm's YAML 1.1 reader takes none for a number.
fn file(wanted: &v1alpha1::Init) -> String {
    let ours = [
        json!({
            "apiVersion": API_VERSION,
            "kind": "InitConfiguration",
            "localAPIEndpoint": {"advertiseAddress": wanted.advertise_address},
            "nodeRegistration": {
                "name": wanted.node_name,
                "criSocket": format!("unix://{}", wanted.runtime_socket),
                "ignorePreflightErrors": wanted.ignored_checks,
            },
        }),
        json!({
            "apiVersion": API_VERSION,
            "kind": "ClusterConfiguration",
            "kubernetesVersion": wanted.kubernetes_version,
            "controlPlaneEndpoint": wanted.control_plane_endpoint,
            "networking": {
                "podSubnet": wanted.pod_subnets.join(","),
                "serviceSubnet": wanted.service_subnets.join(","),
            },
        }),
    ];
    let components = [
        component("kubelet.config.k8s.io/v1beta1", "KubeletConfiguration", &wanted.kubelet),
        component("kubeproxy.config.k8s.io/v1alpha1", "KubeProxyConfiguration", &wanted.kube_proxy),
    ];
    let documents = ours.into_iter().map(without_empty).chain(components);
    documents.map(|document| format!("---\n{document:#}\n")).collect()
}

fn component(api_version: &str, kind: &str, members: &v1alpha1::Members) -> Value {
    let mut document = members.clone();
    document.insert("apiVersion".into(), api_version.into());
    document.insert("kind".into(), kind.into());
    Value::Object(document)
}

/// What was not asked for is kubeadm's to choose, so it is not written at all.
fn without_empty(document: Value) -> Value {
    match document {
        Value::Object(members) => {
            let is_empty =
                |value: &Value| value.is_null() || *value == json!("") || *value == json!([]) || *value == json!({});
            let members = members.into_iter().map(|(name, value)| (name, without_empty(value)));
            Value::Object(members.filter(|(_, value)| !is_empty(value)).collect())
        }
        other => other,
    }
}
