//! A stand-in for Vault, for what the real one does not do when a test says so: hang, and ignore associated data as
//! versions before 1.13 do. Its tokens live for a few seconds and are not renewed.
use base64::{Engine, prelude::BASE64_STANDARD};
use machineadm_kms::{VaultAuth, VaultSettings};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use testbed::fake::{FakeServer, Seen, Tls, answer};

const TOKEN: &str = "token-of-the-fake";
/// How long a token lives, in seconds: another is asked for after half of it.
const LIFE: u64 = 16;
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The server, gone when dropped.
pub(crate) struct FakeTransit {
    server: FakeServer,
    directory: TempDir,
    pub(crate) faults: Arc<Faults>,
}

#[derive(Default)]
pub(crate) struct Faults {
    /// Decrypts whatever the associated data.
    pub(crate) ignores_context: AtomicBool,
    pub(crate) login_hangs: AtomicBool,
    /// The key was rotated after the last Encrypt: its description has version 2.
    pub(crate) is_rotated: AtomicBool,
    pub(crate) health_hangs: AtomicBool,
    /// How many logins were asked for.
    pub(crate) logins: AtomicUsize,
    /// How many requests were not answered.
    pub(crate) hung: AtomicUsize,
}

impl FakeTransit {
    pub(crate) fn start() -> Self {
        let faults: Arc<Faults> = Arc::default();
        let shared = Arc::clone(&faults);
        let server = FakeServer::start(move |seen, tls| serve(&shared, seen, tls));
        let directory = TempDir::new().unwrap();
        for (name, text) in [("ca.crt", server.authority().pem().as_str()), ("role", "r"), ("secret", "s")] {
            fs::write(directory.path().join(name), text).unwrap();
        }
        Self { server, directory, faults }
    }

    /// Writes the file of the secret id; the server takes `s` alone.
    pub(crate) fn secret_id(&self, text: &str) {
        fs::write(self.directory.path().join("secret"), text).unwrap();
    }

    pub(crate) fn settings(&self) -> VaultSettings {
        let file = |name: &str| self.directory.path().join(name);
        let auth = VaultAuth::AppRole {
            mount: "approle".to_owned(),
            role_id_file: file("role"),
            secret_id_file: file("secret"),
        };
        VaultSettings {
            address: self.server.url(""),
            namespace: None,
            mount: "transit".to_owned(),
            key: "k".to_owned(),
            ca_file: Some(file("ca.crt")),
            auth,
            timeout: TIMEOUT,
        }
    }
}

fn serve(faults: &Faults, seen: &Seen, tls: &mut Tls) -> std::io::Result<()> {
    let path = seen.path().split('?').next().unwrap_or_default().to_owned();
    let hangs = match path.as_str() {
        "/v1/sys/health" => faults.health_hangs.load(Ordering::SeqCst),
        "/v1/auth/approle/login" => faults.login_hangs.load(Ordering::SeqCst),
        _ => false,
    };
    faults.logins.fetch_add(usize::from(path == "/v1/auth/approle/login"), Ordering::SeqCst);
    if hangs {
        faults.hung.fetch_add(1, Ordering::SeqCst);
        // Until the client goes: it sends nothing more.
        return tls.read(&mut [0]).map(drop);
    }
    let header = "Content-Type: application/json\r\n";
    match operate(faults, &path, seen) {
        Ok(body) => answer(tls, "200 OK", header, &body.to_string()),
        Err((status, error)) => answer(tls, status, header, &json!({"errors": [error]}).to_string()),
    }
}

type Refusal = (&'static str, &'static str);

fn operate(faults: &Faults, path: &str, seen: &Seen) -> Result<Value, Refusal> {
    const BAD: Refusal = ("400 Bad Request", "invalid request");
    let body: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
    let text = |name: &str| body[name].as_str().ok_or(BAD);
    match path {
        // A standby that is not asked for as one answers so, and has no other answer.
        "/v1/sys/health" if !seen.path().ends_with("?standbyok=true&perfstandbyok=true") => {
            return Err(("429 Too Many Requests", "standby"));
        }
        "/v1/sys/health" => return Ok(json!({"cluster_id": "00000000-0000-0000-0000-000000000001"})),
        "/v1/auth/approle/login" if (text("role_id")?, text("secret_id")?) == ("r", "s") => {
            let auth = json!({"client_token": TOKEN, "lease_duration": LIFE, "renewable": false, "policies": ["kms"]});
            return Ok(json!({"auth": auth}));
        }
        _ if seen.header("x-vault-token") != Some(TOKEN) => return Err(("403 Forbidden", "permission denied")),
        _ => {}
    }
    match path {
        "/v1/transit/keys/k" if faults.is_rotated.load(Ordering::SeqCst) => {
            let keys = json!({"1": 1_700_000_000, "2": 1_700_000_060});
            Ok(json!({"data": {"latest_version": 2, "keys": keys}}))
        }
        "/v1/transit/keys/k" => Ok(json!({"data": {"latest_version": 1, "keys": {"1": 1_700_000_000}}})),
        "/v1/transit/encrypt/k" => {
            let sealed = BASE64_STANDARD.encode(format!("{}:{}", text("associated_data")?, text("plaintext")?));
            Ok(json!({"data": {"ciphertext": format!("vault:v1:{sealed}")}}))
        }
        "/v1/transit/decrypt/k" => {
            let sealed =
                text("ciphertext")?.strip_prefix("vault:v1:").and_then(|text| BASE64_STANDARD.decode(text).ok());
            let sealed = sealed.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or(BAD)?;
            let (context, plaintext) = sealed.split_once(':').ok_or(BAD)?;
            if context != text("associated_data")? && !faults.ignores_context.load(Ordering::SeqCst) {
                return Err(("400 Bad Request", "cipher: message authentication failed"));
            }
            Ok(json!({"data": {"plaintext": plaintext}}))
        }
        _ => Err(("404 Not Found", "no handler for route")),
    }
}
