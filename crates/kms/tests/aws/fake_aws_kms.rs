//! A stand-in for AWS KMS over https: it verifies signatures, names key material, enforces the states of keys as AWS
//! documents them, and throttles, fails and hangs as a test says. moto does none of these.
use crate::sigv4::verify;
use aws_lc_rs::aead::{AES_256_GCM, Aad, Nonce, RandomizedNonceKey};
use base64::{Engine, prelude::BASE64_STANDARD};
use machineadm_kms::{AwsCredentials, AwsSettings, KeyArn};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tempfile::TempDir;
use testbed::fake::{FakeServer, Seen, Tls, answer};

pub(crate) const REGION: &str = "us-west-2";
pub(crate) const ARN: &str = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
/// The date of deletion of a key that is to be deleted: 2027-01-15T08:00:00Z.
const DELETION: u64 = 1_800_000_000;
/// The length of a material's id.
const ID: usize = 64;
const NONCE: usize = 12;

/// The server with its keys, credentials and faults; gone when dropped.
pub(crate) struct FakeAwsKms {
    server: FakeServer,
    state: Arc<Mutex<State>>,
    directory: TempDir,
}

/// A key as AWS has it.
pub(crate) struct FakeKey {
    /// How many times it was rotated; the last material encrypts.
    pub(crate) rotations: u8,
    pub(crate) state: &'static str,
    /// Whether DescribeKey reports `CurrentKeyMaterialId`.
    pub(crate) is_named: bool,
}

/// Who may do what.
pub(crate) struct Account {
    pub(crate) secret: String,
    pub(crate) token: Option<String>,
    pub(crate) is_expired: bool,
    pub(crate) denied: BTreeSet<&'static str>,
}

/// What happens instead of an answer.
#[derive(Clone)]
pub(crate) enum Fault {
    /// This error with this status.
    Error(String, u16),
    /// No answer within any limit.
    Hang,
    /// The next request meets the end of its connection, as one that the server has closed just then.
    Close,
    /// Decrypt answers with another plaintext.
    OtherPlaintext,
}

pub(crate) struct State {
    pub(crate) keys: BTreeMap<String, FakeKey>,
    pub(crate) accounts: BTreeMap<String, Account>,
    pub(crate) fault: Option<Fault>,
    /// How long each answer is on its way, as one over a network is.
    pub(crate) delay: Duration,
    /// Rotates the key when the next Encrypt comes, before it encrypts.
    pub(crate) rotate_before_encrypt: bool,
    pub(crate) operations: Vec<String>,
}

impl FakeAwsKms {
    /// With one enabled key, [`ARN`], and the credentials `AKIDTEST`, in the directory of [`FakeAwsKms::directory`].
    pub(crate) fn start() -> Self {
        Self::served_by(|state| FakeServer::start(move |seen, tls| serve(&state, seen, tls)))
    }

    /// The same on a server that is started elsewhere.
    pub(crate) fn served_by(start: impl FnOnce(Arc<Mutex<State>>) -> FakeServer) -> Self {
        let state = Arc::new(Mutex::new(State {
            keys: [(ARN.to_owned(), FakeKey { rotations: 0, state: "Enabled", is_named: true })].into(),
            accounts: BTreeMap::new(),
            fault: None,
            delay: Duration::ZERO,
            rotate_before_encrypt: false,
            operations: Vec::new(),
        }));
        let fake = Self { server: start(Arc::clone(&state)), state, directory: TempDir::new().unwrap() };
        fs::write(fake.ca_file(), fake.server.authority().pem()).unwrap();
        fake.credentials("AKIDTEST", "s3cret+/key");
        fake
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Changes the key.
    pub(crate) fn key(&self, change: impl FnOnce(&mut FakeKey)) {
        change(self.state().keys.get_mut(ARN).unwrap());
    }

    pub(crate) fn fault(&self, fault: Option<Fault>) {
        self.state().fault = fault;
    }

    /// Lets credentials in, without a session token.
    pub(crate) fn admit(&self, id: &str, secret: &str, token: Option<&str>) {
        let account = Account {
            secret: secret.to_owned(),
            token: token.map(str::to_owned),
            is_expired: false,
            denied: BTreeSet::new(),
        };
        self.state().accounts.insert(id.to_owned(), account);
    }

    /// Lets credentials in and puts them into the directory, as a Secret that is mounted.
    pub(crate) fn credentials(&self, id: &str, secret: &str) {
        self.admit(id, secret, None);
        let directory = self.path("credentials");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("aws_access_key_id"), format!("{id}\n")).unwrap();
        fs::write(directory.join("aws_secret_access_key"), secret).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn ca_file(&self) -> PathBuf {
        self.path("ca.crt")
    }

    pub(crate) fn endpoint(&self) -> String {
        self.server.url("")
    }

    /// Every request so far, as it came.
    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.server.seen()
    }

    pub(crate) fn settings(&self, credentials: AwsCredentials) -> AwsSettings {
        AwsSettings {
            key: KeyArn::parse(ARN).unwrap(),
            region: REGION.to_owned(),
            endpoint: self.endpoint(),
            ca_file: Some(self.ca_file()),
            encryption_context: BTreeMap::new(),
            credentials,
            timeout: Duration::from_secs(5),
        }
    }

    pub(crate) fn mounted(&self) -> AwsCredentials {
        AwsCredentials::Directory { path: self.path("credentials") }
    }
}

pub(crate) fn serve(state: &Mutex<State>, seen: &Seen, tls: &mut Tls) -> std::io::Result<()> {
    let (fault, delay) = {
        let state = state.lock().unwrap();
        (state.fault.clone(), state.delay)
    };
    let result = match fault {
        Some(Fault::Error(name, status)) => Err((name, status)),
        Some(Fault::Hang) => {
            // Until the client goes: it sends nothing more.
            return std::io::Read::read(tls, &mut [0]).map(drop);
        }
        Some(Fault::Close) => {
            state.lock().unwrap().fault = None;
            return Err(std::io::ErrorKind::ConnectionAborted.into());
        }
        Some(Fault::OtherPlaintext) | None => {
            operate(&mut state.lock().unwrap(), seen).map_err(|name| (name.to_owned(), 400))
        }
    };
    std::thread::sleep(delay);
    let header = "Content-Type: application/x-amz-json-1.1\r\n";
    match result {
        Ok(body) => answer(tls, "200 OK", header, &body.to_string()),
        Err((name, status)) => {
            let body = json!({"__type": name, "message": format!("the fake answers {name}")});
            answer(tls, &format!("{status} Error"), header, &body.to_string())
        }
    }
}

fn operate(state: &mut State, seen: &Seen) -> Result<Value, &'static str> {
    let operation = seen.header("x-amz-target").and_then(|target| target.strip_prefix("TrentService."));
    let operation = operation.ok_or("UnknownOperationException")?.to_owned();
    state.operations.push(operation.clone());
    let account = verify(seen, REGION, &state.accounts)?;
    if account.denied.contains(operation.as_str()) {
        return Err("AccessDeniedException");
    }
    let body: Value = serde_json::from_slice(&seen.body).map_err(|_| "SerializationException")?;
    let arn = body["KeyId"].as_str().ok_or("ValidationException")?.to_owned();
    if operation == "Encrypt" && std::mem::take(&mut state.rotate_before_encrypt) {
        state.keys.get_mut(&arn).unwrap().rotations += 1;
    }
    let key = state.keys.get(&arn).ok_or("NotFoundException")?;
    if operation == "DescribeKey" {
        return Ok(describe(&arn, key));
    }
    match key.state {
        "Enabled" => {}
        "Disabled" => return Err("DisabledException"),
        _ => return Err("KMSInvalidStateException"),
    }
    let bytes = |name: &str| body[name].as_str().and_then(|text| BASE64_STANDARD.decode(text).ok());
    // The members of an object are in order here, as AWS binds them.
    let context = body["EncryptionContext"].to_string();
    match operation.as_str() {
        "Encrypt" => {
            let plaintext = bytes("Plaintext").filter(|bytes| (1..=4096).contains(&bytes.len()));
            let blob = seal(key.rotations, &plaintext.ok_or("ValidationException")?, &context);
            Ok(
                json!({"CiphertextBlob": BASE64_STANDARD.encode(blob), "KeyId": arn, "EncryptionAlgorithm": "SYMMETRIC_DEFAULT"}),
            )
        }
        "Decrypt" => {
            let blob = bytes("CiphertextBlob").ok_or("ValidationException")?;
            let (mut plaintext, id) = open(key.rotations, &blob, &context).ok_or("InvalidCiphertextException")?;
            if matches!(state.fault, Some(Fault::OtherPlaintext)) {
                plaintext.reverse();
            }
            let plaintext = BASE64_STANDARD.encode(plaintext);
            Ok(
                json!({"Plaintext": plaintext, "KeyId": arn, "KeyMaterialId": id, "EncryptionAlgorithm": "SYMMETRIC_DEFAULT"}),
            )
        }
        _ => Err("UnknownOperationException"),
    }
}

fn describe(arn: &str, key: &FakeKey) -> Value {
    let mut metadata = json!({
        "Arn": arn, "KeyId": arn, "KeyState": key.state, "KeyUsage": "ENCRYPT_DECRYPT", "KeySpec": "SYMMETRIC_DEFAULT",
        "Origin": "AWS_KMS", "Enabled": key.state == "Enabled",
    });
    if key.is_named {
        metadata["CurrentKeyMaterialId"] = json!(material(key.rotations));
    }
    if key.state == "PendingDeletion" {
        metadata["DeletionDate"] = json!(DELETION);
    }
    json!({"KeyMetadata": metadata})
}

/// The id of the material after so many rotations.
pub(crate) fn material(rotations: u8) -> String {
    format!("{rotations:02x}").repeat(ID / 2)
}

fn cipher(rotations: u8) -> RandomizedNonceKey {
    RandomizedNonceKey::new(&AES_256_GCM, &[rotations; 32]).unwrap()
}

fn seal(rotations: u8, plaintext: &[u8], context: &str) -> Vec<u8> {
    let mut sealed = plaintext.to_vec();
    let nonce = cipher(rotations).seal_in_place_append_tag(Aad::from(context.as_bytes()), &mut sealed).unwrap();
    [material(rotations).as_bytes(), &nonce.as_ref()[..], &sealed].concat()
}

fn open(newest: u8, blob: &[u8], context: &str) -> Option<(Vec<u8>, String)> {
    let (id, rest) = blob.split_at_checked(ID)?;
    let (nonce, sealed) = rest.split_at_checked(NONCE)?;
    let rotations = (0..=newest).find(|rotations| material(*rotations).as_bytes() == id)?;
    let mut plaintext = sealed.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let length = cipher(rotations).open_in_place(nonce, Aad::from(context.as_bytes()), &mut plaintext).ok()?.len();
    plaintext.truncate(length);
    Some((plaintext, material(rotations)))
}

/// A ciphertext as aws-encryption-provider stores it: the byte `1`, then what AWS answered, without a context.
pub(crate) fn of_aws_encryption_provider(plaintext: &[u8]) -> Vec<u8> {
    of_aws_encryption_provider_with(&Value::Null, plaintext)
}

/// The same with its `--encryption-context`.
pub(crate) fn of_aws_encryption_provider_with(context: &Value, plaintext: &[u8]) -> Vec<u8> {
    [b"1", seal(0, plaintext, &context.to_string()).as_slice()].concat()
}
