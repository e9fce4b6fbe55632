//! kubeadm's API is not ours: no document of machineadm has its kinds, its groups or its fields, and none of kubeadm's is
//! accepted.
use kubeadm::{ApiVersion, GROUP, Kind};
use serde_json::Value;
use std::collections::BTreeSet;

/// Every field of every kubeadm API version, as the sources of kubeadm have them; the crate `kubeadm` is held to it.
const FIELDS: &str = include_str!("../../../kubeadm/tests/vectors/kubeadm-fields.json");

/// Words that a type of ours and one of kubeadm's share. None of them is a structure of kubeadm's, such as
/// `nodeRegistration` or `extraArgs`: a further one is a decision to expose kubeadm's API. Those of a join are the words
/// of the specifications (`certificateKey`, `discovery`, `endpoints`, `file`, `token`, `tlsBootstrapToken`), and a taint
/// is one of Kubernetes (`taints`, `key`, `value`, `effect`), as a volume is (`hostPath`, `mountPath`, `readOnly`, `type`).
/// An InitConfig names the parts of a control plane as everybody does (`apiServer`, `controllerManager`, `scheduler`,
/// `etcd`, `patches`, `certSANs`, `clusterName`, `dnsDomain`, `featureGates`, `imageRepository`, `bootstrapToken`, `ttl`).
/// A ContainerdConfig has a `proxy`, which in kubeadm is the addon.
const SHARED_WORDS: [&str; 41] = [
    "advertiseAddress",
    "apiServer",
    "apiVersion",
    "bootstrapToken",
    "certSANs",
    "certificateKey",
    "clusterName",
    "controlPlane",
    "controlPlaneEndpoint",
    "controllerManager",
    "directory",
    "discovery",
    "dnsDomain",
    "effect",
    "endpoints",
    "etcd",
    "featureGates",
    "file",
    "groups",
    "hostPath",
    "imageRepository",
    "key",
    "kind",
    "kubernetesVersion",
    "mountPath",
    "name",
    "patches",
    "path",
    "peerCertSANs",
    "proxy",
    "readOnly",
    "scheduler",
    "serverCertSANs",
    "taints",
    "timeout",
    "timeouts",
    "tlsBootstrapToken",
    "token",
    "ttl",
    "type",
    "value",
];

/// Every name of a member in a schema, whatever is nested in what.
fn members(schema: &Value, found: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        found.extend(properties.keys().cloned());
    }
    match schema {
        Value::Object(below) => below.values().for_each(|below| members(below, found)),
        Value::Array(items) => items.iter().for_each(|below| members(below, found)),
        _ => {}
    }
}

/// Every name of a field of kubeadm's.
fn fields_of_kubeadm() -> BTreeSet<String> {
    let list: Value = serde_json::from_str(FIELDS).expect("the list of fields");
    let versions = list["versions"].as_object().expect("versions");
    assert!(ApiVersion::ALL.iter().all(|api| versions.contains_key(api.name())), "a version has no list");
    let kinds = versions.values().flat_map(|version| version["kinds"].as_object().expect("kinds").values());
    let fields = kinds.flat_map(|kind| kind["fields"].as_array().expect("fields"));
    fields.map(|field| field["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn no_document_has_a_kind_a_group_or_a_structure_of_kubeadms() {
    let schema = documents::json_schema();
    let text = schema.to_string();
    for foreign in Kind::ALL.map(Kind::name).into_iter().chain([GROUP]) {
        assert!(!text.contains(foreign), "the schema names {foreign}");
    }
    let mut ours = BTreeSet::new();
    members(&schema, &mut ours);
    assert!(ours.len() > 50, "{ours:?}");
    let theirs = fields_of_kubeadm();
    assert!(theirs.contains("nodeRegistration") && theirs.len() > 100, "{theirs:?}");
    let shared: Vec<&str> = ours.intersection(&theirs).map(String::as_str).collect();
    assert_eq!(shared, SHARED_WORDS);
}

#[test]
fn no_document_of_kubeadms_is_accepted() {
    let scratch = tempfile::tempdir().expect("a folder");
    let file = scratch.path().join("kubeadm.yaml");
    for api in ApiVersion::ALL {
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_in(api)) {
            std::fs::write(&file, format!("apiVersion: {api}\nkind: {kind}\n")).expect("a file");
            for command in ["plan", "bootstrap"] {
                let root = ["--root".as_ref(), scratch.path().as_os_str()];
                let ran = crate::support::binary::run(
                    [&[command.as_ref(), "-f".as_ref(), file.as_os_str()], &root[..]].concat(),
                );
                assert_eq!(ran.code, Some(2), "{api} {kind}: {}{}", ran.stdout, ran.stderr);
                assert!(ran.stderr.contains(kind.name()), "{api} {kind}: {}", ran.stderr);
            }
        }
    }
}
