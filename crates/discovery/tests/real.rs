//! Recordings of a real control plane: what it signed, authenticated, deleted and listed, and the objects that it had.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
use jiff::Timestamp;
use machineadm_discovery::{
    BootstrapToken, Pin,
    bootstrap_signer::{self, Signing},
    certificate::CaBundle,
    cluster_info::{self, Origin},
    jws, rbac, token_cleaner, token_secret,
    usable::{self, Cleaning},
};
use objects::{ConfigMap, List, ObjectMeta, Secret};
use serde_json::{Value, json};

const TABLE: &str = include_str!("vectors/real/secret-truth-table.json");

fn cluster_info() -> ConfigMap {
    serde_json::from_str(include_str!("vectors/real/cluster-info.json")).unwrap()
}

fn secrets() -> Vec<Secret> {
    let text = include_str!("vectors/real/secrets-after-bootstrap-token-phase.json");
    serde_json::from_str::<List<Secret>>(text).unwrap().items
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn the_signer_makes_the_signature_that_the_real_one_made() {
    let (real, now) = (cluster_info(), time("2026-11-15T18:50:00Z"));
    let again = machineadm_discovery::expiry::rfc3339("2026-11-16T18:48:41Z");
    assert_eq!(bootstrap_signer::decide(Some(&real), &secrets(), now), Signing::Done { again });
    let mut unsigned = real.clone();
    unsigned.data.retain(|key, _| key == "kubeconfig");
    let signing = bootstrap_signer::decide(Some(&unsigned), &secrets(), now);
    assert_eq!(signing.applied(&unsigned), Some(real));
}

#[test]
fn a_client_verifies_it_and_knows_the_root_by_its_pin() {
    let (real, token) = (cluster_info(), token_secret::token(&secrets()[0]).unwrap());
    let kubeconfig = real.data["kubeconfig"].as_bytes();
    assert_eq!(kubeconfig, include_bytes!("vectors/real/cluster-info.kubeconfig.yaml"));
    assert_eq!(jws::verify(&real.data["jws-kubeconfig-jxssjb"], &token, kubeconfig), Ok(()));
    let info = cluster_info::read(kubeconfig, Origin::Signed).unwrap().info;
    assert_eq!(info.roots().pem(), include_bytes!("vectors/real/pki/ca.crt"));
    assert_eq!(info.kubeconfig().as_bytes(), kubeconfig);
    let etcd = CaBundle::read(include_bytes!("vectors/real/pki/etcd/ca.crt").to_vec()).unwrap();
    let (own, other) = (info.roots().certificates(), Pin::of(&etcd.certificates()[0]));
    assert_eq!(Pin::matching(&[other], own), []);
    assert_eq!(Pin::matching(&[other, Pin::of(&own[0])], own), own);
}

/// Where we are stricter than kube-controller-manager's signer, and why.
const NOT_SIGNED_BY_US: &[(&str, &str)] = &[
    ("token-secret upper case", "no client can hold such a token"),
    ("token-secret trailing newline, bearer without newline", "no client can hold such a token"),
    ("bearing a finalizer, then deleted (deletionTimestamp set)", "the authenticator refuses it already"),
];

fn posted(case: &Value) -> Secret {
    let text = |member: &str| case[member].as_str().unwrap();
    let data = case["data"].as_object().unwrap().iter();
    let data = data.map(|(key, value)| (key.clone(), value.as_str().unwrap().into())).collect();
    let mut metadata = ObjectMeta::named_in(text("namespace"), text("name"));
    if case["finalizer"] == true {
        metadata.deletion_timestamp = Some("2026-11-15T18:50:55Z".to_owned());
    }
    Secret::new(metadata, text("type"), data)
}

fn identity(secret: &Secret, bearer: &str, now: Timestamp) -> Value {
    let Ok(token) = bearer.parse::<BootstrapToken>() else { return json!({"status": 401}) };
    match usable::authenticates(secret, &token, now) {
        Err(_) => json!({"status": 401}),
        Ok(usable::Identity { user, mut groups }) => {
            groups.push("system:authenticated".to_owned());
            json!({"status": 201, "username": user, "groups": groups})
        }
    }
}

#[test]
fn every_secret_of_the_truth_table_is_judged_as_the_real_cluster_did_or_more_strictly() {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    let now = time(table["observed_at"].as_str().unwrap());
    let (cases, mut stricter) = (table["cases"].as_array().unwrap(), Vec::new());
    assert!(cases.len() >= 41);
    for case in cases {
        let (secret, name) = (posted(case), case["desc"].as_str().unwrap());
        assert_eq!(identity(&secret, case["bearer"].as_str().unwrap(), now), case["auth"], "{name}");
        let deletes = usable::cleaning(&secret, now) == Cleaning::Delete;
        assert_eq!(deletes, case["deleted_by_cleaner"], "{name}");
        // The list was taken after the cleaner.
        assert_eq!(usable::listed(&secret).is_ok() && !deletes, case["kubeadm_token_list"], "{name}");
        let signs = usable::signs(&secret, now).is_ok();
        if json!(signs) != case["signed"] {
            assert!(!signs, "{name}");
            stricter.push(name);
        }
    }
    assert_eq!(stricter, NOT_SIGNED_BY_US.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

/// Upstream's cleaner deletes these once they have expired; the specification says that they MUST be ignored.
#[test]
fn a_secret_that_is_no_token_is_not_deleted_even_when_expired() {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    let now = time(table["observed_at"].as_str().unwrap());
    let ignored = [
        "name without prefix",
        "name with 7-char id equal to token-id",
        "name with 3-char id equal to token-id",
        "type Opaque",
        "namespace default",
        "token-id missing",
        "token-id empty",
    ];
    let (mut seen, mut deleted) = (0, Vec::new());
    for case in table["cases"].as_array().unwrap() {
        let mut secret = posted(case);
        secret.data.insert("expiration".to_owned(), "2026-11-15T18:50:58Z".into());
        let name = case["desc"].as_str().unwrap();
        if ignored.contains(&name) {
            seen += 1;
            assert!(matches!(usable::cleaning(&secret, now), Cleaning::Ignore(_)), "{name}");
        } else if secret.metadata.deletion_timestamp.is_none() {
            assert_eq!(usable::cleaning(&secret, now), Cleaning::Delete, "{name}");
            deleted.push(secret);
        }
    }
    assert_eq!(seen, ignored.len());
    assert_eq!(token_cleaner::decide(&deleted, now).delete.len(), deleted.len());
}

#[test]
fn tokens_that_real_kubeadm_lists_are_listed_with_the_same_columns() {
    let secrets: List<Secret> = serde_json::from_str(include_str!("vectors/real/token-list.secrets.json")).unwrap();
    let printed = include_str!("vectors/real/token-list.txt");
    assert_eq!(secrets.items.len(), 13);
    for secret in &secrets.items {
        let settings = usable::listed(secret).unwrap();
        let row = printed.lines().find(|line| line.starts_with(settings.token.expose().as_str())).unwrap();
        let expires = settings.expires.map_or("<never>".to_owned(), |time| time.to_string());
        let ttl = settings
            .expires
            .map_or("<forever>".to_owned(), |expires| expires.since(time("2026-11-15T18:49:14Z")).short_human());
        let usages: Vec<_> = settings.usages.iter().map(String::as_str).collect();
        for column in [ttl, expires, usages.join(","), settings.groups.join(",")] {
            assert!(row.contains(&column), "{column} in {row}");
        }
    }
}

#[test]
fn bootstrap_objects_are_kubeadms() {
    let info = cluster_info::read(cluster_info().data["kubeconfig"].as_bytes(), Origin::Signed).unwrap().info;
    let objects = rbac::bootstrap_objects(&info);
    let mut real = vec![
        include_str!("vectors/real/rbac.clusterroles_kubeadm_get-nodes.json"),
        include_str!("vectors/real/rbac.clusterrolebindings_kubeadm_get-nodes.json"),
        include_str!("vectors/real/rbac.clusterrolebindings_kubeadm_kubelet-bootstrap.json"),
        include_str!("vectors/real/rbac.clusterrolebindings_kubeadm_node-autoapprove-bootstrap.json"),
        include_str!("vectors/real/rbac.clusterrolebindings_kubeadm_node-autoapprove-certificate-rotation.json"),
        include_str!("vectors/real/rbac.clusterrolebindings_kubeadm_apiserver-kubelet-client.json"),
        include_str!("vectors/real/cluster-info.json"),
        include_str!("vectors/real/rbac.namespaces_kube-public_roles_kubeadm_bootstrap-signer-clusterinfo.json"),
        include_str!("vectors/real/rbac.namespaces_kube-public_rolebindings_kubeadm_bootstrap-signer-clusterinfo.json"),
    ]
    .into_iter()
    .map(|text| serde_json::from_str::<Value>(text).unwrap())
    .collect::<Vec<_>>();
    for object in &mut real {
        for member in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
            object["metadata"].as_object_mut().unwrap().remove(member);
        }
    }
    real[6]["data"].as_object_mut().unwrap().remove("jws-kubeconfig-jxssjb");
    assert_eq!(objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect::<Vec<_>>(), real);
}
