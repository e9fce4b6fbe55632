//! A key of AWS: its versions, states and failures, as a fake that enforces AWS's rules answers.
use crate::DOCS;
use crate::fake_aws_kms::{
    ARN, FakeAwsKms, FakeKey, Fault, material, of_aws_encryption_provider, of_aws_encryption_provider_with,
};
use crate::one_line::is_one_short_line;
use machineadm_kms::{AwsKms, AwsSettings, FailureKind, KeyArn, KeyService};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testbed::fake::{FakeServer, answer};

fn key(fake: &FakeAwsKms) -> AwsKms {
    AwsKms::new(fake.settings(fake.mounted()))
}

fn replica_arn(region: &str) -> String {
    format!("arn:aws:kms:{region}:111122223333:key/mrk-1234abcd12ab34cd56ef1234567890ab")
}

/// A multi-Region key in one region.
fn replica(fake: &FakeAwsKms, region: &str, key: FakeKey) -> AwsKms {
    let arn = replica_arn(region);
    fake.state().keys.insert(arn.clone(), key);
    AwsKms::new(AwsSettings { key: KeyArn::parse(&arn).unwrap(), ..fake.settings(fake.mounted()) })
}

#[test]
fn a_rotation_makes_another_id_and_old_data_is_still_decrypted() {
    let fake = FakeAwsKms::start();
    let key = key(&fake);
    let before = key.encrypt(b"seed", b"id").unwrap();
    assert_eq!((key.current().unwrap(), before.version.version.clone()), (before.version.clone(), material(0)));
    assert!(before.version.id(0).as_str().starts_with("aws:"));
    fake.key(|key| key.rotations = 1);
    let after = key.encrypt(b"seed", b"id").unwrap();
    assert_eq!((key.current().unwrap(), after.version.version.clone()), (after.version.clone(), material(1)));
    assert_ne!(before.version.id(0), after.version.id(0));
    for sealed in [&before, &after] {
        let version = &sealed.version.version;
        assert_eq!(key.named(version).unwrap(), sealed.version);
        assert_eq!(*key.decrypt(&sealed.ciphertext, version, b"id").unwrap(), b"seed");
        let other = key.decrypt(&sealed.ciphertext, version, b"another").unwrap_err();
        assert_eq!(other.kind, FailureKind::InvalidRequest, "{other}");
        assert_eq!(key.caution(&sealed.version), None);
    }
    assert_eq!(key.named("no-material").unwrap_err().kind, FailureKind::InvalidRequest);
    let mixed = key.decrypt(&before.ciphertext, &material(1), b"id").unwrap_err();
    assert_eq!(mixed.kind, FailureKind::InvalidRequest, "{mixed}");
}

#[test]
fn an_encrypt_names_the_material_that_really_encrypted() {
    let fake = FakeAwsKms::start();
    let key = key(&fake);
    assert_eq!(key.current().unwrap().version, material(0));
    fake.state().rotate_before_encrypt = true;
    fake.state().operations.clear();
    assert_eq!(key.encrypt(b"seed", b"id").unwrap().version.version, material(1));
    assert_eq!(fake.state().operations, ["Encrypt", "Decrypt"]);
}

#[test]
fn an_encrypt_whose_result_is_decrypted_to_something_else_fails() {
    let fake = FakeAwsKms::start();
    let key = key(&fake);
    fake.fault(Some(Fault::OtherPlaintext));
    let failure = key.encrypt(b"seed", b"id").unwrap_err();
    assert_eq!(failure.kind, FailureKind::DecryptsOnly, "{failure}");
}

#[test]
fn ca_certificates_that_change_count_at_once() {
    let (fake, other) = (FakeAwsKms::start(), FakeAwsKms::start());
    let key = key(&fake);
    key.current().unwrap();
    let own = std::fs::read(fake.ca_file()).unwrap();
    std::fs::copy(other.ca_file(), fake.ca_file()).unwrap();
    assert_eq!(key.current().unwrap_err().kind, FailureKind::Unreachable);
    std::fs::write(fake.ca_file(), own).unwrap();
    key.current().unwrap();
}

#[test]
fn a_connection_that_the_server_has_closed_fails_no_call() {
    let fake = FakeAwsKms::start();
    let key = key(&fake);
    key.current().unwrap();
    fake.fault(Some(Fault::Close));
    key.current().unwrap();
    assert!(fake.state().fault.is_none(), "the connection was closed");
}

#[test]
fn a_key_without_named_material_works_with_a_caution() {
    let fake = FakeAwsKms::start();
    fake.key(|key| key.is_named = false);
    let key = key(&fake);
    let sealed = key.encrypt(b"seed", b"id").unwrap();
    assert_eq!(key.current().unwrap(), sealed.version);
    fake.key(|key| key.rotations = 1);
    assert_eq!(key.current().unwrap(), sealed.version, "its rotation is invisible");
    assert_eq!(*key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").unwrap(), b"seed");
    assert!(key.caution(&sealed.version).unwrap().contains("its rotation is invisible"));
}

#[test]
fn what_a_multi_region_key_encrypted_is_decrypted_by_its_replica_under_the_same_id() {
    // AWS names the material of multi-Region keys, too, and by the same id in each region.
    for (rotations, is_named) in [(0, true), (2, true), (0, false)] {
        let fake = FakeAwsKms::start();
        let key = |region| replica(&fake, region, FakeKey { rotations, state: "Enabled", is_named });
        let [here, there] = ["us-west-2", "eu-west-1"].map(key);
        let sealed = here.encrypt(b"seed", b"id").unwrap();
        let version = &sealed.version.version;
        assert_eq!(*version == material(rotations), is_named, "{version}");
        assert_eq!(
            (there.current().unwrap(), there.named(version).unwrap()),
            (sealed.version.clone(), sealed.version.clone())
        );
        assert_eq!(*there.decrypt(&sealed.ciphertext, version, b"id").unwrap(), b"seed");
    }
}

#[test]
fn a_key_that_is_disabled_or_to_be_deleted_neither_encrypts_nor_decrypts() {
    let fake = FakeAwsKms::start();
    let key = key(&fake);
    let sealed = key.encrypt(b"seed", b"id").unwrap();
    for (state, kind, text) in [
        ("Disabled", FailureKind::Disabled, "is disabled: enable it"),
        ("PendingDeletion", FailureKind::PendingDeletion, "is deleted at 2027-01-15T08:00:00Z"),
    ] {
        fake.key(|key| key.state = state);
        let failures = [
            key.current().unwrap_err(),
            key.encrypt(b"seed", b"id").unwrap_err(),
            key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").unwrap_err(),
        ];
        for failure in failures {
            assert!(failure.kind == kind && failure.message.contains(text), "{state}: {failure}");
        }
    }
    fake.key(|key| key.state = "Enabled");
    assert_eq!(*key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").unwrap(), b"seed");
    fake.state().keys.clear();
    assert_eq!(key.current().unwrap_err().kind, FailureKind::Missing);
}

#[test]
fn errors_mean_what_the_table_of_the_docs_says() {
    let fake = FakeAwsKms::start();
    let key = key(&fake);
    key.current().unwrap();
    let table = DOCS.split("| error of AWS |").nth(1).unwrap();
    let rows: Vec<Vec<&str>> =
        table.lines().skip(2).take_while(|line| line.starts_with('|')).map(|line| line.split('`').collect()).collect();
    assert!(rows.len() >= 20, "{rows:?}");
    for row in rows {
        let (name, kind) = (row[1], row[3]);
        fake.fault(Some(Fault::Error(format!("com.amazonaws.kms#{name}"), 400)));
        let failure = key.encrypt(b"seed", b"id").unwrap_err();
        assert_eq!(failure.kind.word(), kind, "{name}: {failure}");
    }
    fake.fault(None);
    key.encrypt(b"seed", b"id").unwrap();
}

#[test]
fn a_service_that_hangs_or_is_gone_is_unreachable_in_time() {
    let fake = FakeAwsKms::start();
    let mut settings = fake.settings(fake.mounted());
    settings.timeout = Duration::from_millis(500);
    let key = AwsKms::new(settings);
    key.encrypt(b"seed", b"id").unwrap();
    fake.fault(Some(Fault::Hang));
    let began = Instant::now();
    let failure = key.encrypt(b"seed", b"id").unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreachable, "{failure}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    fake.fault(Some(Fault::Error(String::new(), 503)));
    assert_eq!(key.current().unwrap_err().kind, FailureKind::Unreachable);
    let gone = FakeAwsKms::start();
    let lost = AwsKms::new({
        let mut settings = fake.settings(fake.mounted());
        settings.ca_file = Some(gone.ca_file());
        settings
    });
    assert_eq!(lost.current().unwrap_err().kind, FailureKind::Unreachable, "another authority");
}

#[test]
fn what_a_broken_or_hostile_service_answers_is_a_failure_of_one_short_line() {
    let fake = FakeAwsKms::start();
    let evil = json!({"__type": "\u{1b}[2JDisabledException", "message": "\u{7}\n{\"level\":\"info\"}".repeat(1000)});
    let described = json!({"KeyMetadata": {
        "KeyState": "Enabled", "KeyUsage": "ENCRYPT_DECRYPT", "KeySpec": "SYMMETRIC_DEFAULT", "CurrentKeyMaterialId": "\n",
    }});
    let answers = [
        ("200 OK", String::new()),
        ("200 OK", "{}".to_owned()),
        ("200 OK", "<html>".to_owned()),
        ("200 OK", "[".repeat(100_000)),
        ("200 OK", " ".repeat(1 << 20)),
        ("200 OK", described.to_string()),
        ("200 OK", json!({"KeyMetadata": {"KeyState": "\u{1b}[2J".repeat(100)}}).to_string()),
        ("307 Temporary Redirect", "{}".to_owned()),
        ("400 Bad Request", evil.to_string()),
        ("503 Service Unavailable", evil.to_string()),
    ];
    for (status, body) in answers {
        let shown: String = format!("{status} {body}").chars().take(80).collect();
        let server = FakeServer::start(move |_, tls| answer(tls, status, "Location: https://127.0.0.1:9/\r\n", &body));
        let ca_file = fake.path("broken.crt");
        std::fs::write(&ca_file, server.authority().pem()).unwrap();
        let settings = fake.settings(fake.mounted());
        let key = AwsKms::new(AwsSettings { endpoint: server.url(""), ca_file: Some(ca_file), ..settings });
        let failures = [
            key.current().map(drop).unwrap_err(),
            key.encrypt(b"seed", b"id").map(drop).unwrap_err(),
            key.decrypt(b"sealed", "unversioned", b"id").map(drop).unwrap_err(),
        ];
        for failure in failures {
            is_one_short_line(&failure, &shown);
        }
    }
}

#[test]
fn what_aws_encryption_provider_wrote_is_decrypted_under_its_id_alone() {
    let fake = FakeAwsKms::start();
    let key = key(&fake);
    let stored = of_aws_encryption_provider(b"seed");
    assert_eq!(*key.decrypt_of_other_plugin(&stored, ARN).unwrap().unwrap(), b"seed");
    fake.key(|key| key.rotations = 3);
    assert_eq!(*key.decrypt_of_other_plugin(&stored, ARN).unwrap().unwrap(), b"seed");
    assert!(key.decrypt_of_other_plugin(&stored, &ARN.replace("ab", "cd")).is_none());
    assert!(key.decrypt_of_other_plugin(&stored[1..], ARN).is_none());
    let mut damaged = stored;
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(key.decrypt_of_other_plugin(&damaged, ARN).unwrap().unwrap_err().kind, FailureKind::InvalidRequest);
}

#[test]
fn what_aws_encryption_provider_wrote_with_one_replica_is_decrypted_by_another() {
    let fake = FakeAwsKms::start();
    let there = replica(&fake, "eu-west-1", FakeKey { rotations: 1, state: "Enabled", is_named: true });
    let stored = of_aws_encryption_provider(b"seed");
    for region in ["us-west-2", "eu-west-1"] {
        assert_eq!(*there.decrypt_of_other_plugin(&stored, &replica_arn(region)).unwrap().unwrap(), b"seed");
    }
    assert!(
        there.decrypt_of_other_plugin(&stored, &replica_arn("us-west-2").replace("1234abcd", "abcd1234")).is_none()
    );
}

#[test]
fn an_encryption_context_is_sent_beside_the_key_id_and_nothing_is_decrypted_under_another() {
    let fake = FakeAwsKms::start();
    let with = |context: &[(&str, &str)]| {
        let encryption_context = context.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        AwsKms::new(AwsSettings { encryption_context, ..fake.settings(fake.mounted()) })
    };
    let key = with(&[("cluster", "a")]);
    let sealed = key.encrypt(b"seed", b"id").unwrap();
    for seen in fake.requests().iter().filter(|seen| seen.header("x-amz-target") != Some("TrentService.DescribeKey")) {
        let body: Value = serde_json::from_slice(&seen.body).unwrap();
        assert_eq!(body["EncryptionContext"], json!({"cluster": "a", "machineadm-kms-key-id": "id"}));
    }
    let theirs = of_aws_encryption_provider_with(&json!({"cluster": "a"}), b"seed");
    assert_eq!(*key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").unwrap(), b"seed");
    assert_eq!(*key.decrypt_of_other_plugin(&theirs, ARN).unwrap().unwrap(), b"seed");
    for other in [with(&[]), with(&[("cluster", "b")]), with(&[("cluster", "a"), ("region", "b")])] {
        let ours = other.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").unwrap_err();
        let theirs = other.decrypt_of_other_plugin(&theirs, ARN).unwrap().unwrap_err();
        assert_eq!([ours.kind, theirs.kind], [FailureKind::InvalidRequest; 2], "{ours} {theirs}");
    }
}

#[test]
fn the_policy_of_the_docs_is_enough_and_each_of_its_rights_is_needed() {
    let policy = DOCS.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let policy: serde_json::Value = serde_json::from_str(policy).unwrap();
    assert_eq!(policy["Statement"][0]["Resource"].as_str(), Some(ARN), "one key and no other");
    let actions: Vec<String> = serde_json::from_value(policy["Statement"][0]["Action"].clone()).unwrap();
    let fake = FakeAwsKms::start();
    let use_all = |key: &AwsKms| {
        key.current()?;
        let sealed = key.encrypt(b"seed", b"id")?;
        key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id")
    };
    let own_key = key(&fake);
    use_all(&own_key).unwrap();
    let asked: std::collections::BTreeSet<String> =
        fake.state().operations.iter().map(|operation| format!("kms:{operation}")).collect();
    assert_eq!(asked, actions.into_iter().collect(), "what is asked for is what the policy allows");
    for operation in ["DescribeKey", "Encrypt", "Decrypt"] {
        fake.state().accounts.get_mut("AKIDTEST").unwrap().denied = [operation].into();
        let failure = use_all(&key(&fake)).unwrap_err();
        assert_eq!(failure.kind, FailureKind::AccessDenied, "{operation}: {failure}");
    }
}

#[test]
fn the_docs_and_the_alert_tell_how_to_survive_a_deletion() {
    let section = DOCS.split("### When a key is deleted").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    for text in [
        "longest waiting period, 30 days",
        "--pending-window-in-days 30",
        "aws kms cancel-key-deletion",
        "deletion_allowed",
        "what the key encrypted is lost, in etcd and in all backups. Neither machineadm nor Kubernetes can recover it",
    ] {
        assert!(section.contains(text), "{text}");
    }
    let fake = FakeAwsKms::start();
    fake.key(|key| key.state = "PendingDeletion");
    let alert = key(&fake).current().unwrap_err().message;
    assert!(alert.contains("2027-01-15T08:00:00Z") && alert.contains("aws kms cancel-key-deletion"), "{alert}");
}
