//! No secret is ever shown: every field that the schemas mark as secret is filled with a word that must not come back.
use super::examples::as_json;
use crate::{KINDS, SECRET_MARK, schema::without_null, testing::read_text};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Replaces every secret below this value, and adds those that are missing.
fn fill(schema: &Value, value: &mut Value, secret: &Value) {
    let schema = without_null(schema);
    if schema[SECRET_MARK] == true {
        *value = secret.clone();
    }
    for item in value.as_array_mut().into_iter().flatten().filter(|_| schema["items"].is_object()) {
        fill(&schema["items"], item, secret);
    }
    let Some(members) = value.as_object_mut() else { return };
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if without_null(property)[SECRET_MARK] == true {
            members.insert(name.clone(), secret.clone());
        } else if let Some(member) = members.get_mut(name) {
            fill(property, member, secret);
        }
    }
    let free = &schema["additionalProperties"];
    for (_, member) in members.iter_mut().filter(|_| free.is_object()) {
        fill(free, member, secret);
    }
}

/// Replaces only those secrets that the example has, so that it stays a good document.
fn replace(schema: &Value, value: &mut Value, secret: &Value) {
    let before = value.clone();
    fill(schema, value, secret);
    drop_added(&before, value);
}

fn drop_added(before: &Value, after: &mut Value) {
    match after {
        Value::Object(members) => {
            members.retain(|name, _| before.get(name).is_some());
            members.iter_mut().for_each(|(name, member)| drop_added(&before[name], member));
        }
        Value::Array(items) => items.iter_mut().enumerate().for_each(|(index, item)| drop_added(&before[index], item)),
        _ => {}
    }
}

/// The paths of all secret fields of a schema.
fn secret_paths(schema: &Value, here: &str, paths: &mut Vec<String>) {
    let schema = without_null(schema);
    if schema[SECRET_MARK] == true {
        paths.push(here.to_owned());
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        secret_paths(property, &format!("{here}.{name}"), paths);
    }
    if schema["items"].is_object() {
        secret_paths(&schema["items"], &format!("{here}[]"), paths);
    }
    if schema["additionalProperties"].is_object() {
        secret_paths(&schema["additionalProperties"], &format!("{here}.*"), paths);
    }
}

/// Everything that could be printed about reading this text.
fn shown(text: &str) -> String {
    let read = read_text(text);
    format!("{read:?}\n{read:#?}\n{}\n{}", read.report, serde_json::to_string(&read.report).unwrap())
}

#[test]
fn the_secret_fields_are_these() {
    let mut paths = Vec::new();
    KINDS.iter().for_each(|kind| secret_paths(&(kind.schema)(), kind.kind, &mut paths));
    let expected = [
        "FilesConfig.spec.files[].content",
        "CommandsConfig.spec.commands[].environment.*",
        "CommandsConfig.spec.commands[].shell",
        "CommandsConfig.spec.commands[].unless",
        "ProxyConfig.spec.httpProxy",
        "ProxyConfig.spec.httpsProxy",
        "ProgramsConfig.spec.images.files[].uri",
        "ProgramsConfig.spec.location",
        "ProgramsConfig.spec.programs.cniPlugins.uri",
        "ProgramsConfig.spec.programs.containerd.uri",
        "ProgramsConfig.spec.programs.kubeadm.uri",
        "ProgramsConfig.spec.programs.kubelet.uri",
        "ProgramsConfig.spec.programs.machineadm.uri",
        "ProgramsConfig.spec.programs.others[].uri",
        "ProgramsConfig.spec.programs.runc.uri",
        "ContainerdConfig.spec.proxy.httpProxy",
        "ContainerdConfig.spec.proxy.httpsProxy",
        "ContainerdConfig.spec.registries[].mirrors[].clientKey",
        "ContainerdConfig.spec.registries[].mirrors[].headers.*",
        "UsersConfig.spec.users[].passwordHash",
        "ControlPlaneConfig.spec.audit.webhook.kubeconfig",
        "ControlPlaneConfig.spec.authentication.webhook.kubeconfig",
        "ControlPlaneConfig.spec.encryption.configuration",
        "ControlPlaneConfig.spec.files[].content",
        "InitConfig.spec.bootstrapToken.token",
        "InitConfig.spec.certificateKey",
        "JoinConfig.spec.controlPlane.certificateKey",
        "JoinConfig.spec.discovery.file.location",
        "JoinConfig.spec.discovery.token.token",
        "JoinConfig.spec.tlsBootstrapToken",
        "ReportConfig.spec.authorization",
        "ReportConfig.spec.uri",
        "RemoteConfig.spec.passphraseURIs[]",
        "RemoteConfig.spec.uri",
        "EncryptedConfig.spec.passphraseURI",
    ];
    assert_eq!(paths, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_good_documents_secrets_are_not_shown_but_known_for_redaction(canary in "[a-z]{16}") {
        for kind in KINDS {
            let mut document = as_json(kind.example);
            // What a member takes depends on its kind.
            let secret = match kind.kind {
                "JoinConfig" => format!("abcdef.{canary}"),
                // Credentials are in one of its two members.
                "ReportConfig" => format!("https://proxy/?signature={canary}"),
                "ControlPlaneConfig" => format!(
                    "{{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [{{resources: \
                     [secrets], providers: [{{secretbox: {{keys: [{{name: a, secret: {canary:A<43}=}}]}}}}]}}]}}"
                ),
                _ => format!("https://user:{canary}@proxy"),
            };
            replace(&(kind.schema)(), &mut document, &json!(secret));
            // A file that everybody may read holds nothing to look for.
            for file in document.pointer_mut("/spec/files").and_then(Value::as_array_mut).into_iter().flatten() {
                if file.get("content").is_some() {
                    file["mode"] = json!("0600");
                }
            }
            let text = document.to_string();
            let read = read_text(&text);
            prop_assert!(!read.report.has_errors(), "{}", read.report);
            prop_assert!(!shown(&text).contains(&canary));
            let secrets = read.documents[0].secrets();
            let is_known = secrets.iter().any(|secret| String::from_utf8_lossy(secret).contains(&canary));
            prop_assert_eq!(is_known, text.contains(&canary), "{}", kind.kind);
        }
    }

    #[test]
    fn a_bad_documents_secrets_are_not_shown(canary in "[a-z]{20}", digits in "[1-9][0-9]{17}", cut in 0.0..1.0f64) {
        let number: Value = serde_json::from_str(&digits).unwrap();
        let forms = [
            json!(canary), json!([canary]), json!({"a": canary}), json!(number), json!(format!("{canary}\u{0}\n\u{1b}")),
            json!(format!("{canary}://{canary}@{canary}:{canary}")), json!(format!("{canary}=é==")),
        ];
        for (kind, form) in KINDS.iter().flat_map(|kind| forms.iter().map(move |form| (kind, form))) {
            let mut document = as_json(kind.example);
            fill(&(kind.schema)(), &mut document, form);
            let mut texts = vec![document.to_string()];
            for (path, value) in [("/kind", json!("filesconfig")), ("/apiVersion", json!("v2")), ("/metadata/nam", json!(1)),
                ("/spec/nope", json!([])), ("/spec/files/0/encoding", json!("gzip+base64")), ("/spec/commands/0/timeout", json!(5))] {
                let mut changed = document.clone();
                let (parent, name) = path.rsplit_once('/').unwrap();
                if let Some(members) = changed.pointer_mut(parent).and_then(Value::as_object_mut) {
                    members.insert(name.to_owned(), value);
                }
                texts.push(changed.to_string());
            }
            let end = (texts[0].len() as f64 * cut) as usize;
            texts.push(String::from_utf8_lossy(&texts[0].as_bytes()[..end]).into_owned());
            texts.push(texts[0].replace(',', " "));
            for text in texts {
                let shown = shown(&text);
                prop_assert!(!shown.contains(&canary) && !shown.contains(&digits), "{}\n{}", text, shown);
            }
        }
    }
}
