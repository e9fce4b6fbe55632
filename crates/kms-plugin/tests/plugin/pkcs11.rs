//! Keys of a token of SoftHSM, through the plugin, judged by kube-apiserver's own client.
use crate::contract;
use crate::support::{Client, LIMIT, Plugin, data, encode, error};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use testbed::programs::KMS_CLIENT;
use testbed::softhsm::{CONFIGURATION, PIN, SoftHsm, TOKEN};
use testbed::{judges, until};

fn token(plugin: &Plugin) -> &SoftHsm {
    plugin.token.as_ref().unwrap()
}

/// A client, the key id, and what the key has encrypted.
fn written(plugin: &Plugin) -> (Client, String, Value) {
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    let stored = client.ask(&json!({"do": "encrypt", "data": encode(b"old")}));
    assert_eq!((error(&stored), stored["keyID"].as_str().unwrap()), ("", id.as_str()));
    (client, id, stored)
}

fn read(client: &mut Client, stored: &Value) -> Value {
    let Value::Object(mut request) = stored.clone() else { panic!("{stored}") };
    request.insert("do".to_owned(), json!("decrypt"));
    client.ask(&Value::Object(request))
}

/// Keys on a token whose module does what the file `fault` says.
fn behind_faults(keys: &[(&str, &str)]) -> Plugin {
    let plugin = Plugin::on_token(keys);
    let module = token(&plugin).faulty_module().unwrap().display().to_string();
    let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
    fs::write(plugin.path("kms.yaml"), text.replace(&token(&plugin).module().display().to_string(), &module)).unwrap();
    plugin
}

/// Has the module do something at its next call; whole, since that may come from a probe just now.
fn cause(plugin: &Plugin, fault: &str) {
    fs::write(plugin.path("fault.new"), fault).unwrap();
    fs::rename(plugin.path("fault.new"), plugin.path("fault")).unwrap();
}

fn checked(plugin: &Plugin) -> (Option<i32>, String) {
    let output = plugin.check();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn kube_apiservers_client_accepts_every_answer_of_a_token_up_to_the_limits() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    contract::accept_every_answer(Plugin::on_token(&[("a", "")]), "pkcs11");
}

#[test]
fn what_another_key_of_the_token_wrote_or_what_is_damaged_is_refused() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    contract::refuse_what_is_not_of_the_key(Plugin::on_token(&[("a", ""), ("b", "")]));
}

#[test]
fn a_newer_key_of_the_token_is_reported_within_15_seconds_and_makes_stored_data_stale() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    contract::report_a_rotation(Plugin::on_token(&[("a", "")]));
}

#[test]
fn copies_of_a_key_on_two_tokens_have_the_same_id_and_read_each_others_data() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    contract::report_one_id([(); 2].map(|()| Plugin::on_token(&[("a", "")])));
}

#[test]
fn a_key_that_is_missing_ambiguous_or_created_again_is_reported_as_such() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    let mut plugin = Plugin::on_token(&[]);
    plugin.configure(&[("a", "")], "");
    let (code, told) = checked(&plugin);
    assert_eq!(code, Some(1));
    assert!(told.contains("a: missing: the token has no AES key with the label a: create one"), "{told}");
    token(&plugin).generate("a", "01", &[]).unwrap();
    assert_eq!(checked(&plugin).0, Some(0));
    plugin.start();
    let (mut client, first, stored) = written(&plugin);

    token(&plugin).generate("a", "0001", &[]).unwrap();
    let told = client.unhealthy("FailedPrecondition");
    assert!(error(&told).contains("have the same CKA_ID"), "{told}");
    assert_eq!(data(&read(&mut client, &stored)), b"old", "it still decrypts");
    token(&plugin).delete("a", "0001").unwrap();
    assert_eq!(client.healthy(""), first);

    token(&plugin).delete("a", "01").unwrap();
    client.unhealthy("NotFound");
    token(&plugin).generate("a", "01", &[]).unwrap();
    assert_ne!(client.healthy(""), first, "the same label and CKA_ID, another key");
    assert!(error(&read(&mut client, &stored)).contains("NotFound"));
}

#[test]
fn a_slot_and_a_cka_id_name_one_key_as_labels_do_and_a_newer_key_does_not_count_then() {
    testbed::needs!(Judge("softhsm2-util"), Judge("pkcs11-tool"));
    let plugin = Plugin::on_token(&[("a", "")]);
    let id = || {
        let (code, told) = checked(&plugin);
        assert_eq!(code, Some(0), "{told}");
        told.trim().rsplit(' ').next().unwrap().to_owned()
    };
    let first = id();
    plugin.rotate("a");
    let second = id();
    assert_ne!(first, second);
    let mut slots = judges::command("softhsm2-util").unwrap();
    let slots = slots.arg("--show-slots").env(CONFIGURATION, token(&plugin).configuration()).output().unwrap();
    let slots = String::from_utf8(slots.stdout).unwrap();
    let slot = slots.lines().find_map(|line| line.strip_prefix("Slot ")).unwrap();
    let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
    let by_slot = text.replace(&format!("tokenLabel: {TOKEN}"), &format!("slot: {slot}"));
    assert_ne!(by_slot, text);
    let all = [
        (by_slot.clone(), &second),
        (by_slot.replace("keyLabel: a", "keyLabel: a, keyId: '01'"), &first),
        (by_slot.replace("keyLabel: a", "keyId: '02'"), &second),
    ];
    for (text, wanted) in all {
        fs::write(plugin.path("kms.yaml"), &text).unwrap();
        assert_eq!(id(), *wanted, "{text}");
    }
}

#[test]
fn a_wrong_pin_is_tried_once_and_shown_nowhere() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    let keys = [("a", ""), ("b", ""), ("c", "")];
    let mut plugin = Plugin::on_token(&keys);
    token(&plugin).write_pin("another-pin-0815").unwrap();
    let (code, told) = checked(&plugin);
    assert!(code == Some(1) && told.contains("a: access-denied: the token refuses the PIN. Correct the PIN in "));
    assert_eq!(told.matches("the token refuses the PIN").count(), 1, "three keys, one token: {told}");
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let refused_again = "is not tried again so that the token is not locked";
    let told = client.unhealthy(refused_again);
    assert!(error(&told).contains("PermissionDenied"), "{told}");
    plugin.configure(&[("a", ""), ("b", "  epoch: 7\n"), ("c", "")], "");
    until("the key is served with its new settings", LIMIT, || {
        let log = plugin.log();
        if log.matches("\"message\":\"serving a key\"").count() == keys.len() + 1 { Ok(()) } else { Err(log) }
    })
    .unwrap();
    for (name, _) in keys {
        Client::of(&plugin.socket(name)).unhealthy(refused_again);
    }
    assert_eq!(plugin.log().matches("the token refuses the PIN").count(), 1, "{}", plugin.log());
    token(&plugin).write_pin(PIN).unwrap();
    client.healthy("");
    let log = plugin.log();
    assert!(!log.contains("another-pin") && !log.contains(PIN), "{log}");
}

#[test]
fn a_token_that_was_removed_and_returns_serves_again() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    let mut plugin = Plugin::on_token(&[("a", "")]);
    plugin.start();
    let (mut client, id, stored) = written(&plugin);
    fs::rename(token(&plugin).tokens(), plugin.path("away")).unwrap();
    client.unhealthy("Unavailable");
    fs::rename(plugin.path("away"), token(&plugin).tokens()).unwrap();
    assert_eq!(client.healthy(""), id);
    assert_eq!(data(&read(&mut client, &stored)), b"old");
}

#[test]
fn lost_sessions_and_logins_fail_no_call_and_a_removed_device_is_found_again() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"), Judge("cc"));
    let mut plugin = behind_faults(&[("a", ""), ("b", "")]);
    plugin.start();
    let (mut client, id, stored) = written(&plugin);
    let mut other = Client::of(&plugin.socket("b"));
    other.healthy("");
    let of_other = other.ask(&json!({"do": "encrypt", "data": encode(b"other")}));
    for fault in ["sessions", "login", "device"] {
        cause(&plugin, fault);
        let met = read(&mut client, &stored);
        assert!(!plugin.path("fault").exists(), "{fault}: the module has not seen it");
        if fault == "device" {
            // A module is started again at most every 5 s, so that this call may have come too early.
            until("the device is back", LIMIT, || {
                let answer = read(&mut client, &stored);
                if error(&answer).is_empty() { Ok(()) } else { Err(answer.to_string()) }
            })
            .unwrap();
        } else {
            assert_eq!((error(&met), data(&met)), ("", b"old".to_vec()), "{fault}");
        }
        // Its sessions are of an earlier start, or gone with those of the first key.
        let of_other = read(&mut other, &of_other);
        assert_eq!((error(&of_other), data(&of_other)), ("", b"other".to_vec()), "{fault}");
        assert_eq!(client.healthy(""), id, "{fault}");
        assert_eq!(data(&read(&mut client, &stored)), b"old", "{fault}");
    }
}

#[test]
fn calls_that_never_return_leave_status_and_all_further_calls_alone() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"), Judge("cc"));
    let mut plugin = behind_faults(&[("a", ""), ("b", "")]);
    plugin.start();
    let (mut client, id, stored) = written(&plugin);
    let mut other = Client::of(&plugin.socket("b"));
    for _ in 0..3 {
        // Whoever made this quick call makes the next one.
        assert_eq!(data(&read(&mut client, &stored)), b"old");
        cause(&plugin, "hang");
        let hung = read(&mut client, &stored);
        assert!(error(&hung).contains("the key service has not answered after 2.0s"), "{hung}");
        assert!(!plugin.path("fault").exists(), "the module has not seen it");
        assert_eq!(client.healthy(""), id);
        other.healthy("");
    }
    plugin.signal(Signal::TERM);
    assert_eq!(plugin.wait().code(), Some(0), "{}", plugin.log());
}

/// What key ids are computed from, from the next start on.
fn identify_by(plugin: &Plugin, identity: &str) {
    let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
    let without = text.replace(", identity: attributes", "");
    let field = format!(", identity: {identity}");
    fs::write(plugin.path("kms.yaml"), without.replace(", keyLabel", &format!("{field}, keyLabel"))).unwrap();
}

#[test]
fn a_key_that_may_do_nothing_but_gcm_is_named_by_its_attributes_where_the_configuration_says_so() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    let mut plugin = Plugin::on_token(&[]);
    token(&plugin).generate("a", "01", &["--allowed-mechanisms", "AES-GCM"]).unwrap();
    plugin.configure(&[("a", "")], "");
    let (code, told) = checked(&plugin);
    assert_eq!(code, Some(1));
    assert!(told.contains("a: access-denied: the token refuses CKM_AES_ECB for the key, "), "{told}");
    assert!(told.contains("set identity: attributes"), "{told}");
    identify_by(&plugin, "attributes");
    plugin.start();
    let (mut client, first, stored) = written(&plugin);
    token(&plugin).generate("a", "02", &["--allowed-mechanisms", "AES-GCM"]).unwrap();
    assert_ne!(client.healthy(&first), first);
    let old = read(&mut client, &stored);
    assert_eq!((error(&old), data(&old)), ("", b"old".to_vec()));
    let sealed = client.ask(&json!({"do": "encrypt", "data": encode(&[1; 32])}));
    let version = sealed["annotations"]["version.kms.machineadm.cluster.x-k8s.io"].as_str().unwrap();
    assert!(String::from_utf8(data(&json!({"data": version}))).unwrap().starts_with("attributes:"), "{sealed}");
}

#[test]
fn what_a_token_refuses_or_allows_later_makes_no_other_id_and_loses_no_data() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"), Judge("cc"));
    let mut plugin = behind_faults(&[("a", "")]);
    plugin.start();
    let (mut client, by_material, first) = written(&plugin);

    fs::write(plugin.path("fault.no-ecb"), "").unwrap();
    let told = client.unhealthy("decrypts-only: the key still decrypts and no longer encrypts (access-denied: ");
    assert!(error(&told).contains("set identity: attributes"), "{told}");
    assert_eq!(data(&read(&mut client, &first)), b"old");
    plugin.kill();
    plugin.start();
    client.unhealthy("access-denied: the token refuses CKM_AES_ECB for the key");
    let opened = read(&mut client, &first);
    assert_eq!((error(&opened), data(&opened)), ("", b"old".to_vec()), "nobody has computed its version");

    plugin.kill();
    identify_by(&plugin, "attributes");
    plugin.start();
    let (mut client, by_attributes, second) = written(&plugin);
    assert_ne!(by_attributes, by_material);
    assert_eq!(data(&read(&mut client, &first)), b"old");
    fs::remove_file(plugin.path("fault.no-ecb")).unwrap();
    plugin.kill();
    plugin.start();
    assert_eq!(client.healthy(""), by_attributes, "what the token allows now changes nothing");
    for stored in [&first, &second] {
        assert_eq!(data(&read(&mut client, stored)), b"old", "{stored}");
    }

    plugin.kill();
    identify_by(&plugin, "material");
    plugin.start();
    assert_eq!(client.healthy(""), by_material);
    assert_eq!(data(&read(&mut client, &second)), b"old");
}

#[test]
fn data_of_a_key_that_is_gone_is_missing_and_no_other_key_is_taken_for_it() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"), Judge("cc"));
    let mut plugin = behind_faults(&[("a", "")]);
    plugin.start();
    let (mut client, id, stored) = written(&plugin);
    token(&plugin).generate("a", "02", &[]).unwrap();
    token(&plugin).delete("a", "01").unwrap();
    client.healthy(&id);
    for tried in [": put the old key back", ", and none of 1 that may be decrypts this data: put the old key back"] {
        let refused = read(&mut client, &stored);
        assert!(error(&refused).contains("NotFound") && error(&refused).contains(tried), "{refused}");
        // From now on the token does not tell which key is of which version.
        fs::write(plugin.path("fault.no-ecb"), "").unwrap();
    }
}

#[test]
fn an_old_key_that_the_token_no_longer_uses_leaves_the_newer_one_alone() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"), Judge("cc"));
    let mut plugin = behind_faults(&[("a", "")]);
    plugin.start();
    let (_, first, of_old) = written(&plugin);
    plugin.kill();
    plugin.rotate("a");
    fs::write(plugin.path("fault.inactive"), "").unwrap();
    plugin.start();
    let (mut client, second, of_new) = written(&plugin);
    assert_ne!(first, second);
    assert_eq!(data(&read(&mut client, &of_new)), b"old");
    let refused = read(&mut client, &of_old);
    assert!(error(&refused).contains("C_DecryptInit of the PKCS#11 module returned 0x80000136"), "{refused}");
}

#[test]
fn a_module_that_cannot_be_loaded_is_unreachable_and_another_key_is_not() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    let mut plugin = Plugin::on_token(&[("a", "")]);
    let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
    let other = text.split_once("keys:\n").unwrap().1.replace("a.sock", "b.sock").replace("name: a", "name: b");
    let module = token(&plugin).module().display().to_string();
    fs::write(plugin.path("kms.yaml"), text + &other.replace(&module, "/nowhere/module.so")).unwrap();
    let (code, told) = checked(&plugin);
    assert_eq!(code, Some(1));
    assert!(told.contains("b: unreachable: cannot load the PKCS#11 module /nowhere/module.so: "), "{told}");
    plugin.start();
    let mut good = Client::of(&plugin.socket("a"));
    Client::of(&plugin.socket("b")).unhealthy("Unavailable");
    good.healthy("");
    until("the failure is in the log", LIMIT, || {
        let log = plugin.log();
        if log.contains("cannot load the PKCS#11 module") { Ok(()) } else { Err(log) }
    })
    .unwrap();
}
