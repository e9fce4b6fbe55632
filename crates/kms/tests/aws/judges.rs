//! Others judge our requests: botocore's service model, serializer and signature, and moto as a service.
use crate::DOCS;
use crate::fake_aws_kms::{FakeAwsKms, REGION};
use crate::fake_credentials::{SECRET, TOKEN, admit_lent, metadata_service};
use fetch::{Client, Method, Reach, Request, Settings, Trust};
use machineadm_kms::{AwsCredentials, AwsKms, AwsSettings, FailureKind, KeyArn, KeyService};
use secret::Secret;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use testbed::fake::Authority;
use testbed::{Port, judges, until};

#[test]
fn botocore_would_send_and_sign_the_same_requests() {
    testbed::needs!(Judge("botocore"));
    let fake = FakeAwsKms::start();
    let (endpoint, _lender) = metadata_service();
    admit_lent(&fake, 1..=1);
    let mut settings = fake.settings(AwsCredentials::InstanceMetadata { endpoint });
    settings.encryption_context = BTreeMap::from([("cluster".to_owned(), "a b/ü".to_owned())]);
    let key = AwsKms::new(settings);
    key.current().unwrap();
    key.encrypt(&[7; 32], b"aws:id").unwrap();
    let requests: Vec<Value> = fake.requests().iter().map(|seen| {
        let headers: BTreeMap<&str, &str> = seen.head.lines().skip(1).filter_map(|line| line.split_once(": ")).collect();
        json!({"url": format!("{}/", fake.endpoint()), "headers": headers, "body": String::from_utf8_lossy(&seen.body)})
    }).collect();
    assert_eq!(requests.len(), 3);
    let judged = ask_botocore(&json!({"region": REGION, "secret": SECRET, "token": TOKEN, "requests": requests}));
    for request in judged["requests"].as_array().unwrap() {
        let told = (&request["problems"], &request["same_body"], &request["same_headers"], &request["method"]);
        assert_eq!(told, (&json!(""), &json!(true), &json!(true), &json!("POST")), "{request}");
        assert_eq!(request["signature"]["ours"], request["signature"]["botocore"], "{request}");
    }
    for error in judged["errors"].as_array().unwrap().iter().filter_map(Value::as_str) {
        assert!(DOCS.contains(&format!("\n| `{error}` |")), "{error} is in the model and not in the docs");
    }
    let answers = &judged["answers"];
    for name in ["KeyState", "KeyUsage", "KeySpec", "DeletionDate", "CurrentKeyMaterialId"] {
        assert!(answers["DescribeKey"]["KeyMetadata"][name].is_string(), "{name}: {answers}");
    }
    for path in [["Encrypt", "CiphertextBlob"], ["Decrypt", "Plaintext"], ["Decrypt", "KeyMaterialId"]] {
        assert!(answers[path[0]][path[1]].is_string(), "{path:?}: {answers}");
    }
}

fn ask_botocore(question: &Value) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/aws/judge_requests.py");
    let mut command = judges::command("botocore").unwrap();
    let mut child = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    write!(child.stdin.take().unwrap(), "{question}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn moto_encrypts_and_decrypts_with_our_requests() {
    testbed::needs!(Judge("moto_server"));
    let moto = Moto::start();
    let arn = moto.ask("CreateKey", &json!({"KeyUsage": "ENCRYPT_DECRYPT"}))["KeyMetadata"]["Arn"]
        .as_str()
        .unwrap()
        .to_owned();
    let key = AwsKms::new(moto.settings(&arn));
    let sealed = key.encrypt(b"seed", b"id").unwrap();
    assert_eq!(key.current().unwrap(), sealed.version);
    assert!(key.caution(&sealed.version).is_some(), "moto names no key material");
    assert_eq!(*key.decrypt(&sealed.ciphertext, &sealed.version.version, b"id").unwrap(), b"seed");
    let other = key.decrypt(&sealed.ciphertext, &sealed.version.version, b"another").unwrap_err();
    assert_eq!(other.kind, FailureKind::InvalidRequest, "{other}");
    let mut damaged = sealed.ciphertext.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let damaged = key.decrypt(&damaged, &sealed.version.version, b"id").unwrap_err();
    assert_eq!(damaged.kind, FailureKind::InvalidRequest, "{damaged}");
    // The whole id, since moto's is random and any part of it may be zeros already.
    let (keys, _) = arn.rsplit_once('/').unwrap();
    let absent = AwsKms::new(moto.settings(&format!("{keys}/00000000-0000-0000-0000-000000000000")));
    assert_eq!(absent.current().unwrap_err().kind, FailureKind::Missing);
    moto.ask("DisableKey", &json!({"KeyId": arn.rsplit('/').next().unwrap()}));
    assert_eq!(key.current().unwrap_err().kind, FailureKind::Disabled);
}

/// moto's server over https; ends when dropped.
struct Moto {
    child: Child,
    directory: TempDir,
    address: String,
    _port: Port,
}

impl Moto {
    fn start() -> Self {
        let (directory, authority) = (TempDir::new().unwrap(), Authority::new());
        let (certificate, key) = authority.pair(&["127.0.0.1"]);
        for (name, text) in [("ca.crt", authority.pem()), ("server.crt", certificate), ("server.key", key)] {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let port = Port::free().unwrap();
        let mut command = judges::command("moto_server").unwrap();
        command
            .args(["-H", "127.0.0.1", "-p", &port.number().to_string(), "-c"])
            .arg(directory.path().join("server.crt"));
        command.arg("-k").arg(directory.path().join("server.key")).stdout(Stdio::null()).stderr(Stdio::null());
        let address = format!("https://127.0.0.1:{}", port.number());
        let moto = Self { child: command.spawn().unwrap(), directory, address, _port: port };
        until("moto answers", Duration::from_secs(60), || {
            moto.send("ListKeys", &json!({})).map_err(|error| error.to_string())
        })
        .unwrap();
        moto
    }

    fn settings(&self, arn: &str) -> AwsSettings {
        fs::write(self.directory.path().join("shared"), "[default]\naws_access_key_id=a\naws_secret_access_key=b\n")
            .unwrap();
        AwsSettings {
            key: KeyArn::parse(arn).unwrap(),
            region: REGION.to_owned(),
            endpoint: self.address.clone(),
            ca_file: Some(self.directory.path().join("ca.crt")),
            encryption_context: BTreeMap::new(),
            credentials: AwsCredentials::SharedFile {
                path: self.directory.path().join("shared"),
                profile: "default".to_owned(),
            },
            timeout: Duration::from_secs(10),
        }
    }

    fn ask(&self, operation: &str, body: &Value) -> Value {
        self.send(operation, body).unwrap()
    }

    /// A request of the operator's, which moto takes without a signature.
    fn send(&self, operation: &str, body: &Value) -> fetch::Result<Value> {
        let ca = fs::read(self.directory.path().join("ca.crt")).unwrap();
        let mut settings = Settings::new(Trust::Only(fetch::certificates(&ca).unwrap()));
        settings.reach = Reach::ANYWHERE;
        let scope = format!(
            "AWS4-HMAC-SHA256 Credential=a/20261117/{REGION}/kms/aws4_request, SignedHeaders=host, Signature=x"
        );
        let request = Request::new(Method::Post, &format!("{}/", self.address)).unwrap();
        let request = request.with_header("authorization", Secret::new(scope));
        let request = request.with_header("x-amz-target", Secret::new(format!("TrentService.{operation}")));
        let request = request.with_body("application/x-amz-json-1.1", body.to_string().into_bytes());
        let answer = Client::new(settings).unwrap().send(&request)?;
        assert!(answer.is_success(), "{operation}: {}", String::from_utf8_lossy(&answer.body));
        Ok(serde_json::from_slice(&answer.body).unwrap_or_default())
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
