//! Every source of credentials: replaced files, leases that end, and what is refused.
use crate::fake_aws_kms::FakeAwsKms;
use crate::fake_credentials::{admit_lent, metadata_service, security_token_service};
use machineadm_kms::{AwsCredentials, AwsKms, FailureKind, KeyService};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;
use testbed::until;

const LIMIT: Duration = Duration::from_secs(30);

fn key(fake: &FakeAwsKms, credentials: AwsCredentials) -> AwsKms {
    AwsKms::new(fake.settings(credentials))
}

#[test]
fn a_mounted_secret_and_a_shared_file_are_read_again_when_they_change() {
    let fake = FakeAwsKms::start();
    let mounted = key(&fake, fake.mounted());
    mounted.current().unwrap();
    fake.state().accounts.clear();
    let revoked = mounted.current().unwrap_err();
    assert_eq!(revoked.kind, FailureKind::AccessDenied, "{revoked}");
    fake.credentials("AKIDSECOND", "another");
    mounted.current().unwrap();

    let path = fake.path("shared");
    let text = |id: &str, secret: &str| {
        format!("[default]\naws_access_key_id = X\n[kms]\naws_access_key_id = {id}\naws_secret_access_key = {secret}\n")
    };
    fs::write(&path, text("AKIDSECOND", "wrong")).unwrap();
    let shared = key(&fake, AwsCredentials::SharedFile { path: path.clone(), profile: "kms".to_owned() });
    let wrong = shared.current().unwrap_err();
    assert_eq!(wrong.kind, FailureKind::AccessDenied, "{wrong}");
    assert!(wrong.message.contains("the secret access key is wrong") && !wrong.message.contains("another"), "{wrong}");
    fs::write(&path, text("AKIDSECOND", "another")).unwrap();
    shared.current().unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(shared.current().unwrap_err().kind, FailureKind::AccessDenied);
}

#[test]
fn a_session_token_of_a_mounted_secret_or_a_shared_file_goes_with_requests() {
    let fake = FakeAwsKms::start();
    fake.credentials("ASIATEST", "temporary");
    fake.admit("ASIATEST", "temporary", Some("session+/token"));
    let mounted = key(&fake, fake.mounted());
    assert_eq!(mounted.current().unwrap_err().kind, FailureKind::AccessDenied);
    fs::write(fake.path("credentials").join("aws_session_token"), "session+/token\n").unwrap();
    mounted.current().unwrap();
    let (path, text) =
        (fake.path("shared"), "[default]\naws_access_key_id=ASIATEST\naws_secret_access_key=temporary\n");
    let shared = key(&fake, AwsCredentials::SharedFile { path: path.clone(), profile: "default".to_owned() });
    fs::write(&path, text).unwrap();
    assert_eq!(shared.current().unwrap_err().kind, FailureKind::AccessDenied);
    fs::write(&path, format!("{text}aws_session_token = session+/token\n")).unwrap();
    shared.current().unwrap();
}

#[test]
fn a_secret_that_the_kubelet_replaces_is_read_as_one_version() {
    let fake = FakeAwsKms::start();
    let mount = fake.path("mount");
    let version = |name: &str, id: &str, secret: &str| {
        let directory = mount.join(name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("aws_access_key_id"), id).unwrap();
        fs::write(directory.join("aws_secret_access_key"), secret).unwrap();
        fake.admit(id, secret, None);
    };
    let turn = |name: &str| {
        symlink(name, mount.join("..new")).unwrap();
        fs::rename(mount.join("..new"), mount.join("..data")).unwrap();
    };
    version("..1", "AKIDONE", "one");
    turn("..1");
    for file in ["aws_access_key_id", "aws_secret_access_key"] {
        symlink(Path::new("..data").join(file), mount.join(file)).unwrap();
    }
    let key = key(&fake, AwsCredentials::Directory { path: mount.clone() });
    key.current().unwrap();
    version("..2", "AKIDTWO", "two");
    turn("..2");
    fake.state().accounts.remove("AKIDONE");
    key.current().unwrap();
}

#[test]
fn an_instance_role_is_lent_renewed_and_outlives_an_outage_of_the_metadata_service() {
    let fake = FakeAwsKms::start();
    let (endpoint, lender) = metadata_service();
    admit_lent(&fake, 1..=20);
    let key = key(&fake, AwsCredentials::InstanceMetadata { endpoint });
    for _ in 0..3 {
        key.encrypt(b"seed", b"id").unwrap();
    }
    assert_eq!(lender.lent.load(Ordering::SeqCst), 1, "credentials are used until near their end");
    lender.is_down.store(true, Ordering::SeqCst);
    key.current().unwrap();

    // The first are revoked: others are asked for at once.
    fake.state().accounts.get_mut("ASIALENT1").unwrap().is_expired = true;
    let down = key.current().unwrap_err();
    assert_eq!(down.kind, FailureKind::Unreachable, "{down}");
    lender.is_down.store(false, Ordering::SeqCst);
    lender.life.store(2, Ordering::SeqCst);
    key.current().unwrap();
    assert_eq!(lender.lent.load(Ordering::SeqCst), 2);
    until("credentials are replaced before they end", LIMIT, || {
        key.current().unwrap();
        let lent = lender.lent.load(Ordering::SeqCst);
        if lent >= 4 { Ok(()) } else { Err(lent.to_string()) }
    })
    .unwrap();
}

#[test]
fn credentials_that_were_revoked_are_replaced_once_for_all_calls_and_none_of_them_fails() {
    let fake = FakeAwsKms::start();
    let (endpoint, lender) = metadata_service();
    admit_lent(&fake, 1..=20);
    let key = key(&fake, AwsCredentials::InstanceMetadata { endpoint });
    key.current().unwrap();
    fake.state().accounts.get_mut("ASIALENT1").unwrap().is_expired = true;
    // All of them are refused before the first one has asked for others.
    fake.state().delay = Duration::from_millis(300);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| key.current())).collect();
        calls.into_iter().for_each(|call| drop(call.join().unwrap().unwrap()));
    });
    assert_eq!(lender.lent.load(Ordering::SeqCst), 2);
}

#[test]
fn a_metadata_service_that_hangs_stops_nobody_who_has_credentials() {
    let fake = FakeAwsKms::start();
    let (endpoint, lender) = metadata_service();
    admit_lent(&fake, 1..=20);
    lender.life.store(6, Ordering::SeqCst);
    let key = key(&fake, AwsCredentials::InstanceMetadata { endpoint });
    key.current().unwrap();
    lender.hangs.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let asking =
            until("somebody asks for the next credentials", LIMIT, || {
                let asking = scope.spawn(|| key.current());
                let (is_done, has_asked) = (|| asking.is_finished(), || lender.hung.load(Ordering::SeqCst) > 0);
                until("it asks or is done", LIMIT, || {
                    if is_done() || has_asked() { Ok(()) } else { Err("neither".into()) }
                })
                .unwrap();
                if has_asked() { Ok(asking) } else { Err("the credentials are not due yet".to_owned()) }
            });
        key.current().unwrap();
        let asking = asking.unwrap();
        assert!(!asking.is_finished(), "the other one did not wait for it");
        asking.join().unwrap().unwrap();
    });
}

#[test]
fn a_web_identity_is_exchanged_at_sts_and_a_wrong_token_is_refused() {
    let fake = FakeAwsKms::start();
    let role = "arn:aws:iam::111122223333:role/kms";
    let (sts, lender) = security_token_service("e30.e30.sig&=", role);
    admit_lent(&fake, 1..=2);
    fs::write(fake.path("sts.crt"), sts.authority().pem()).unwrap();
    fs::write(fake.path("token"), "e30.wrong\n").unwrap();
    let credentials = AwsCredentials::WebIdentity {
        role_arn: role.to_owned(),
        token_file: fake.path("token"),
        session_name: "machineadm-kms-plugin".to_owned(),
        endpoint: sts.url(""),
        ca_file: Some(fake.path("sts.crt")),
    };
    let key = key(&fake, credentials);
    let refused = key.current().unwrap_err();
    assert_eq!(refused.kind, FailureKind::AccessDenied);
    assert!(refused.message.contains("InvalidIdentityToken") && !refused.message.contains("e30"), "{refused}");
    fs::write(fake.path("token"), "e30.e30.sig&=\n").unwrap();
    key.encrypt(b"seed", b"id").unwrap();
    assert_eq!(lender.lent.load(Ordering::SeqCst), 1);
    fake.state().accounts.get_mut("ASIALENT1").unwrap().is_expired = true;
    key.current().unwrap();
    assert_eq!(lender.lent.load(Ordering::SeqCst), 2, "credentials that were revoked are replaced");
}

#[test]
fn rights_that_are_missing_are_named() {
    let fake = FakeAwsKms::start();
    let key = key(&fake, fake.mounted());
    let sealed = key.encrypt(b"seed", b"id").unwrap();
    fake.state().accounts.get_mut("AKIDTEST").unwrap().denied.insert("Encrypt");
    let denied = key.encrypt(b"seed", b"id").unwrap_err();
    assert!(
        denied.kind == FailureKind::AccessDenied && denied.message.starts_with("Encrypt returned 400: AccessDenied"),
        "{denied}"
    );
    key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").unwrap();
}
