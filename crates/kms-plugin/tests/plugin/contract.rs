//! kube-apiserver's own client, without its clocks, judges the contract of KMS v2, its limits and the stale rule.

use crate::backends::{Served, Service};
use crate::support::{Client, Plugin, data, encode, error};
use rustix::process::Signal;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use testbed::programs::KMS_CLIENT;

/// What AES-GCM adds to a plaintext: nonce and tag.
const OVERHEAD: usize = 28;
/// What kube-apiserver accepts of all annotations of an object together, names and values.
const ANNOTATIONS: usize = 32 << 10;

#[test]
fn kube_apiservers_client_accepts_every_answer_up_to_the_limits() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    accept_every_answer(Plugin::new(&[("a", "")]), "file");
}

pub(crate) fn accept_every_answer(mut plugin: Plugin, provider: &str) {
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    let status = client.status();
    assert_eq!((&status["version"], &status["healthz"], &status["keyID"]), (&json!("v2"), &json!("ok"), &json!(id)));
    assert!(id.strip_prefix(provider).is_some_and(|rest| rest.starts_with(':') && rest.len() == 65), "{id}");
    assert!(!id.contains(&encode(&[1; 32])));
    for length in [1, 32, 1024 - OVERHEAD] {
        let text = vec![7; length];
        let sealed = client.ask(&json!({"do": "encrypt", "data": encode(&text)}));
        assert_eq!((error(&sealed), data(&sealed).len()), ("", length + OVERHEAD), "{sealed}");
        assert_eq!(sealed["keyID"], json!(id));
        let opened = client.ask(&json!({
            "do": "decrypt", "data": sealed["data"], "keyID": id, "annotations": sealed["annotations"],
        }));
        assert_eq!((error(&opened), data(&opened)), ("", text));
    }
    decrypt_with_all_annotations(&mut client);
    let refusals = [
        (0, "the plaintext has 0 bytes"),
        (1024 - OVERHEAD + 1, "the ciphertext has 1025 bytes"),
        (1025, "the plaintext has 1025 bytes"),
        (39 << 10, "the plaintext has 39936 bytes"),
        // More than a message may have is not even read.
        (41 << 10, "the limit is: 40960 bytes"),
        (1 << 20, "the limit is: 40960 bytes"),
    ];
    for (length, why) in refusals {
        let refused = client.ask(&json!({"do": "encrypt", "data": encode(&vec![7; length])}));
        assert!(error(&refused).contains(why), "{length} bytes: {refused}");
    }
    assert_eq!(error(&client.status()), "", "requests that can't be done say nothing of the key");
}

/// Decrypts with as many annotations as kube-apiserver stores, which a later plugin may have made.
fn decrypt_with_all_annotations(client: &mut Client) {
    const FURTHER: &str = "further.kms.example.com";
    let mut sealed = client.ask(&json!({"do": "encrypt", "data": encode(b"seed")}));
    let own = sealed["annotations"].as_object().unwrap().iter();
    let own: usize = own.map(|(name, value)| name.len() + data(&json!({"data": value})).len()).sum();
    sealed["annotations"][FURTHER] = json!(encode(&vec![7; ANNOTATIONS - own - FURTHER.len()]));
    sealed["do"] = json!("decrypt");
    let opened = client.ask(&sealed);
    assert_eq!((error(&opened), data(&opened)), ("", b"seed".to_vec()));
}

/// The headers and trailers that a call is answered with.
fn call(socket: &Path, method: &str, body: &[&str]) -> String {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--http2-prior-knowledge", "--dump-header", "-", "--output", "/dev/null"]);
    curl.args(["--header", "content-type: application/grpc", "--header", "te: trailers", "--request", "POST"]);
    curl.args(body).arg("--unix-socket").arg(socket).arg(format!("http://localhost/{method}"));
    let output = curl.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn kms_v1_is_not_implemented() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT), Judge("curl"));
    let mut plugin = Plugin::new(&[("a", "")]);
    plugin.start();
    let socket = plugin.socket("a");
    Client::of(&socket).healthy("");
    let answered = |method: &str, body: &[&str], status: &str| {
        let answer = call(&socket, method, body);
        let line = format!("grpc-status: {status}");
        assert!(answer.starts_with("HTTP/2 200") && answer.lines().any(|found| found == line), "{method}: {answer}");
    };
    // The frame of gRPC for a message of no bytes.
    let message = plugin.path("message");
    std::fs::write(&message, [0; 5]).unwrap();
    answered("v2.KeyManagementService/Status", &["--data-binary", &format!("@{}", message.display())], "0");
    // 12 is Unimplemented. Without a body: the answer does not wait for one, which curl 7.88 takes for an error.
    for package in ["v1beta1", "v2beta1", "v2alpha1"] {
        for method in ["Version", "Status", "Encrypt", "Decrypt"] {
            answered(&format!("{package}.KeyManagementService/{method}"), &[], "12");
        }
    }
}

#[test]
fn what_another_key_wrote_or_what_is_damaged_is_refused() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    refuse_what_is_not_of_the_key(Plugin::new(&[("a", ""), ("b", "")]));
}

pub(crate) fn refuse_what_is_not_of_the_key(mut plugin: Plugin) {
    plugin.start();
    let (mut a, mut b) = (Client::of(&plugin.socket("a")), Client::of(&plugin.socket("b")));
    let (of_a, of_b) = (a.healthy(""), b.healthy(""));
    assert_ne!(of_a, of_b);
    let sealed = a.ask(&json!({"do": "encrypt", "data": encode(&[9; 32])}));
    let with = |data: &str, id: &str| json!({"do": "decrypt", "data": data, "keyID": id, "annotations": sealed["annotations"]});
    let stored = sealed["data"].as_str().unwrap();
    assert_eq!(error(&a.ask(&with(stored, &of_a))), "");
    assert!(error(&a.ask(&with(stored, &of_b))).contains("InvalidArgument"));
    assert!(error(&b.ask(&with(stored, &of_a))).contains("NotFound"));
    let mut damaged = data(&sealed);
    damaged[20] ^= 1;
    assert!(error(&a.ask(&with(&encode(&damaged), &of_a))).contains("InvalidArgument"));
    assert!(error(&a.ask(&with(&encode(&[0; 1025]), &of_a))).contains("1025 bytes"));
    let without = json!({"do": "decrypt", "data": stored, "keyID": of_a});
    assert!(error(&a.ask(&without)).contains("annotation version.kms.machineadm.cluster.x-k8s.io is missing"));
}

#[test]
fn a_rotation_is_reported_within_15_seconds_and_makes_stored_data_stale() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    report_a_rotation(Plugin::new(&[("a", "")]));
}

pub(crate) fn report_a_rotation(mut plugin: Plugin) {
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let first = client.healthy("");
    assert_eq!(error(&client.ask(&json!({"do": "rotate"}))), "");
    let stored = client.ask(&json!({"do": "write", "name": "s", "data": encode(b"old")}));
    let read = |client: &mut Client| client.ask(&json!({"do": "read", "name": "s", "data": stored["data"]}));
    let fresh = read(&mut client);
    assert_eq!((data(&fresh).as_slice(), fresh["stale"].as_bool()), (&b"old"[..], None));

    plugin.rotate("a");
    // A newer key on a token is one more process.
    let rotated = Instant::now();
    let second = client.healthy(&first);
    let took = rotated.elapsed();
    assert!(took < Duration::from_secs(15), "reported after {took:?}");
    let adopted = client.ask(&json!({"do": "rotate"}));
    assert_eq!((error(&adopted), adopted["keyID"].as_str().unwrap()), ("", second.as_str()));
    let old = read(&mut client);
    assert_eq!((data(&old).as_slice(), old["stale"].as_bool()), (&b"old"[..], Some(true)), "{old}");

    // The first key again, under another epoch: another id, and everything is still readable.
    plugin.rotate_back("a");
    plugin.configure(&[("a", "  epoch: 1\n")], "");
    // Before the next probe, which would find the first id again.
    plugin.signal(Signal::HUP);
    let third = client.healthy(&second);
    assert!(third != first && third != second);
    assert_eq!(error(&client.ask(&json!({"do": "rotate"}))), "");
    assert_eq!(read(&mut client)["stale"], json!(true));
}

#[test]
fn instances_on_other_machines_report_the_same_id_and_read_each_others_data() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    report_one_id([(); 2].map(|()| Plugin::new(&[("a", "")])));
}

pub(crate) fn report_one_id([mut here, mut there]: [Plugin; 2]) {
    here.start();
    there.start();
    let (mut one, mut other) = (Client::of(&here.socket("a")), Client::of(&there.socket("a")));
    assert_eq!(one.healthy(""), other.healthy(""));
    for client in [&mut one, &mut other] {
        assert_eq!(error(&client.ask(&json!({"do": "rotate"}))), "");
    }
    let stored = one.ask(&json!({"do": "write", "name": "s", "data": encode(b"shared")}));
    let read = other.ask(&json!({"do": "read", "name": "s", "data": stored["data"]}));
    assert_eq!((data(&read).as_slice(), read["stale"].as_bool()), (&b"shared"[..], None));
}

#[test]
fn status_answers_from_the_last_probe_within_milliseconds() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let Served { mut plugin, service: Service::Aws(fake) } = Served::aws() else { panic!("not AWS") };
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    client.healthy("");
    // A Status that asks the service takes longer than this.
    fake.state().delay = Duration::from_millis(500);
    let mut micros: Vec<u64> = (0..200).map(|_| client.status()["micros"].as_u64().unwrap()).collect();
    micros.sort_unstable();
    // The median, on a machine that others use too.
    assert!(micros[100] < 20_000, "{micros:?}");
}
