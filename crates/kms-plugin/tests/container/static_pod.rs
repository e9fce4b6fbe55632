//! The plugin in a static pod with host network, which takes credentials from the metadata service of its instance.
use crate::fake_aws_kms::{ARN, FakeAwsKms, serve};
use crate::fake_credentials::{admit_lent, metadata_service_on};
use crate::{status, with_image};
use serde_json::{Value, json};
use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;
use testbed::plugin_image::REFERENCE;
use testbed::programs::KMS_CLIENT;
use testbed::{Bed, Result, until};

const LIMIT: Duration = Duration::from_secs(120);
/// Where instances find their metadata service; the plugin's default.
const METADATA: &str = "169.254.169.254";

/// The security context that the docs have to copy.
fn security_context() -> Value {
    let docs = include_str!("../../../../docs/operating/kms.md");
    let block = docs.split("```yaml\n").find(|block| block.starts_with("securityContext:")).unwrap();
    let tree = objects::yaml::parse(block.split("```").next().unwrap()).unwrap();
    tree.value["securityContext"].clone()
}

/// The pod, with this security context.
fn pod() -> String {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "kms", "namespace": "kube-system"},
        "spec": {
            "hostNetwork": true,
            "containers": [{
                "name": "kms", "image": REFERENCE, "imagePullPolicy": "Never",
                "args": ["--config", "/etc/kms/kms.yaml"],
                "securityContext": security_context(),
                "volumeMounts": [
                    {"name": "configuration", "mountPath": "/etc/kms", "readOnly": true},
                    {"name": "sockets", "mountPath": "/run/kmsplugin"},
                ],
            }],
            "volumes": [
                {"name": "configuration", "hostPath": {"path": "/etc/kms"}},
                {"name": "sockets", "hostPath": {"path": "/run/kmsplugin"}},
            ],
        },
    });
    pod.to_string()
}

#[test]
fn a_static_pod_with_host_network_takes_credentials_from_the_metadata_service() -> Result<()> {
    testbed::needs!(Nodes, Pinned(&KMS_CLIENT));
    let bed = Bed::new()?;
    let machine = with_image(&bed)?;
    machine.shell(&format!("ip address add {METADATA}/32 dev lo"))?;
    let (_, lender) = metadata_service_on(machine.listen(format!("{METADATA}:80").parse().unwrap())?);
    let fake =
        FakeAwsKms::served_by(|state| machine.fake_server(8443, move |seen, tls| serve(&state, seen, tls)).unwrap());
    admit_lent(&fake, 1..=20);
    let configuration = json!({
        "apiVersion": "kms.machineadm.cluster.x-k8s.io/v1alpha1", "kind": "PluginConfiguration",
        "keys": [{"name": "a", "socket": "/run/kmsplugin/a.sock", "aws": {
            "keyArn": ARN, "endpoint": fake.endpoint(), "caFile": "/etc/kms/ca.crt",
            "credentials": {"instanceMetadata": {}},
        }}],
    });
    machine.write("/etc/kms/kms.yaml", configuration.to_string(), 0o600)?;
    machine.write("/etc/kms/ca.crt", fs::read_to_string(fake.ca_file()).unwrap(), 0o600)?;
    let context = security_context();
    let is_confined = context["readOnlyRootFilesystem"] == true && context["capabilities"]["drop"][0] == "ALL";
    assert!(is_confined && context["seccompProfile"]["type"] == "RuntimeDefault", "{context}");
    machine.run_static_pod("kms", &pod())?;
    until("the plugin in its static pod has a healthy key", LIMIT, || {
        let told = status(&machine)?;
        let is_good = told["healthz"] == "ok" && told["keyID"].as_str().is_some_and(|id| id.starts_with("aws:"));
        let journal = || machine.shell("journalctl -n 20 -u standalone --no-pager").unwrap_or_default();
        if is_good { Ok(()) } else { Err(format!("{told}\n{}", journal())) }
    })?;
    assert!(lender.lent.load(Ordering::SeqCst) > 0, "the credentials are those of the instance");
    let runs = machine.shell("readlink /proc/1/ns/net /proc/$(pgrep -f '^/machineadm-kms-plugin')/ns/net | uniq -c")?;
    assert!(runs.trim().starts_with("2 net:"), "the pod has the network of the machine: {runs}");
    bed.down()
}
