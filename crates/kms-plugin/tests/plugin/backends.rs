//! A plugin with one key, `a`, of each key service, and how that key is rotated.
use crate::fake_aws_kms::{ARN, FakeAwsKms};
use crate::support::Plugin;
use crate::vault_server::Vault;
use machineadm_kms::VaultAuth;
use serde_json::{Value, json};
use std::fs;

/// The plugin, not started yet, and its key service.
pub(crate) struct Served {
    pub(crate) plugin: Plugin,
    pub(crate) service: Service,
}

pub(crate) enum Service {
    File,
    Aws(FakeAwsKms),
    Vault(Vault),
    /// A token of SoftHSM, which the plugin's directory has.
    Token,
}

impl Served {
    pub(crate) fn file() -> Self {
        Self { plugin: Plugin::new(&[("a", "")]), service: Service::File }
    }

    pub(crate) fn aws() -> Self {
        let fake = FakeAwsKms::start();
        let credentials = json!({"directory": {"path": fake.path("credentials")}});
        Self { plugin: with_key("aws", &aws(&fake, &credentials)), service: Service::Aws(fake) }
    }

    /// Through an AppRole.
    pub(crate) fn vault() -> Self {
        let vault = Vault::start();
        vault.create_key("transit", "k");
        vault.allow_key("transit", "k");
        let VaultAuth::AppRole { role_id_file, secret_id_file, .. } = vault.app_role("1h", "1h") else {
            panic!("no role")
        };
        let settings = vault.settings("transit", "k", vault.token_auth());
        let fields = json!({
            "address": settings.address,
            "key": "k",
            "caFile": settings.ca_file,
            "auth": {"appRole": {"roleIdFile": role_id_file, "secretIdFile": secret_id_file}},
        });
        Self { plugin: with_key("vault", &fields), service: Service::Vault(vault) }
    }

    pub(crate) fn token() -> Self {
        Self { plugin: Plugin::on_token(&[("a", "")]), service: Service::Token }
    }

    /// Rotates the key in its service; for the first time.
    pub(crate) fn rotate(&self) {
        match &self.service {
            Service::File => self.plugin.keys("a", &[2, 1]),
            Service::Aws(fake) => fake.key(|key| key.rotations += 1),
            Service::Token => self.plugin.rotate("a"),
            Service::Vault(vault) => drop(vault.post("transit/keys/k/rotate", &json!({}))),
        }
    }
}

/// The fields of a key of the fake.
pub(crate) fn aws(fake: &FakeAwsKms, credentials: &Value) -> Value {
    json!({"keyArn": ARN, "endpoint": fake.endpoint(), "caFile": fake.ca_file(), "credentials": credentials})
}

/// A plugin with the key `a` of a service.
pub(crate) fn with_key(service: &str, fields: &Value) -> Plugin {
    let plugin = Plugin::new(&[]);
    let mut key = json!({"name": "a", "socket": plugin.socket("a")});
    key[service] = fields.clone();
    let configuration = json!({
        "apiVersion": "kms.machineadm.cluster.x-k8s.io/v1alpha1", "kind": "PluginConfiguration", "keys": [key],
    });
    fs::write(plugin.path("kms.yaml"), configuration.to_string()).unwrap();
    plugin
}
