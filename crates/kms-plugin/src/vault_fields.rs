//! The fields of a key of Vault or OpenBao.
use crate::fields::{Fields, Presence, Problems, is_service_url};
use kms::{VaultAuth, VaultSettings};
use serde_json::Value;
use std::time::Duration;

/// Reads `keys[].vault`.
pub(crate) fn vault(value: &Value, path: &str, timeout: Duration, problems: &Problems) -> Option<VaultSettings> {
    let fields = Fields::of(value, path, problems)?;
    let address = fields.required("address").filter(|text| {
        let is_good = is_service_url(text);
        if !is_good {
            fields.refuse("address", "must be an https URL without user, query and fragment");
        }
        is_good
    });
    let namespace = fields.text("namespace").and_then(|text| path_of(text, "namespace", &fields));
    let mount = path_of(fields.text("mount").unwrap_or("transit"), "mount", &fields);
    let key = fields.required("key").and_then(|text| path_of(text, "key", &fields)).filter(|key| {
        if key.contains('/') {
            fields.refuse("key", "must be the name of the key alone");
        }
        !key.contains('/')
    });
    let ca_file = fields.absolute("caFile", Presence::Optional);
    let auth = match fields.value("auth") {
        Some(value) => auth(value, &fields.at("auth"), problems),
        None => {
            fields.refuse("auth", "required");
            None
        }
    };
    fields.finish();
    let (address, mount, key, auth) = (address?.to_owned(), mount?, key?, auth?);
    Some(VaultSettings { address, namespace, mount, key, ca_file, auth, timeout })
}

fn auth(value: &Value, path: &str, problems: &Problems) -> Option<VaultAuth> {
    let fields = Fields::of(value, path, problems)?;
    if fields.value("kubernetes").is_some() {
        let message = "not supported: Vault would ask the API server that needs this plugin to start";
        fields.refuse("kubernetes", message);
    }
    let ways = ["token", "appRole", "certificate"].map(|name| fields.value(name).map(|value| (name, value)));
    let ways: Vec<_> = ways.into_iter().flatten().collect();
    let found = match ways.as_slice() {
        [(name, value)] => way(name, value, &fields.at(name), problems),
        _ => {
            fields.refuse_all("exactly one is required: token, appRole or certificate");
            None
        }
    };
    fields.finish();
    found
}

fn way(name: &str, value: &Value, path: &str, problems: &Problems) -> Option<VaultAuth> {
    let fields = Fields::of(value, path, problems)?;
    let mount = |default: &str| path_of(fields.text("mount").unwrap_or(default), "mount", &fields);
    let file = |name| fields.absolute(name, Presence::Required);
    let found = match name {
        "token" => file("file").map(|file| VaultAuth::Token { file }),
        "appRole" => {
            let (mount, role_id_file, secret_id_file) = (mount("approle"), file("roleIdFile"), file("secretIdFile"));
            (|| {
                Some(VaultAuth::AppRole { mount: mount?, role_id_file: role_id_file?, secret_id_file: secret_id_file? })
            })()
        }
        _ => {
            let (mount, role) = (mount("cert"), fields.text("role").map(str::to_owned));
            let (certificate_file, key_file) = (file("certificateFile"), file("keyFile"));
            (|| {
                let (certificate_file, key_file) = (certificate_file?, key_file?);
                Some(VaultAuth::Certificate { mount: mount?, role, certificate_file, key_file })
            })()
        }
    };
    fields.finish();
    found
}

/// A path or name as it stands in URLs of Vault: nothing that means something else there.
fn path_of(text: &str, name: &str, fields: &Fields<'_>) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = |part: &str| !part.is_empty() && part != "." && part != ".." && part.bytes().all(is_plain);
    let trimmed = text.trim_matches('/');
    if !trimmed.split('/').all(is_name) {
        fields.refuse(name, "must be a path of letters, digits, `-`, `_` and `.`");
        return None;
    }
    Some(trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::configuration::{Backend, Configuration};
    use kms::VaultAuth;

    fn parse(vault: &str) -> Result<Configuration, Vec<String>> {
        let head = "apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1\nkind: PluginConfiguration\n";
        Configuration::parse(&format!("{head}keys: [{{name: a, socket: /run/a, vault: {vault}}}]\n"))
    }

    #[test]
    fn a_key_of_vault_is_read_with_its_defaults() {
        let found = parse("{address: 'https://v:8200', key: k, auth: {appRole: {roleIdFile: /r, secretIdFile: /s}}}");
        let Backend::Vault(settings) = &found.unwrap().keys[0].backend else { panic!("not vault") };
        let auth =
            VaultAuth::AppRole { mount: "approle".into(), role_id_file: "/r".into(), secret_id_file: "/s".into() };
        assert_eq!((settings.mount.as_str(), settings.key.as_str(), &settings.auth), ("transit", "k", &auth));
    }

    #[test]
    fn every_problem_is_reported_and_kubernetes_auth_is_refused() {
        let found =
            parse("{address: 'http://v', mount: a/../b, key: k/x, caFile: ca, auth: {kubernetes: {role: x}}, x: 1}");
        let want = [
            "keys[0].vault.address: must be an https URL without user, query and fragment",
            "keys[0].vault.mount: must be a path of letters, digits, `-`, `_` and `.`",
            "keys[0].vault.key: must be the name of the key alone",
            "keys[0].vault.caFile: must be an absolute path without `..`",
            "keys[0].vault.auth.kubernetes: not supported: Vault would ask the API server that needs this plugin to start",
            "keys[0].vault.auth: exactly one is required: token, appRole or certificate",
            "keys[0].vault.x: unknown field",
        ];
        assert_eq!(found.unwrap_err(), want);
        let found = parse("{address: 'https://v:82000', key: k, auth: {token: {file: /t}}}").unwrap_err();
        assert_eq!(found, ["keys[0].vault.address: must be an https URL without user, query and fragment"]);
        let found = parse("{address: 'https://v', key: k, auth: {certificate: {mount: c, keyFile: k}}}").unwrap_err();
        let want = ["certificateFile: required", "keyFile: must be an absolute path without `..`"];
        assert_eq!(found, want.map(|problem| format!("keys[0].vault.auth.certificate.{problem}")));
    }
}
