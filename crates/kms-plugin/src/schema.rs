//! The JSON schema of the configuration file, for editors and pipelines. `cargo xtask generate` writes it; the tests hold
//! it to what the reader accepts.
use crate::configuration::{API_VERSION, KIND};
use serde_json::{Map, Value, json};

/// A text, with what it means.
fn text(about: &str) -> Value {
    json!({"type": "string", "minLength": 1, "description": about})
}

/// An absolute path without `..`.
fn path(about: &str) -> Value {
    pattern("^/(?!(.*/)?\\.\\.(/|$))", about)
}

/// A text of this form.
fn pattern(form: &str, about: &str) -> Value {
    json!({"type": "string", "pattern": form, "description": about})
}

/// A mapping with these fields and no others.
fn object(about: &str, required: &[&str], fields: &[(&str, Value)]) -> Value {
    let fields: Map<String, Value> = fields.iter().map(|(name, field)| ((*name).to_owned(), field.clone())).collect();
    json!({
        "type": "object", "description": about, "properties": fields, "required": required, "additionalProperties": false,
    })
}

/// A mapping with exactly one of these fields.
fn one_of(about: &str, fields: &[(&str, Value)]) -> Value {
    let mut schema = object(about, &[], fields);
    schema["minProperties"] = json!(1);
    schema["maxProperties"] = json!(1);
    schema
}

/// The schema of a configuration.
pub fn json_schema() -> Value {
    let health = object(
        "Where livez, readyz and metrics are served",
        &["listen"],
        &[("listen", text("ADDRESS:PORT or unix:///PATH"))],
    );
    let keys =
        json!({"type": "array", "minItems": 1, "items": key(), "description": "The keys, each on its own socket"});
    let mut schema = object(
        "Configuration of machineadm-kms-plugin",
        &["apiVersion", "kind", "keys"],
        &[
            ("apiVersion", json!({"const": API_VERSION})),
            ("kind", json!({"const": KIND})),
            ("health", health),
            ("keys", keys),
        ],
    );
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(KIND);
    schema
}

fn key() -> Value {
    let timeout = json!({"type": "string", "description": "How long one call to the key service may take, 100ms to 10s. Default: 2s"});
    let mut schema = object(
        "A key",
        &["name", "socket"],
        &[
            ("name", pattern("^[A-Za-z0-9._-]{1,63}$", "Its name in logs, metrics and readyz")),
            (
                "socket",
                pattern("^/(?!(.*/)?\\.\\.(/|$)).{0,98}[^/]$", "Path of the unix socket. Its directory must exist"),
            ),
            ("owner", pattern("^[0-9]+:[0-9]+$", "UID:GID of the socket. Default: those of the process")),
            ("epoch", json!({"type": "integer", "minimum": 0, "description": "Makes another key id of the same key"})),
            (
                "onOutage",
                json!({"enum": ["error", "continue"], "description": "What Status answers while the key does not work"}),
            ),
            ("timeout", timeout),
            ("aws", aws()),
            ("vault", vault()),
            ("pkcs11", pkcs11()),
            ("file", object("Keys in a file", &["path"], &[("path", path("The key file"))])),
        ],
    );
    schema["oneOf"] = json!(["aws", "vault", "pkcs11", "file"].map(|service| json!({"required": [service]})));
    schema
}

fn pkcs11() -> Value {
    let mut schema = object(
        "A key of a PKCS#11 token; not in the static program",
        &["module", "pinFile"],
        &[
            ("module", path("The module of the token's maker")),
            ("tokenLabel", text("Label of the token")),
            ("slot", json!({"type": "integer", "minimum": 0, "description": "Number of the token's slot"})),
            ("pinFile", path("File with the user's PIN")),
            ("keyLabel", text("Label of the key")),
            ("keyId", pattern("^([0-9A-Fa-f]{2})+$", "Id of the key, in hexadecimal digits")),
            (
                "identity",
                json!({"enum": ["material", "attributes"], "description": "What the key id is computed from. Default: material"}),
            ),
        ],
    );
    schema["oneOf"] = json!([{"required": ["tokenLabel"]}, {"required": ["slot"]}]);
    schema["anyOf"] = json!([{"required": ["keyLabel"]}, {"required": ["keyId"]}]);
    schema
}

fn aws() -> Value {
    let endpoint = pattern("^https://", "https URL of the service. Default: the public one of the region");
    let authorities = path("CA certificates (PEM) of the service. Default: the system's");
    let metadata = pattern("^https?://", "URL of the metadata service. Default: http://169.254.169.254");
    let web_identity = object(
        "A token that is exchanged at STS",
        &["roleArn", "tokenFile"],
        &[
            ("roleArn", text("ARN of the role")),
            ("tokenFile", path("File with the token")),
            ("sessionName", pattern("^[A-Za-z0-9=,.@_-]{2,64}$", "Name that CloudTrail shows")),
            ("endpoint", endpoint.clone()),
            ("caFile", authorities.clone()),
        ],
    );
    let shared_file = object(
        "A file such as ~/.aws/credentials",
        &["path"],
        &[("path", path("The file")), ("profile", text("The section in it. Default: default"))],
    );
    let credentials = one_of(
        "Where credentials come from",
        &[
            ("environment", object("Variables of the process", &[], &[])),
            ("sharedFile", shared_file),
            ("directory", object("A mounted Secret", &["path"], &[("path", path("The directory"))])),
            ("instanceMetadata", object("The role of the instance (IMDSv2)", &[], &[("endpoint", metadata)])),
            ("webIdentity", web_identity),
        ],
    );
    let context = json!({
        "type": "object", "additionalProperties": {"type": "string"}, "description": "Sent with each request",
    });
    object(
        "A key of AWS KMS",
        &["keyArn", "credentials"],
        &[
            ("keyArn", pattern("^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", "ARN of the key")),
            ("region", pattern("^[A-Za-z0-9-]+$", "Region of the signatures. Default: that of the ARN")),
            ("endpoint", endpoint),
            ("caFile", authorities),
            ("encryptionContext", context),
            ("credentials", credentials),
        ],
    )
}

fn vault() -> Value {
    let mount = |default: &str| text(&format!("Where it is mounted. Default: {default}"));
    let auth = one_of(
        "How to log in",
        &[
            ("token", object("A token", &["file"], &[("file", path("File with the token"))])),
            (
                "appRole",
                object(
                    "AppRole",
                    &["roleIdFile", "secretIdFile"],
                    &[
                        ("mount", mount("approle")),
                        ("roleIdFile", path("File with the role id")),
                        ("secretIdFile", path("File with the secret id")),
                    ],
                ),
            ),
            (
                "certificate",
                object(
                    "A TLS client certificate",
                    &["certificateFile", "keyFile"],
                    &[
                        ("mount", mount("cert")),
                        ("role", text("The role, where the certificate fits several")),
                        ("certificateFile", path("The certificate (PEM)")),
                        ("keyFile", path("Its key (PEM)")),
                    ],
                ),
            ),
        ],
    );
    object(
        "A key of the transit engine of Vault or OpenBao",
        &["address", "key", "auth"],
        &[
            ("address", pattern("^https://", "https URL of the servers")),
            ("namespace", text("Sent with each request")),
            ("mount", mount("transit")),
            ("key", text("Name of the key")),
            ("caFile", path("CA certificates (PEM) of the servers. Default: the system's")),
            ("auth", auth),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Configuration;

    const DOCS: &str = include_str!("../../../docs/operating/kms.md");
    const HEAD: &str = "apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1\nkind: PluginConfiguration\n";

    fn accepts(text: &str) -> bool {
        let value = objects::yaml::parse(text).unwrap().value.clone();
        jsonschema::validator_for(&json_schema()).unwrap().is_valid(&value)
    }

    /// Whether both the reader and the schema accept it; they must agree.
    fn verdict(key: &str) -> bool {
        let text = format!("{HEAD}keys: [{key}]\n");
        let is_read = Configuration::parse(&text);
        assert_eq!(is_read.is_ok(), accepts(&text), "{key}: {is_read:?}");
        is_read.is_ok()
    }

    #[test]
    fn schema_and_reader_accept_and_refuse_the_same() {
        let arn = "arn:aws:kms:us-west-2:111122223333:key/k";
        let of = |service: &str| format!("{{name: a, socket: /run/a, {service}}}");
        let aws = |fields: &str| of(&format!("aws: {{keyArn: '{arn}', {fields}}}"));
        let vault = |auth: &str| of(&format!("vault: {{address: 'https://v', key: k, auth: {auth}}}"));
        let good = [
            "{name: a, socket: /run/a, owner: '0:5', epoch: 3, onOutage: continue, timeout: 3s, file: {path: /a}}"
                .to_owned(),
            aws("credentials: {environment: {}}"),
            aws(
                "region: eu-west-1, endpoint: 'https://h', caFile: /c, encryptionContext: {a: b}, credentials: {directory: {path: /d}}",
            ),
            aws("credentials: {sharedFile: {path: /f, profile: p}}"),
            aws("credentials: {instanceMetadata: {endpoint: 'http://169.254.169.254'}}"),
            aws(
                "credentials: {webIdentity: {roleArn: r, tokenFile: /t, sessionName: abc, endpoint: 'https://s', caFile: /c}}",
            ),
            "{name: a, socket: /run/..a/a.., file: {path: /..a/a..}}".to_owned(),
            vault("{token: {file: /t}}, namespace: team, mount: m, caFile: /c"),
            vault("{appRole: {mount: m, roleIdFile: /r, secretIdFile: /s}}"),
            vault("{certificate: {mount: m, role: r, certificateFile: /c, keyFile: /k}}"),
        ];
        for key in &good {
            assert!(verdict(key), "{key}");
        }
        let bad = [
            of("x: 1"),
            of("file: {path: a}"),
            of("file: {path: /a, mode: 1}"),
            of("file: {path: /a}, epoch: -1"),
            of("file: {path: /a}, onOutage: ok"),
            of("file: {path: /a}, owner: root"),
            of("file: {path: /a}, vault: {address: 'https://v', key: k, auth: {token: {file: /t}}}"),
            of("aws: {keyArn: alias/k, credentials: {environment: {}}}"),
            aws("credentials: {}"),
            aws("credentials: {environment: {}, directory: {path: /d}}"),
            aws("endpoint: 'http://h', credentials: {environment: {}}"),
            aws("encryptionContext: {a: 1}, credentials: {environment: {}}"),
            vault("{kubernetes: {role: r}}"),
            vault("{appRole: {roleIdFile: /r}}"),
            "{name: a b, socket: /run/a, file: {path: /a}}".to_owned(),
            "{name: a, socket: run/a, file: {path: /a}}".to_owned(),
            "{name: a, socket: /run/../a, file: {path: /a}}".to_owned(),
            "{name: a, socket: /run/a/, file: {path: /a}}".to_owned(),
            of("file: {path: /a/..}"),
            of("file: {path: /../a}"),
            "5".to_owned(),
        ];
        for key in &bad {
            assert!(!verdict(key), "{key}");
        }
    }

    #[test]
    fn the_docs_name_every_field_of_the_schema() {
        fn names(schema: &Value, found: &mut Vec<String>) {
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                found.push(name.clone());
                names(field, found);
                names(&field["items"], found);
            }
        }
        let mut found = Vec::new();
        names(&json_schema(), &mut found);
        assert!(found.len() > 40, "{found:?}");
        for name in found {
            assert!(
                DOCS.contains(&format!("`{name}")) || DOCS.contains(&format!(".{name}`")),
                "{name} is not in the docs"
            );
        }
    }
}
