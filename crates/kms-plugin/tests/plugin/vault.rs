//! A key of a real transit engine, through the plugin, judged by kube-apiserver's own client.
use crate::support::{Client, Plugin, data, encode, error};
use crate::vault_server::Vault;
use kms::VaultAuth;
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};
use testbed::programs::{KMS_CLIENT, VAULT};

/// A plugin with one key of this Vault, through an AppRole.
fn plugin(vault: &Vault) -> Plugin {
    let plugin = Plugin::new(&[]);
    let VaultAuth::AppRole { role_id_file, secret_id_file, .. } = vault.app_role("1h", "1h") else { panic!("no role") };
    let settings = vault.settings("transit", "k", vault.token_auth());
    let configuration = json!({
        "apiVersion": "kms.machineadm.cluster.x-k8s.io/v1alpha1",
        "kind": "PluginConfiguration",
        "keys": [{
            "name": "a",
            "socket": plugin.socket("a"),
            "vault": {
                "address": settings.address,
                "key": "k",
                "caFile": settings.ca_file,
                "auth": {"appRole": {"roleIdFile": role_id_file, "secretIdFile": secret_id_file}},
            },
        }],
    });
    fs::write(plugin.path("kms.yaml"), configuration.to_string()).unwrap();
    plugin
}

#[test]
fn a_key_of_vault_is_rotated_denied_and_lost_and_status_reports_each() {
    testbed::needs!(Pinned(&KMS_CLIENT), Pinned(&VAULT));
    let mut vault = Vault::start();
    vault.create_key("transit", "k");
    vault.allow_key("transit", "k");
    let mut plugin = plugin(&vault);
    let checked = plugin.check();
    assert!(checked.status.success(), "{checked:?}");
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let first = client.healthy("");
    assert_eq!(error(&client.ask(&json!({"do": "rotate"}))), "");
    let stored = client.ask(&json!({"do": "write", "name": "s", "data": encode(b"old")}));
    let read = |client: &mut Client| client.ask(&json!({"do": "read", "name": "s", "data": stored["data"]}));

    let rotated = Instant::now();
    vault.post("transit/keys/k/rotate", &json!({}));
    let second = client.healthy(&first);
    let took = rotated.elapsed();
    assert!(took < Duration::from_secs(15), "reported after {took:?}");
    assert_eq!(error(&client.ask(&json!({"do": "rotate"}))), "");
    let old = read(&mut client);
    assert_eq!((data(&old).as_slice(), old["stale"].as_bool()), (&b"old"[..], Some(true)), "{old}");

    vault.deny_encrypt("transit", "k");
    let told = client.unhealthy("FailedPrecondition");
    assert!(error(&told).contains("key a: decrypts-only: the key still decrypts and no longer encrypts"), "{told}");
    assert_eq!(data(&read(&mut client)), b"old");
    vault.allow_key("transit", "k");
    assert_eq!(client.healthy(""), second);
    vault.kill();
    client.unhealthy("Unavailable");
}
