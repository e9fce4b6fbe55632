//! The real transit engine of Vault judges the backend: versions, ids, logins and what its failures mean.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod fake_transit;
#[path = "../support/one_line.rs"]
mod one_line;
mod server;

use fake_transit::FakeTransit;
use machineadm_kms::{FailureKind, KeyService, VaultAuth, VaultSettings, VaultTransit};
use one_line::is_one_short_line;
use serde_json::json;
use server::Vault;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;
use testbed::fake::{FakeServer, answer};
use testbed::programs::VAULT;
use testbed::until;

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn a_rotation_makes_another_id_and_old_data_is_still_decrypted() {
    testbed::needs!(Pinned(&VAULT));
    let vault = Vault::start();
    vault.create_key("transit", "k");
    let key = VaultTransit::new(vault.settings("transit", "k", vault.token_auth()));
    let before = key.encrypt(b"seed", b"id").unwrap();
    assert_eq!(key.current().unwrap(), before.version);
    assert!(before.version.id(0).as_str().starts_with("vault:"));
    vault.post("transit/keys/k/rotate", &json!({}));
    let after = key.encrypt(b"seed", b"id").unwrap();
    assert_eq!(key.current().unwrap(), after.version);
    assert_ne!(before.version.id(0), after.version.id(0));
    for sealed in [&before, &after] {
        let version = &sealed.version.version;
        assert_eq!(key.named(version).unwrap(), sealed.version);
        assert_eq!(*key.decrypt(&sealed.ciphertext, version, b"id").unwrap(), b"seed");
        let other = key.decrypt(&sealed.ciphertext, version, b"another").unwrap_err();
        assert_eq!(other.kind, FailureKind::InvalidRequest, "{other}");
    }
    let mixed = key.decrypt(&before.ciphertext, &after.version.version, b"id").unwrap_err();
    assert_eq!(mixed.kind, FailureKind::InvalidRequest, "{mixed}");

    vault.post("transit/keys/k/config", &json!({"min_decryption_version": 2}));
    assert_eq!(key.named(&before.version.version).unwrap_err().kind, FailureKind::Missing);
    let too_old = key.decrypt(&before.ciphertext, &before.version.version, b"id").unwrap_err();
    assert_eq!(too_old.kind, FailureKind::Missing, "{too_old}");
    assert_eq!(*key.decrypt(&after.ciphertext, &after.version.version, b"id").unwrap(), b"seed");
}

#[test]
fn ids_differ_between_mounts_keys_and_keys_that_were_created_again() {
    testbed::needs!(Pinned(&VAULT));
    let vault = Vault::start();
    vault.post("sys/mounts/other", &json!({"type": "transit"}));
    let places = [("transit", "a"), ("transit", "b"), ("other", "a")];
    let key = |(mount, name): (&str, &str)| VaultTransit::new(vault.settings(mount, name, vault.token_auth()));
    for (mount, name) in places {
        vault.create_key(mount, name);
    }
    let ids: BTreeSet<String> = places.map(|place| key(place).current().unwrap().id(0).to_string()).into();
    assert_eq!(ids.len(), 3);

    let first = key(places[0]).encrypt(b"seed", b"id").unwrap();
    // Vault tells the time of a creation in seconds.
    until("the key has another time of creation", LIMIT, || {
        vault.delete_key("transit", "a");
        vault.create_key("transit", "a");
        let again = key(places[0]).current().unwrap();
        if again == first.version { Err(again.version) } else { Ok(()) }
    })
    .unwrap();
    let lost = key(places[0]).named(&first.version.version).unwrap_err();
    assert_eq!(lost.kind, FailureKind::Missing);
    assert!(lost.message.ends_with("the key was created again"), "{lost}");
}

#[test]
fn an_encrypt_names_the_version_that_encrypted_where_a_rotation_follows_it_at_once() {
    let fake = FakeTransit::start();
    let key = VaultTransit::new(fake.settings());
    let first = key.current().unwrap();
    fake.faults.is_rotated.store(true, Ordering::SeqCst);
    let sealed = key.encrypt(b"seed", b"id").unwrap();
    assert_eq!(sealed.version, first);
    assert_ne!(key.current().unwrap(), first);
    assert_eq!(*key.decrypt(&sealed.ciphertext, &first.version, b"id").unwrap(), b"seed");
}

#[test]
fn a_deleted_key_is_missing_and_with_the_policy_of_the_docs_no_encrypt_creates_it_again() {
    testbed::needs!(Pinned(&VAULT));
    let vault = Vault::start();
    vault.create_key("transit", "k");
    vault.allow_key("transit", "k");
    let key = VaultTransit::new(vault.settings("transit", "k", vault.app_role("1h", "1h")));
    key.encrypt(b"seed", b"id").unwrap();
    vault.delete_key("transit", "k");
    assert_eq!(key.current().unwrap_err().kind, FailureKind::Missing);
    assert_eq!(key.encrypt(b"seed", b"id").unwrap_err().kind, FailureKind::AccessDenied);
    assert_eq!(key.current().unwrap_err().kind, FailureKind::Missing);
}

#[test]
fn every_address_of_a_cluster_has_the_same_ids_and_each_namespace_has_others() {
    // Both answer with the id of one cluster.
    let [one, other] = [(); 2].map(|()| FakeTransit::start());
    let id = |settings: VaultSettings| VaultTransit::new(settings).current().unwrap().id(0).to_string();
    assert_ne!(one.settings().address, other.settings().address);
    assert_eq!(id(one.settings()), id(other.settings()));
    let of = |namespace: &str| VaultSettings { namespace: Some(namespace.to_owned()), ..one.settings() };
    let ids: BTreeSet<String> = [one.settings(), of("team"), of("team/a")].map(id).into();
    assert_eq!(ids.len(), 3);
}

#[test]
fn what_a_cluster_encrypted_is_decrypted_by_the_one_that_took_over_under_another_id() {
    testbed::needs!(Pinned(&VAULT));
    let (lost, heir) = (Vault::start(), Vault::start());
    lost.create_key("transit", "k");
    let key = |vault: &Vault| VaultTransit::new(vault.settings("transit", "k", vault.token_auth()));
    let before = key(&lost).encrypt(b"seed", b"id").unwrap();
    lost.copy_key(&heir, "transit", "k");
    let key = key(&heir);
    let version = &before.version.version;
    assert_eq!(key.named(version).unwrap(), before.version, "its id is still the one that is stored");
    assert_eq!(*key.decrypt(&before.ciphertext, version, b"id").unwrap(), b"seed");
    assert_ne!(key.current().unwrap().id(0), before.version.id(0));
    for wrong in [version.replace('@', ""), format!("{version}@"), version.replace("1@", "2@")] {
        assert!(key.named(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_right_that_is_missing_costs_no_logins() {
    testbed::needs!(Pinned(&VAULT));
    let vault = Vault::start();
    refusals_cost_no_logins(&vault, vault.app_role("1h", "1h"));
}

#[test]
fn a_right_that_is_missing_costs_no_logins_where_the_token_may_not_look_itself_up() {
    testbed::needs!(Pinned(&VAULT));
    let vault = Vault::start();
    let auth = vault.app_role("1h", "1h");
    vault.post("auth/approle/role/kms", &json!({"token_no_default_policy": true}));
    refusals_cost_no_logins(&vault, auth);
}

fn refusals_cost_no_logins(vault: &Vault, auth: VaultAuth) {
    vault.create_key("transit", "k");
    vault.allow_key("transit", "k");
    let key = VaultTransit::new(vault.settings("transit", "k", auth));
    key.encrypt(b"seed", b"id").unwrap();
    let before = vault.tokens();
    vault.deny_encrypt("transit", "k");
    for _ in 0..5 {
        assert_eq!(key.encrypt(b"seed", b"id").unwrap_err().kind, FailureKind::AccessDenied);
    }
    assert_eq!(vault.tokens(), before);
}

#[test]
fn a_refused_role_is_tried_once_by_all_keys_so_that_vault_does_not_lock_it() {
    let fake = FakeTransit::start();
    fake.secret_id("expired");
    let keys = [(); 3].map(|()| VaultTransit::new(fake.settings()));
    for key in keys.iter().chain(&keys) {
        let refused = key.current().unwrap_err();
        assert_eq!(refused.kind, FailureKind::AccessDenied);
        assert!(refused.message.starts_with("auth/approle/login returned 403: permission denied"), "{refused}");
        assert!(!refused.message.contains("expired"), "{refused}");
    }
    assert_eq!(fake.faults.logins.load(Ordering::SeqCst), 1);
    let told = keys[0].current().unwrap_err().message;
    assert!(told.contains("not tried again for 16 minutes so that Vault does not lock the role"), "{told}");
    fake.secret_id("s");
    keys.iter().for_each(|key| drop(key.current().unwrap()));
}

#[test]
fn vault_lets_a_role_in_whose_secret_id_was_wrong_for_a_while() {
    testbed::needs!(Pinned(&VAULT));
    let vault = Vault::start();
    vault.create_key("transit", "k");
    vault.allow_key("transit", "k");
    let auth = vault.app_role("1h", "1h");
    let VaultAuth::AppRole { secret_id_file, .. } = &auth else { panic!("no role") };
    let good = std::fs::read_to_string(secret_id_file).unwrap();
    std::fs::write(secret_id_file, "00000000-0000-0000-0000-000000000000").unwrap();
    let key = VaultTransit::new(vault.settings("transit", "k", auth.clone()));
    // Vault locks a role after five.
    for _ in 0..8 {
        assert_eq!(key.current().unwrap_err().kind, FailureKind::AccessDenied);
    }
    std::fs::write(secret_id_file, good).unwrap();
    key.current().unwrap();
}

#[test]
fn servers_that_ignore_associated_data_are_refused() {
    let fake = FakeTransit::start();
    let key = VaultTransit::new(fake.settings());
    key.encrypt(b"seed", b"id").unwrap();
    fake.faults.ignores_context.store(true, Ordering::SeqCst);
    let before_1_13 = VaultTransit::new(fake.settings());
    let refused = before_1_13.encrypt(b"seed", b"id").unwrap_err();
    assert_eq!(refused.kind, FailureKind::DecryptsOnly);
    assert!(refused.message.starts_with("the servers ignore associated_data, as Vault before 1.13 does"), "{refused}");
    fake.faults.ignores_context.store(false, Ordering::SeqCst);
    before_1_13.encrypt(b"seed", b"id").unwrap();
}

#[test]
fn what_a_broken_or_hostile_server_answers_is_a_failure_of_one_short_line() {
    let evil = json!({"errors": ["\u{1b}[2J\n{\"level\":\"info\"}".repeat(1000)]});
    let answers = [
        ("200 OK", String::new()),
        ("200 OK", "{}".to_owned()),
        ("200 OK", "<html>".to_owned()),
        ("200 OK", "[".repeat(100_000)),
        ("200 OK", " ".repeat(1 << 20)),
        ("200 OK", json!({"data": {"latest_version": -1, "keys": []}}).to_string()),
        ("200 OK", json!({"data": {"ciphertext": "vault:v1:\u{1b}[2J"}}).to_string()),
        ("307 Temporary Redirect", "{}".to_owned()),
        ("503 Service Unavailable", evil.to_string()),
    ];
    let fake = FakeTransit::start();
    for (status, body) in answers {
        let shown: String = format!("{status} {body}").chars().take(80).collect();
        let server = FakeServer::start(move |seen, tls| match seen.path().starts_with("/v1/sys/health") {
            true => answer(tls, "200 OK", "", &json!({"cluster_id": "c"}).to_string()),
            false => answer(tls, status, "Location: https://127.0.0.1:9/\r\n", &body),
        });
        let directory = tempfile::TempDir::new().unwrap();
        let (ca_file, file) = (directory.path().join("ca.crt"), directory.path().join("token"));
        std::fs::write(&ca_file, server.authority().pem()).unwrap();
        std::fs::write(&file, "t").unwrap();
        let with =
            |auth| VaultSettings { address: server.url(""), ca_file: Some(ca_file.clone()), auth, ..fake.settings() };
        for auth in [VaultAuth::Token { file: file.clone() }, fake.settings().auth] {
            let key = VaultTransit::new(with(auth));
            let failures = [
                key.current().map(drop).unwrap_err(),
                key.encrypt(b"seed", b"id").map(drop).unwrap_err(),
                key.decrypt(b"vault:v1:AAAA", "1@1@c", b"id").map(drop).unwrap_err(),
            ];
            for failure in failures {
                is_one_short_line(&failure, &shown);
            }
        }
    }
}

#[test]
fn a_login_that_hangs_stops_nobody_whose_token_still_lives() {
    let fake = FakeTransit::start();
    let key = VaultTransit::new(fake.settings());
    let sealed = key.encrypt(b"seed", b"id").unwrap();
    let decrypt = || key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id");
    fake.faults.login_hangs.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let asking = until("somebody logs in again", LIMIT, || {
            let asking = scope.spawn(decrypt);
            let has_asked = || fake.faults.hung.load(Ordering::SeqCst) > 0;
            until("it logs in or is done", LIMIT, || {
                if asking.is_finished() || has_asked() { Ok(()) } else { Err("neither".to_owned()) }
            })
            .unwrap();
            if has_asked() { Ok(asking) } else { Err("the token is not due yet".to_owned()) }
        });
        assert_eq!(*decrypt().unwrap(), b"seed");
        let asking = asking.unwrap();
        assert!(!asking.is_finished(), "the other one did not wait for it");
        assert_eq!(*asking.join().unwrap().unwrap(), b"seed");
    });
}

#[test]
fn a_probe_that_hangs_stops_no_call() {
    let fake = FakeTransit::start();
    let key = VaultTransit::new(fake.settings());
    key.current().unwrap();
    fake.faults.health_hangs.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let probing = scope.spawn(|| key.current());
        until("the probe hangs", LIMIT, || {
            if fake.faults.hung.load(Ordering::SeqCst) > 0 { Ok(()) } else { Err("not yet".to_owned()) }
        })
        .unwrap();
        key.encrypt(b"seed", b"id").unwrap();
        assert!(!probing.is_finished(), "the call did not wait for it");
        assert_eq!(probing.join().unwrap().unwrap_err().kind, FailureKind::Unreachable);
    });
}

#[test]
fn app_roles_and_certificates_log_in_renew_and_log_in_again() {
    testbed::needs!(Pinned(&VAULT));
    let vault = Vault::start();
    vault.create_key("transit", "k");
    vault.allow_key("transit", "k");
    let certificate = vault.certificate("2s", "4s");
    for auth in [vault.app_role("2s", "4s"), certificate.clone()] {
        let key = VaultTransit::new(vault.settings("transit", "k", auth.clone()));
        let sealed = key.encrypt(b"seed", b"id").unwrap();
        let began = std::time::Instant::now();
        // Past the end of the longest life: the token was renewed, and then replaced by a new login.
        until("the first token has ended", LIMIT, || {
            assert_eq!(*key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").unwrap(), b"seed");
            if began.elapsed() > Duration::from_secs(6) { Ok(()) } else { Err(format!("{:?}", began.elapsed())) }
        })
        .unwrap();
        vault.revoke_all(&auth);
        assert_eq!(*key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").unwrap(), b"seed");
    }
    let VaultAuth::Certificate { mount, role: _, certificate_file, key_file } = certificate else {
        panic!("no certificate")
    };
    let of_any_role = VaultAuth::Certificate { mount, role: None, certificate_file, key_file };
    VaultTransit::new(vault.settings("transit", "k", of_any_role)).current().unwrap();
}

#[test]
fn the_token_in_a_file_is_renewed_and_followed() {
    testbed::needs!(Pinned(&VAULT));
    let vault = Vault::start();
    vault.create_key("transit", "k");
    vault.allow_key("transit", "k");
    let lent = vault.lend_token("10s", "1h");
    let file = vault.file("lent", &lent);
    let key = VaultTransit::new(vault.settings("transit", "k", VaultAuth::Token { file }));
    let renewed = || {
        vault.post("auth/token/lookup", &json!({"token": lent}))["data"]["last_renewal_time"]
            .as_u64()
            .unwrap_or_default()
    };
    assert_eq!(renewed(), 0);
    let sealed = key.encrypt(b"seed", b"id").unwrap();
    let works = || key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").map(drop);
    let first = renewed();
    assert!(first > 0, "its life has begun before");
    until("a renewal after half of its life", LIMIT, || {
        works().unwrap();
        let last = renewed();
        if last > first { Ok(()) } else { Err(last.to_string()) }
    })
    .unwrap();
    // Its longest life ends; who writes the file brings another.
    vault.file("lent", &vault.lend_token("1s", "1s"));
    until("the token has ended", LIMIT, || works().map_or(Ok(()), |()| Err("it works".to_owned()))).unwrap();
    assert_eq!(works().unwrap_err().kind, FailureKind::AccessDenied);
    vault.file("lent", &vault.lend_token("1h", "1h"));
    works().unwrap();
}

#[test]
fn failures_are_what_vault_means_by_them() {
    testbed::needs!(Pinned(&VAULT));
    let mut vault = Vault::start();
    vault.create_key("transit", "k");
    vault.allow_key("transit", "k");
    let kind = |key: &VaultTransit| key.current().unwrap_err();
    let absent = VaultTransit::new(vault.settings("transit", "absent", vault.token_auth()));
    assert_eq!(kind(&absent).kind, FailureKind::Missing);
    let role = vault.app_role("1h", "1h");
    let forbidden = VaultTransit::new(vault.settings("transit", "other", role.clone()));
    assert_eq!(kind(&forbidden).kind, FailureKind::AccessDenied);
    let allowed = VaultTransit::new(vault.settings("transit", "k", role.clone()));
    allowed.encrypt(b"seed", b"id").unwrap();
    vault.deny_encrypt("transit", "k");
    assert_eq!(allowed.encrypt(b"seed", b"id").unwrap_err().kind, FailureKind::AccessDenied);
    let VaultAuth::AppRole { mount, role_id_file, .. } = role else { panic!("no role") };
    let secret_id_file = vault.file("wrong-secret", "no such secret id");
    let wrong = VaultAuth::AppRole { mount, role_id_file, secret_id_file };
    let refused = kind(&VaultTransit::new(vault.settings("transit", "k", wrong)));
    assert_eq!(refused.kind, FailureKind::AccessDenied, "{refused}");
    assert!(!refused.message.contains("no such secret id"), "{refused}");

    let key = VaultTransit::new(vault.settings("transit", "k", vault.token_auth()));
    let mut other_ca = vault.settings("transit", "k", vault.token_auth());
    other_ca.ca_file = Some(vault.other_ca());
    assert_eq!(kind(&VaultTransit::new(other_ca)).kind, FailureKind::Unreachable);
    key.current().unwrap();
    vault.kill();
    assert_eq!(kind(&key).kind, FailureKind::Unreachable);
    drop(vault);
    assert_eq!(kind(&key).kind, FailureKind::AccessDenied, "the credentials are gone");
}
