//! A Vault in memory, with the certificates, roles and files that a test needs.
use fetch::{Client, Method, Reach, Request, Settings, Trust};
use machineadm_kms::{VaultAuth, VaultSettings};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use secret::Secret;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use testbed::programs::VAULT;

const POLICY: &str = "kms";

/// A running Vault; ends when dropped, with its files.
pub(crate) struct Vault {
    child: Child,
    directory: TempDir,
    address: String,
    token: String,
}

impl Vault {
    pub(crate) fn start() -> Self {
        let directory = TempDir::new().unwrap();
        let ca = authority();
        for (name, usage) in
            [("server", ExtendedKeyUsagePurpose::ServerAuth), ("client", ExtendedKeyUsagePurpose::ClientAuth)]
        {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned(), name.to_owned()]).unwrap();
            params.extended_key_usages = vec![usage];
            let certificate = params.signed_by(&key, &ca).unwrap();
            fs::write(directory.path().join(format!("{name}.crt")), certificate.pem()).unwrap();
            fs::write(directory.path().join(format!("{name}.key")), key.serialize_pem()).unwrap();
        }
        fs::write(directory.path().join("ca.crt"), ca.pem()).unwrap();
        let mut command = Command::new(VAULT.ensure().unwrap().judge("vault-transit").unwrap());
        command.arg(directory.path().join("server.crt")).arg(directory.path().join("server.key"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| told[name].as_str().unwrap().to_owned();
        let vault = Self { child, directory, address: text("address"), token: text("token") };
        vault.file("token", &vault.token);
        vault.post("sys/mounts/transit", &json!({"type": "transit"}));
        vault
    }

    /// Ends it at once; its files stay.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn settings(&self, mount: &str, key: &str, auth: VaultAuth) -> VaultSettings {
        VaultSettings {
            address: self.address.clone(),
            namespace: None,
            mount: mount.to_owned(),
            key: key.to_owned(),
            ca_file: Some(self.path("ca.crt")),
            auth,
            timeout: Duration::from_secs(10),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), format!("{text}\n")).unwrap();
        self.path(name)
    }

    /// The certificate of an authority that knows nothing of this Vault.
    pub(crate) fn other_ca(&self) -> PathBuf {
        self.file("other.crt", &authority().pem())
    }

    pub(crate) fn token_auth(&self) -> VaultAuth {
        VaultAuth::Token { file: self.path("token") }
    }

    pub(crate) fn create_key(&self, mount: &str, name: &str) {
        self.post(&format!("{mount}/keys/{name}"), &json!({}));
    }

    pub(crate) fn delete_key(&self, mount: &str, name: &str) {
        self.post(&format!("{mount}/keys/{name}/config"), &json!({"deletion_allowed": true}));
        self.ask(Method::Delete, &format!("{mount}/keys/{name}"), &json!({}));
    }

    /// Restores a key in another Vault, as one that took over has it.
    pub(crate) fn copy_key(&self, other: &Self, mount: &str, name: &str) {
        let exportable = json!({"exportable": true, "allow_plaintext_backup": true});
        self.post(&format!("{mount}/keys/{name}/config"), &exportable);
        let backup = self.ask(Method::Get, &format!("{mount}/backup/{name}"), &Value::Null);
        other.post(&format!("{mount}/restore/{name}"), &json!({"backup": backup["data"]["backup"]}));
    }

    /// How many tokens it has given and not forgotten.
    pub(crate) fn tokens(&self) -> usize {
        let all = self.ask(Method::Get, "auth/token/accessors?list=true", &Value::Null);
        all["data"]["keys"].as_array().unwrap().len()
    }

    /// The policy of the docs, for one key.
    pub(crate) fn allow_key(&self, mount: &str, name: &str) {
        let policy = policy(mount, name);
        self.post(&format!("sys/policies/acl/{POLICY}"), &json!({"policy": policy}));
    }

    /// The same without the right to encrypt.
    pub(crate) fn deny_encrypt(&self, mount: &str, name: &str) {
        let policy: String =
            policy(mount, name).lines().filter(|line| !line.contains("/encrypt/")).collect::<Vec<_>>().join("\n");
        self.post(&format!("sys/policies/acl/{POLICY}"), &json!({"policy": policy}));
    }

    /// A token with the policy of the docs, which lives so long and can be renewed so long.
    pub(crate) fn lend_token(&self, life: &str, longest: &str) -> String {
        let wanted = json!({"policies": [POLICY], "ttl": life, "explicit_max_ttl": longest});
        let token = self.post("auth/token/create", &wanted);
        token["auth"]["client_token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn app_role(&self, life: &str, longest: &str) -> VaultAuth {
        self.post("sys/auth/approle", &json!({"type": "approle"}));
        let role = json!({"token_policies": POLICY, "token_ttl": life, "token_max_ttl": longest});
        self.post("auth/approle/role/kms", &role);
        let role_id = self.ask(Method::Get, "auth/approle/role/kms/role-id", &Value::Null);
        let secret_id = self.post("auth/approle/role/kms/secret-id", &json!({}));
        VaultAuth::AppRole {
            mount: "approle".to_owned(),
            role_id_file: self.file("role-id", role_id["data"]["role_id"].as_str().unwrap()),
            secret_id_file: self.file("secret-id", secret_id["data"]["secret_id"].as_str().unwrap()),
        }
    }

    pub(crate) fn certificate(&self, life: &str, longest: &str) -> VaultAuth {
        self.post("sys/auth/cert", &json!({"type": "cert"}));
        let ca = fs::read_to_string(self.path("ca.crt")).unwrap();
        let role = json!({"certificate": ca, "token_policies": POLICY, "token_ttl": life, "token_max_ttl": longest});
        self.post("auth/cert/certs/kms", &role);
        VaultAuth::Certificate {
            mount: "cert".to_owned(),
            role: Some("kms".to_owned()),
            certificate_file: self.path("client.crt"),
            key_file: self.path("client.key"),
        }
    }

    /// Revokes every token that a way of logging in has given.
    pub(crate) fn revoke_all(&self, auth: &VaultAuth) {
        let mount = if matches!(auth, VaultAuth::AppRole { .. }) { "approle" } else { "cert" };
        self.post(&format!("sys/leases/revoke-prefix/auth/{mount}/login"), &json!({"sync": true}));
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.ask(Method::Post, path, body)
    }

    fn ask(&self, method: Method, path: &str, body: &Value) -> Value {
        let ca = fs::read(self.path("ca.crt")).unwrap();
        let mut settings = Settings::new(Trust::Only(fetch::certificates(&ca).unwrap()));
        settings.reach = Reach::ANYWHERE;
        let mut request = Request::new(method, &format!("{}/v1/{path}", self.address)).unwrap();
        request = request.with_header("X-Vault-Token", Secret::new(self.token.clone()));
        if method != Method::Get {
            request = request.with_body("application/json", body.to_string().into_bytes());
        }
        let answer = Client::new(settings).unwrap().send(&request).unwrap();
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.is_success(), "{path}: {} {text}", answer.status);
        serde_json::from_str(&text).unwrap_or_default()
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn policy(mount: &str, name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operating/kms.md");
    let docs = fs::read_to_string(docs).unwrap();
    let policy = docs.split("```hcl\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    policy.replace("transit/", &format!("{mount}/")).replace("/kubernetes", &format!("/{name}"))
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}
