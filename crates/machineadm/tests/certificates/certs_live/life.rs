//! The life of a copy: how it is stored and owned, how long it lives, who reads it meanwhile, and that it goes.
use super::{
    look::{COPY, LIMIT, done, entries, refused, text, ttl_tokens},
    rights,
    tap::Tap,
};
use crate::support::{
    certs_bed::{CertsBed, KEY},
    run_output::RunOutput,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::{collections::BTreeSet, process::Command};
use testbed::{Result, control_plane::Options, until};

/// Everything that a node with stacked etcd needs, and nothing else.
const ENTRIES: [&str; 8] =
    ["ca.crt", "ca.key", "etcd-ca.crt", "etcd-ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.key", "sa.pub"];

#[test]
fn a_copy_is_owned_by_its_ttl_token_read_by_join_tokens_alone_and_gone_in_time() -> Result<()> {
    testbed::needs!(ControlPlane, Judge("openssl"));
    let bed = CertsBed::new(&Options::default())?;
    let first = a_generated_key_is_printed_once_with_its_risk(&bed);
    let owner = it_is_stored_as_specified(&bed)?;
    it_lives_two_hours(&bed)?;
    rights::only_join_tokens_read_the_copy(&bed)?;
    let second = a_second_upload_replaces_and_owns_it_anew(&bed, &owner)?;
    it_is_listed_without_secrets(&bed, &second)?;
    it_is_not_called_deleted_while_it_can_be_read(&bed)?;
    it_is_deleted_when_asked(&bed)?;
    it_ends_before_the_first_join_token(&bed)?;
    it_is_gone_when_its_token_expires(&bed)?;
    it_ends_by_the_clock_of_the_api_server(&bed)?;
    let next = a_generated_key_is_printed_once_with_its_risk(&bed);
    assert_ne!(first, next);
    bed.plane.down()
}

fn upload_words(bed: &CertsBed) -> [String; 4] {
    ["certs".to_owned(), "upload".to_owned(), "--cert-dir".to_owned(), bed.plane.pki().display().to_string()]
}

/// Standard output holds the key alone; the risk is in the specification's terms.
fn a_generated_key_is_printed_once_with_its_risk(bed: &CertsBed) -> String {
    let words = upload_words(bed);
    let RunOutput { stdout, stderr, .. } = done(bed.admin(&words.each_ref().map(String::as_str)));
    let key = stdout.trim_end().to_owned();
    assert!(stdout == format!("{key}\n") && is_key(&key), "{stdout}");
    assert!(!stderr.contains(&key), "{stderr}");
    let risk = "anyone who has this certificate key and can read the Secret kube-system/kubeadm-certs gets the private \
                keys of the cluster; a copy of the Secret that is read before its deletion can be decrypted with the \
                key at any later time";
    assert!(stderr.contains(risk), "{stderr}");
    key
}

fn is_key(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The UID of its owner.
fn it_is_stored_as_specified(bed: &CertsBed) -> Result<String> {
    let secrets = bed.secrets()?;
    let copy = &secrets[COPY];
    assert_eq!((&copy["type"], &copy["metadata"]["namespace"]), (&json!("Opaque"), &json!("kube-system")));
    assert_eq!(entries(copy), ENTRIES);
    let [token] = ttl_tokens(&secrets)[..] else { panic!("{:?}", secrets.keys()) };
    let uid = &token["metadata"]["uid"];
    assert!(uid.is_string());
    let owner = json!([{
        "apiVersion": "v1", "kind": "Secret", "name": token["metadata"]["name"], "uid": uid,
        "controller": true, "blockOwnerDeletion": true,
    }]);
    assert_eq!(copy["metadata"]["ownerReferences"], owner);
    // No usages and no groups: nobody can do anything with it.
    assert_eq!(entries(token), ["description", "expiration", "token-id", "token-secret"]);
    Ok(uid.as_str().unwrap().to_owned())
}

fn expires(token: &Value) -> Timestamp {
    text(token, "expiration").parse().unwrap()
}

fn is_within(span: SignedDuration, seconds: std::ops::RangeInclusive<i64>) -> bool {
    seconds.contains(&span.as_secs())
}

/// Where join tokens live for a day, as they do unless asked otherwise.
fn it_lives_two_hours(bed: &CertsBed) -> Result<()> {
    let secrets = bed.secrets()?;
    let end = expires(ttl_tokens(&secrets)[0]);
    let left = end.duration_since(Timestamp::now());
    assert!(is_within(left, 7_100..=7_200), "{left}");
    let join = &secrets[&format!("bootstrap-token-{}", bed.token.split('.').next().unwrap())];
    assert!(end < expires(join));
    Ok(())
}

fn a_second_upload_replaces_and_owns_it_anew(bed: &CertsBed, first: &str) -> Result<Value> {
    let uploaded = done(bed.upload(&["-o", "json"]));
    let value: Value = serde_json::from_str(&uploaded.stdout).unwrap();
    assert_eq!(value["replaced"], true, "{value}");
    assert_eq!((&value["certificateKey"], &value["cleanup"]), (&json!(KEY), &json!("works")));
    assert_eq!(value["entries"], json!(ENTRIES));
    // The first token is gone: else there were two.
    assert_ne!(it_is_stored_as_specified(bed)?, first);

    let hidden = done(bed.upload(&["--skip-certificate-key-print"]));
    assert_eq!(hidden.stdout, "");
    assert!(!hidden.stderr.contains(KEY), "{}", hidden.stderr);
    let hidden = done(bed.upload(&["--skip-certificate-key-print", "-o", "json"]));
    assert!(!hidden.stdout.contains(KEY) && !hidden.stderr.contains(KEY), "{hidden:?}");
    Ok(serde_json::from_str(&hidden.stdout).unwrap())
}

fn it_is_listed_without_secrets(bed: &CertsBed, uploaded: &Value) -> Result<()> {
    let value: Value = serde_json::from_str(&done(bed.admin(&["certs", "list", "-o", "json"])).stdout).unwrap();
    assert_eq!((&value["exists"], &value["entries"]), (&json!(true), &json!(ENTRIES)));
    assert_eq!((&value["owner"]["token"], &value["expires"]), (&uploaded["owner"], &uploaded["expires"]));
    assert_eq!((&value["owner"]["exists"], &value["problems"]), (&json!(true), &json!([])));
    let left = value["secondsLeft"].as_i64().unwrap();
    assert!((7_000..=7_200).contains(&left), "{left}");
    let shown = done(bed.admin(&["certs", "list"]));
    let id = uploaded["owner"].as_str().unwrap();
    for line in [&format!("owner     bootstrap token {id}\n"), &format!("entries   {}\n", ENTRIES.join(", "))] {
        assert!(shown.stdout.contains(line), "{}", shown.stdout);
    }
    let secret = text(&bed.secrets()?[&format!("bootstrap-token-{id}")], "token-secret");
    assert!(!shown.stdout.contains(&secret) && !value.to_string().contains(&secret));
    Ok(())
}

fn it_is_deleted_when_asked(bed: &CertsBed) -> Result<()> {
    let before: BTreeSet<_> = bed.secrets()?.into_keys().collect();
    let tried = done(bed.admin(&["certs", "delete", "--dry-run"]));
    assert!(tried.stdout.contains("Secret kube-system/kubeadm-certs deleted (dry run)\n"), "{}", tried.stdout);
    assert_eq!(before, bed.secrets()?.into_keys().collect());

    let deleted = done(bed.admin(&["certs", "delete"]));
    let id = deleted.stdout.split('"').nth(1).unwrap();
    let expected = format!("Secret kube-system/kubeadm-certs deleted\nbootstrap token \"{id}\" deleted\n");
    assert_eq!(deleted.stdout, expected);
    assert!(deleted.stderr.contains("can still be decrypted with its certificate key"), "{}", deleted.stderr);
    let gone: BTreeSet<_> = [COPY.to_owned(), format!("bootstrap-token-{id}")].into();
    let after: BTreeSet<_> = bed.secrets()?.into_keys().collect();
    assert_eq!(&before - &after, gone);

    let again: Value = serde_json::from_str(&done(bed.admin(&["certs", "delete", "-o", "json"])).stdout).unwrap();
    assert_eq!((&again["deleted"], &again["tokens"]), (&json!(false), &json!([])));
    let none = done(bed.admin(&["certs", "list"]));
    assert_eq!(none.stdout, "");
    assert!(none.stderr.contains("no certificates are uploaded"), "{}", none.stderr);
    let none: Value = serde_json::from_str(&done(bed.admin(&["certs", "list", "-o", "json"])).stdout).unwrap();
    assert_eq!(none, json!({"secret": "kube-system/kubeadm-certs", "exists": false}));
    Ok(())
}

/// A finalizer of somebody else keeps it.
fn it_is_not_called_deleted_while_it_can_be_read(bed: &CertsBed) -> Result<()> {
    let finalizers = |list: Value| {
        let patch = json!({"metadata": {"finalizers": list}}).to_string();
        bed.plane.kubectl(&["--namespace=kube-system", "patch", "secret", COPY, "--type=merge", "--patch", &patch])
    };
    finalizers(json!(["example.com/backup"]))?;
    for _ in 0..2 {
        let kept = bed.admin(&["certs", "delete"]);
        refused(&kept, 1, "finalizers keep it: it can still be read", "remove these finalizers");
        assert_eq!(kept.stdout, "");
    }
    assert!(bed.secrets()?.contains_key(COPY));
    refused(&bed.upload(&[]), 1, "it is being deleted", "remove these finalizers");
    finalizers(Value::Null)?;
    done(bed.upload(&[]));
    Ok(())
}

/// Half of what is left of it: a joining machine that has the token has the copy for a shorter time.
fn it_ends_before_the_first_join_token(bed: &CertsBed) -> Result<()> {
    let token = done(bed.admin(&["token", "create", "--ttl", "1h"])).stdout;
    let id = token.split('.').next().unwrap();
    let uploaded: Value = serde_json::from_str(&done(bed.upload(&["-o", "json"])).stdout).unwrap();
    assert_eq!((&uploaded["limitedBy"], &uploaded["replaced"]), (&json!(id), &json!(false)));
    let secrets = bed.secrets()?;
    let end = expires(ttl_tokens(&secrets)[0]);
    let left = end.duration_since(Timestamp::now());
    assert!(is_within(left, 1_700..=1_800), "{left}");
    assert!(end < expires(&secrets[&format!("bootstrap-token-{id}")]));
    assert_eq!(uploaded["expires"], text(ttl_tokens(&secrets)[0], "expiration"));
    done(bed.admin(&["token", "delete", id]));
    Ok(())
}

/// The token cleaner deletes the token, and the garbage collector what it owns.
fn it_is_gone_when_its_token_expires(bed: &CertsBed) -> Result<()> {
    let secrets = bed.secrets()?;
    let owner = ttl_tokens(&secrets)[0]["metadata"]["name"].as_str().unwrap();
    assert!(secrets.contains_key(COPY));
    let end = Timestamp::now() + SignedDuration::from_secs(3);
    let patch = json!({"stringData": {"expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()}}).to_string();
    bed.plane.kubectl(&["--namespace=kube-system", "patch", "secret", owner, "--patch", &patch])?;
    until("the token and its Secret are gone", LIMIT, || {
        let secrets = bed.secrets().map_err(|error| error.to_string())?;
        let left: Vec<_> = [COPY, owner].into_iter().filter(|name| secrets.contains_key(*name)).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })?;
    // Whole seconds are written, so that it may end up to one before.
    assert!(Timestamp::now() > end - SignedDuration::from_secs(1), "it was gone before its end");
    let none = bed.download(&[]);
    refused(&none, 1, "the Secret kube-system/kubeadm-certs does not exist", "run `machineadm certs upload`");
    Ok(())
}

/// Whose token cleaner deletes it, wherever this machine's clock stands.
fn it_ends_by_the_clock_of_the_api_server(bed: &CertsBed) -> Result<()> {
    let tap = Tap::with_clock(&bed.plane, SignedDuration::from_mins(5))?;
    let kubeconfig = bed.file("ahead.conf", &tap.administrator());
    let (words, mut command) = (upload_words(bed), Command::new(env!("CARGO_BIN_EXE_machineadm")));
    let ran = RunOutput::of(command.args(words).args(["-o", "json", "--kubeconfig", &kubeconfig]).output().unwrap());
    let uploaded = done(ran);
    assert!(uploaded.stderr.contains("warning: the clock of this machine is "), "{}", uploaded.stderr);
    assert!(uploaded.stderr.contains(" behind the API server's clock\n"), "{}", uploaded.stderr);
    let left = expires(ttl_tokens(&bed.secrets()?)[0]).duration_since(Timestamp::now());
    assert!(is_within(left, 7_400..=7_500), "{left}");
    let value: Value = serde_json::from_str(&uploaded.stdout).unwrap();
    let left = value["secondsLeft"].as_i64().unwrap();
    assert!((7_100..=7_200).contains(&left), "{left}");
    Ok(())
}

#[test]
fn a_key_is_generated_without_a_cluster_and_differs_each_time() {
    let key = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
        done(RunOutput::of(command.args(["certs", "key"]).args(words).output().unwrap())).stdout
    };
    let (first, second) = (key(&[]), key(&[]));
    assert!(is_key(first.trim_end()) && is_key(second.trim_end()) && first != second);
    let value: Value = serde_json::from_str(&key(&["-o", "json"])).unwrap();
    assert!(is_key(value["certificateKey"].as_str().unwrap()), "{value}");
}
