//! A key of a real transit engine, through the plugin, judged by kube-apiserver's own client.
use crate::backends::{Served, Service};
use crate::support::{Client, data, encode, error};
use serde_json::json;
use std::time::{Duration, Instant};
use testbed::programs::{KMS_CLIENT, VAULT};

#[test]
fn a_key_of_vault_is_rotated_denied_and_lost_and_status_reports_each() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Pinned(&VAULT));
    let Served { mut plugin, service: Service::Vault(mut vault) } = Served::vault() else { panic!("not Vault") };
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
