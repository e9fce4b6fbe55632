//! kubeadm's files at random: every field of every API version, with values that a machine could have.
use kubeadm::ApiVersion;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, sync::LazyLock};

/// Every field of every kubeadm API version, as the sources of kubeadm have them.
const FIELDS: &str = include_str!("../../../kubeadm/tests/vectors/kubeadm-fields.json");
const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
const PIN: &str = "sha256:9f3a5a2e0c1c0b5b2e2f9e5d6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7";

/// Each API version, and a Kubernetes version whose kubeadm reads it.
pub(crate) const VERSIONS: [(ApiVersion, &str); 5] = [
    (ApiVersion::V1Beta1, "v1.14.0"),
    (ApiVersion::V1Beta2, "v1.21.0"),
    (ApiVersion::V1Beta3, "v1.30.0"),
    (ApiVersion::V1Beta4, "v1.36.0"),
    (ApiVersion::V1, "v1.37.0"),
];

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// `kubeadm init`.
    Init,
    /// `kubeadm join`.
    Join,
}

/// One field and one of its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick {
    field: usize,
    value: usize,
}

impl Pick {
    /// Every value of every field.
    pub(crate) fn each(api: ApiVersion, purpose: Purpose) -> Vec<Self> {
        let choices = choices(api, purpose);
        let of = |(field, (_, _, values)): (usize, &Choice)| (0..values.len()).map(move |value| Self { field, value });
        choices.iter().enumerate().flat_map(of).collect()
    }
}

/// So many picks at most.
pub(crate) fn picks(most: usize) -> impl Strategy<Value = Vec<Pick>> {
    let pick = (0..1000_usize, 0..100_usize).prop_map(|(field, value)| Pick { field, value });
    prop::collection::vec(pick, 0..most)
}

/// The file that picks make.
pub(crate) fn file(api: ApiVersion, version: &str, purpose: Purpose, picks: &[Pick]) -> String {
    let mut documents = json!({});
    match purpose {
        Purpose::Join => {
            documents["JoinConfiguration"]["discovery"] = json!({"bootstrapToken":
            {"token": "abcdef.0123456789abcdef", "apiServerEndpoint": "10.0.0.1:6443", "caCertHashes": [PIN]}})
        }
        Purpose::Init => {
            documents["ClusterConfiguration"]["kubernetesVersion"] = version.into();
            documents["InitConfiguration"] = json!({});
        }
    }
    let choices = choices(api, purpose);
    for Pick { field, value } in picks {
        let (kind, path, values) = &choices[field % choices.len()];
        let mut here = &mut documents[*kind];
        for name in path.split('.') {
            here = &mut here[name];
        }
        *here = values[value % values.len()].clone();
    }
    let mut text = String::new();
    for (kind, mut document) in documents.as_object().expect("documents").clone() {
        document["apiVersion"] = api.to_string().into();
        document["kind"] = kind.into();
        text.push_str(&format!("---\n{document}\n"));
    }
    text
}

/// Fails unless every leaf that the sources of kubeadm have is in some value.
pub(crate) fn every_field_is_tried(api: ApiVersion) {
    let kinds = [
        ("ClusterConfiguration", Purpose::Init),
        ("InitConfiguration", Purpose::Init),
        ("JoinConfiguration", Purpose::Join),
    ];
    for (kind, purpose) in kinds {
        let mut tried = BTreeSet::new();
        for (of, path, values) in choices(api, purpose).into_iter().filter(|(of, ..)| *of == kind) {
            assert_eq!(of, kind);
            values.iter().for_each(|value| leaves(&path, value, &mut tried));
        }
        let known = listed(api, kind).into_iter().filter(|(path, sort)| {
            let is_said = ["kind", "apiVersion", "kubernetesVersion"].contains(&path.as_str());
            // The name of a variable stands for all of it.
            !is_said && !sort.starts_with("object") && !sort.starts_with("list<object>") && !path.contains("valueFrom.")
        });
        let known: BTreeSet<String> = known.map(|(path, _)| path).collect();
        let missing: Vec<&String> = known.difference(&tried).collect();
        assert!(missing.is_empty(), "{api} {kind}: no values for {missing:?}");
    }
}

fn leaves(path: &str, value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            into.insert(path.to_owned());
            members.iter().for_each(|(name, member)| leaves(&format!("{path}.{name}"), member, into));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().for_each(|item| leaves(&format!("{path}[]"), item, into));
        }
        _ => _ = into.insert(path.to_owned()),
    }
}

/// Path and type of each field.
fn listed(api: ApiVersion, kind: &str) -> Vec<(String, String)> {
    static LIST: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(FIELDS).expect("the list"));
    let fields = LIST["versions"][api.name()]["kinds"][kind]["fields"].as_array().expect("fields").clone();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    fields.iter().map(|field| (text(&field["path"]), text(&field["type"]))).collect()
}

/// A kind, a path, and what may stand there.
type Choice = (&'static str, String, Vec<Value>);

/// What may be set in one version, in the form of that version.
fn choices(api: ApiVersion, purpose: Purpose) -> Vec<Choice> {
    let table = if purpose == Purpose::Join { join_values() } else { [cluster_values(api), init_values()].concat() };
    let kinds = ["ClusterConfiguration", "InitConfiguration", "JoinConfiguration"];
    let known = kinds.map(|kind| (kind, listed(api, kind)));
    let mut choices = Vec::new();
    for (kind, path, mut values) in table {
        let fields = &known.iter().find(|(name, _)| *name == kind).expect("a kind").1;
        let is_known = |path: &str| fields.iter().any(|(known, _)| known == path);
        let Some((_, sort)) = fields.iter().find(|(known, _)| *known == path) else { continue };
        if sort.starts_with("map<string,string>") {
            values.iter_mut().for_each(by_name);
        }
        for item in values.iter_mut().filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut) {
            item.retain(|name, _| is_known(&format!("{path}[].{name}")));
        }
        choices.push((kind, path, values));
    }
    choices
}

/// Arguments as older versions write them.
fn by_name(arguments: &mut Value) {
    let pairs = arguments.as_array().expect("arguments").iter();
    let pairs = pairs.map(|pair| (pair["name"].as_str().expect("a name").to_owned(), pair["value"].clone()));
    *arguments = Value::Object(pairs.collect::<Map<_, _>>());
}

fn cluster_values(api: ApiVersion) -> Vec<Choice> {
    let (usual, other) = ("10.0.0.7", "api.example.com");
    let gate = match api {
        ApiVersion::V1Beta1 => "CoreDNS",
        ApiVersion::V1Beta2 => "PublicKeysECDSA",
        _ => "RootlessControlPlane",
    };
    let mut values = vec![
        ("etcd.local.imageRepository", vec![json!("registry.example.com/k8s")]),
        ("etcd.local.imageTag", vec![json!("3.6.8-0")]),
        ("etcd.local.dataDir", vec![json!("/srv/etcd")]),
        ("etcd.local.serverCertSANs", vec![json!([usual, other])]),
        ("etcd.local.peerCertSANs", vec![json!([usual])]),
        ("etcd.external.endpoints", vec![json!(["https://10.0.0.8:2379"])]),
        ("etcd.external.httpEndpoints", vec![json!(["http://10.0.0.8:2381"])]),
        ("etcd.external.caFile", vec![json!("/etc/etcd/ca.crt")]),
        ("etcd.external.certFile", vec![json!("/etc/etcd/client.crt")]),
        ("etcd.external.keyFile", vec![json!("/etc/etcd/client.key")]),
        ("networking.serviceSubnet", vec![json!("10.97.0.0/16"), json!("10.97.0.0/16,fd00:1::/112")]),
        ("networking.podSubnet", vec![json!("10.244.0.0/16")]),
        ("networking.dnsDomain", vec![json!("k8s.example")]),
        ("controlPlaneEndpoint", vec![json!("api.example.com:6443"), json!("api.example.com")]),
        ("apiServer.certSANs", vec![json!([other, usual])]),
        ("apiServer.timeoutForControlPlane", vec![json!("6m0s"), json!("4m0s"), json!("0s")]),
        ("dns.type", vec![json!("CoreDNS"), json!("kube-dns")]),
        ("dns.imageRepository", vec![json!("registry.example.com/dns")]),
        ("dns.imageTag", vec![json!("v9.9.9")]),
        ("dns.disabled", vec![json!(true), json!(false)]),
        ("proxy.disabled", vec![json!(true), json!(false)]),
        ("certificatesDir", vec![json!("/srv/pki")]),
        ("imageRepository", vec![json!("registry.example.com/k8s")]),
        ("useHyperKubeImage", vec![json!(true), json!(false)]),
        ("featureGates", vec![json!({gate: false})]),
        ("clusterName", vec![json!("one")]),
        ("encryptionAlgorithm", vec![json!("RSA-2048"), json!("ECDSA-P256")]),
        ("certificateValidityPeriod", vec![json!("8760h0m0s"), json!("4380h0m0s")]),
        ("caCertificateValidityPeriod", vec![json!("87600h0m0s"), json!("8760h0m0s")]),
    ];
    let volume =
        |name: &str| json!({"name": name, "hostPath": format!("/srv/{name}"), "mountPath": format!("/{name}")});
    let mut rich = volume("b");
    (rich["readOnly"], rich["pathType"]) = (json!(true), json!("DirectoryOrCreate"));
    let mut odd = volume("c");
    (odd["readOnly"], odd["pathType"]) = (json!(false), json!("Unheard"));
    let volumes = vec![json!([volume("a"), rich.clone()]), json!([rich, odd])];
    let variable = json!({"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}});
    let variables = vec![json!([{"name": "A", "value": "b"}, variable])];
    for (arguments, volume_path, variable_path) in [
        ("apiServer.extraArgs", "apiServer.extraVolumes", "apiServer.extraEnvs"),
        ("controllerManager.extraArgs", "controllerManager.extraVolumes", "controllerManager.extraEnvs"),
        ("scheduler.extraArgs", "scheduler.extraVolumes", "scheduler.extraEnvs"),
        ("etcd.local.extraArgs", "", "etcd.local.extraEnvs"),
    ] {
        values.push((arguments, extra_args()));
        values.push((volume_path, volumes.clone()));
        values.push((variable_path, variables.clone()));
    }
    of_kind("ClusterConfiguration", values)
}

fn extra_args() -> Vec<Value> {
    vec![
        json!([{"name": "b-arg", "value": ""}, {"name": "a-arg", "value": "on"}]),
        json!([{"name": "a-arg", "value": "1"}, {"name": "a-arg", "value": "2"}]),
        json!([{"name": "c-arg", "value": "014", "mergeMethod": "append"}]),
    ]
}

fn node_values() -> Vec<(&'static str, Vec<Value>)> {
    let taint = json!({"key": "example.com/a", "value": "b", "effect": "NoSchedule"});
    let dated = json!({"key": "c", "value": "d", "effect": "NoExecute", "timeAdded": "2035-01-02T03:04:05Z"});
    let unheard = json!({"key": "e", "value": "f", "effect": "Unheard"});
    let argument = |name: &str, value: &str| json!({"name": name, "value": value});
    let merged = json!({"name": "node-labels", "value": "e=f", "mergeMethod": "append"});
    vec![
        ("nodeRegistration.name", vec![json!("node-7")]),
        ("nodeRegistration.criSocket", vec![json!("unix:///run/crio/crio.sock")]),
        ("nodeRegistration.taints", vec![json!([]), json!([taint.clone(), dated]), json!([unheard, taint])]),
        (
            "nodeRegistration.kubeletExtraArgs",
            vec![
                json!([argument("node-labels", "c=d,a=b"), argument("node-ip", "10.0.0.7"), argument("v", "2")]),
                json!([argument("node-labels", "a=b"), merged]),
                json!([argument("node-ip", "10.0.0.7")]),
            ],
        ),
        (
            "nodeRegistration.ignorePreflightErrors",
            vec![json!(["NumCPU", "Firewalld"]), json!(["Swap", "Unheard"]), json!(["all"])],
        ),
        ("nodeRegistration.imagePullPolicy", ["IfNotPresent", "Always", "Never", "Unheard"].map(Value::from).to_vec()),
        ("nodeRegistration.imagePullSerial", vec![json!(true), json!(false)]),
        ("dryRun", vec![json!(true), json!(false)]),
        ("patches.directory", vec![json!("/srv/no-such-patches")]),
        ("timeouts.controlPlaneComponentHealthCheck", vec![json!("4m0s"), json!("6m0s")]),
        ("timeouts.kubeletHealthCheck", vec![json!("4m0s"), json!("3m0s")]),
        ("timeouts.kubernetesAPICall", vec![json!("1m0s"), json!("2m0s")]),
        ("timeouts.etcdAPICall", vec![json!("2m0s"), json!("3m0s")]),
        ("timeouts.tlsBootstrap", vec![json!("5m0s"), json!("8m0s")]),
        ("timeouts.discovery", vec![json!("5m0s"), json!("7m0s")]),
        ("timeouts.upgradeManifests", vec![json!("5m0s"), json!("9m0s")]),
    ]
}

fn init_values() -> Vec<Choice> {
    let group = "system:bootstrappers:kubeadm:default-node-token";
    let token = "abcdef.0123456789abcdef";
    let usual = json!({"token": token, "ttl": "2h0m0s", "usages": ["authentication", "signing"], "groups": [group]});
    let rich = json!({"token": token, "description": "a", "expires": "2035-01-02T03:04:05Z", "usages": ["signing"],
        "groups": [group, "system:bootstrappers:a"]});
    let values = vec![
        ("bootstrapTokens", vec![json!([usual.clone()]), json!([rich, usual]), json!([{"ttl": "0s"}])]),
        ("localAPIEndpoint.advertiseAddress", vec![json!("10.0.0.10"), json!("0.0.0.0")]),
        ("localAPIEndpoint.bindPort", vec![json!(0), json!(6443), json!(7443), json!(70_000)]),
        ("certificateKey", vec![json!(KEY)]),
        (
            "skipPhases",
            vec![
                json!(["addon/coredns", "preflight"]),
                json!(["addon", "upload-certs"]),
                json!(["bootstrap-token", "certs/ca", "unheard"]),
            ],
        ),
    ];
    of_kind("InitConfiguration", [values, node_values()].concat())
}

fn join_values() -> Vec<Choice> {
    let by_token = |rest: Value| {
        let mut by_token = json!({"token": "abcdef.0123456789abcdef", "apiServerEndpoint": "10.0.0.1:6443"});
        by_token.as_object_mut().expect("members").extend(rest.as_object().expect("members").clone());
        json!({"bootstrapToken": by_token, "tlsBootstrapToken": "bbbbbb.0123456789abcdef"})
    };
    let by_file =
        json!({"file": {"kubeConfigPath": "/etc/cluster.conf"}, "tlsBootstrapToken": "bbbbbb.0123456789abcdef"});
    let url =
        json!({"file": {"kubeConfigPath": "https://a.example/b"}, "tlsBootstrapToken": "bbbbbb.0123456789abcdef"});
    let values = vec![
        (
            "discovery",
            vec![
                by_token(json!({"caCertHashes": [PIN], "unsafeSkipCAVerification": false})),
                by_token(json!({"unsafeSkipCAVerification": true})),
                by_file,
                url,
            ],
        ),
        ("discovery.timeout", vec![json!("5m0s"), json!("90s")]),
        ("caCertPath", vec![json!("/etc/kubernetes/pki/ca.crt"), json!("/etc/ca.crt")]),
        ("controlPlane.localAPIEndpoint.advertiseAddress", vec![json!("10.0.0.10"), json!("0.0.0.0")]),
        ("controlPlane.localAPIEndpoint.bindPort", vec![json!(0), json!(7443), json!(70_000)]),
        ("controlPlane.certificateKey", vec![json!(KEY)]),
        ("skipPhases", vec![json!(["preflight"]), json!(["control-plane-prepare/certs", "kubelet-start", "unheard"])]),
    ];
    of_kind("JoinConfiguration", [values, node_values()].concat())
}

fn of_kind(kind: &'static str, values: Vec<(&'static str, Vec<Value>)>) -> Vec<Choice> {
    values.into_iter().map(|(path, values)| (kind, path.to_owned(), values)).collect()
}
