//! A key of AWS (a fake that verifies signatures), through the plugin, judged by kube-apiserver's own client.
use crate::backends::{Served, Service, aws, with_key};
use crate::fake_aws_kms::{ARN, FakeAwsKms, Fault, of_aws_encryption_provider};
use crate::fake_credentials::{admit_lent, metadata_service};
use crate::support::{Client, LIMIT, data, encode, error};
use serde_json::json;
use std::time::{Duration, Instant};
use testbed::programs::KMS_CLIENT;
use testbed::until;

fn start() -> (crate::support::Plugin, FakeAwsKms, Client) {
    let Served { mut plugin, service: Service::Aws(fake) } = Served::aws() else { panic!("not AWS") };
    let checked = plugin.check();
    assert!(checked.status.success(), "{checked:?}");
    plugin.start();
    let client = Client::of(&plugin.socket("a"));
    (plugin, fake, client)
}

#[test]
fn a_rotation_in_aws_is_reported_within_15_seconds_and_old_data_is_read() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let (_plugin, fake, mut client) = start();
    let first = client.healthy("");
    assert!(first.starts_with("aws:") && !first.contains("1234abcd"), "{first}");
    assert_eq!(error(&client.ask(&json!({"do": "rotate"}))), "");
    let stored = client.ask(&json!({"do": "write", "name": "s", "data": encode(b"old")}));
    let read = |client: &mut Client| client.ask(&json!({"do": "read", "name": "s", "data": stored["data"]}));

    let rotated = Instant::now();
    fake.key(|key| key.rotations += 1);
    let second = client.healthy(&first);
    assert!(rotated.elapsed() < Duration::from_secs(15), "reported after {:?}", rotated.elapsed());
    assert_eq!(error(&client.ask(&json!({"do": "rotate"}))), "");
    let old = read(&mut client);
    assert_eq!((data(&old).as_slice(), old["stale"].as_bool()), (&b"old"[..], Some(true)), "{old}");

    // A rotation between Status and Encrypt: the result is refused, and the new id reported soon.
    fake.state().rotate_before_encrypt = true;
    let refused = client.ask(&json!({"do": "encrypt", "data": encode(&[7; 32])}));
    assert!(error(&refused).contains("rotated"), "{refused}");
    assert!(client.healthy(&second) != first);
    assert_eq!(data(&read(&mut client)), b"old");
}

#[test]
fn an_instance_that_starts_after_a_rotation_reports_the_id_of_one_that_saw_it() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let (_saw, fake, mut one) = start();
    let first = one.healthy("");
    fake.key(|key| key.rotations += 1);
    // Refused, since the id is another one now: then the plugin looks at once.
    one.ask(&json!({"do": "encrypt", "data": encode(&[7; 32])}));
    let second = one.healthy(&first);
    let credentials = json!({"directory": {"path": fake.path("credentials")}});
    let mut plugin = with_key("aws", &aws(&fake, &credentials));
    plugin.start();
    let mut other = Client::of(&plugin.socket("a"));
    assert_eq!(other.healthy(""), second);
    let sealed = one.ask(&json!({"do": "encrypt", "data": encode(&[7; 32])}));
    let opened = other.ask(&json!({
        "do": "decrypt", "data": sealed["data"], "keyID": sealed["keyID"], "annotations": sealed["annotations"],
    }));
    assert_eq!((error(&opened), data(&opened)), ("", vec![7; 32]));
}

#[test]
fn a_key_that_is_disabled_deleted_denied_or_throttled_is_reported_as_such() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let (plugin, fake, mut client) = start();
    let id = client.healthy("");
    let sealed = client.ask(&json!({"do": "encrypt", "data": encode(&[7; 32])}));
    let states = [
        ("Disabled", "disabled", "is disabled: enable it with"),
        ("PendingDeletion", "pending-deletion", "is pending deletion and is deleted at 2027-01-15T08:00:00Z"),
    ];
    for (state, kind, text) in states {
        fake.key(|key| key.state = state);
        let told = client.unhealthy(&format!("key a: {kind}: the key {ARN} {text}"));
        assert!(error(&told).contains("FailedPrecondition"), "{told}");
        assert!(plugin.log().contains(text), "the log names it too");
        let kept = client
            .ask(&json!({"do": "decrypt", "data": sealed["data"], "keyID": id, "annotations": sealed["annotations"]}));
        assert!(error(&kept).contains("FailedPrecondition"), "it does not decrypt either: {kept}");
        fake.key(|key| key.state = "Enabled");
        assert_eq!(client.healthy(""), id);
    }
    fake.state().accounts.get_mut("AKIDTEST").unwrap().denied.insert("Encrypt");
    let told = client.unhealthy("FailedPrecondition");
    assert!(
        error(&told).contains("decrypts-only: the key still decrypts and no longer encrypts (access-denied: Encrypt"),
        "{told}"
    );
    fake.state().accounts.clear();
    client.unhealthy("PermissionDenied");
    fake.credentials("AKIDNEXT", "renewed");
    assert_eq!(client.healthy(""), id, "renewed credentials are read by themselves");
    fake.fault(Some(Fault::Error("ThrottlingException".to_owned(), 400)));
    client.unhealthy("ResourceExhausted");
    fake.fault(Some(Fault::Hang));
    client.unhealthy("Unavailable");
    fake.fault(None);
    assert_eq!(client.healthy(""), id);
    let log = plugin.log();
    assert!(!log.contains("s3cret") && !log.contains("renewed"), "{log}");
}

#[test]
fn what_aws_encryption_provider_stored_is_read_and_other_data_without_annotations_is_not() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let (_plugin, _fake, mut client) = start();
    client.healthy("");
    let decrypt = |stored: &[u8], id: &str| json!({"do": "decrypt", "data": encode(stored), "keyID": id});
    let stored = of_aws_encryption_provider(&[9; 32]);
    let opened = client.ask(&decrypt(&stored, ARN));
    assert_eq!((error(&opened), data(&opened)), ("", vec![9; 32]));
    for (stored, id) in [(&stored[1..], ARN), (&stored[..], "aws:other"), (&stored[..40], ARN)] {
        assert!(error(&client.ask(&decrypt(stored, id))).contains("InvalidArgument"), "{id}");
    }
    assert_eq!(error(&client.status()), "");
}

#[test]
fn check_takes_credentials_from_the_environment_and_warns_of_invisible_rotation() {
    let fake = FakeAwsKms::start();
    fake.key(|key| key.is_named = false);
    fake.admit("AKIDENV", "of/env", Some("session"));
    let plugin = with_key("aws", &aws(&fake, &json!({"environment": {}})));
    let check = |variables: &[(&str, &str)]| {
        let mut command = plugin.command();
        command.arg("--check").env_remove("AWS_ACCESS_KEY_ID").envs(variables.iter().copied());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let all = [("AWS_ACCESS_KEY_ID", "AKIDENV"), ("AWS_SECRET_ACCESS_KEY", "of/env"), ("AWS_SESSION_TOKEN", "session")];
    let (code, told) = check(&all);
    assert_eq!(code, Some(0), "{told}");
    assert!(
        told.contains("a: warning: AWS does not name the key material of this key: its rotation is invisible"),
        "{told}"
    );
    let (code, told) = check(&[]);
    assert_eq!(code, Some(1));
    assert!(told.contains("a: access-denied: the environment variable AWS_ACCESS_KEY_ID is not set"), "{told}");
}

#[test]
fn a_key_whose_rotation_is_invisible_is_logged_as_such_once() {
    let Served { mut plugin, service: Service::Aws(fake) } = Served::aws() else { panic!("not AWS") };
    fake.key(|key| key.is_named = false);
    plugin.start();
    let warning = "\"message\":\"the key works with a restriction\"";
    until("the warning is logged", LIMIT, || {
        let log = plugin.log();
        if log.contains(warning) { Ok(()) } else { Err(log) }
    })
    .unwrap();
    let probes = || fake.state().operations.iter().filter(|operation| *operation == "DescribeKey").count();
    let before = probes();
    until("it was probed again", LIMIT, || if probes() > before + 1 { Ok(()) } else { Err("not yet".to_owned()) })
        .unwrap();
    let log = plugin.log();
    assert_eq!(log.matches(warning).count(), 1, "{log}");
    assert!(log.contains("its rotation is invisible. Raise epoch after each rotation"), "{log}");
}

#[test]
fn a_machine_without_ca_certificates_of_its_own_has_the_role_of_its_instance() {
    let fake = FakeAwsKms::start();
    let (endpoint, _lender) = metadata_service();
    admit_lent(&fake, 1..=4);
    let plugin = with_key("aws", &aws(&fake, &json!({"instanceMetadata": {"endpoint": endpoint}})));
    let mut command = plugin.command();
    command.arg("--check").env("SSL_CERT_FILE", plugin.path("none")).env_remove("SSL_CERT_DIR");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}
