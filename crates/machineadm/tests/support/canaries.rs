//! Fills every secret field of a kind's example with a word of its own, as far as the document stays good.
use crate::support::yaml::as_json;
use documents::{Kind, SECRET_MARK, Source};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Names that sound secret, whatever the schema says.
const SOUNDS_SECRET: [&str; 7] = ["password", "token", "secret", "key", "passphrase", "credential", "content"];
/// What a field may accept; the first that it does is taken.
const FORMS: [&str; 8] = [
    "CANARY",
    "https://user:CANARY@proxy:3128",
    "https://127.0.0.1:9/?signature=CANARY",
    "echo CANARY\nfalse\n",
    "CANARYCANARYCANARY==",
    "$6$salt$CANARY",
    "-----BEGIN PRIVATE KEY-----\nCANARYCANARYCANARYCANARY\n-----END PRIVATE KEY-----\n",
    "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: b, user: c}}], clusters: \
     [{name: b, cluster: {server: https://127.0.0.1:9}}], users: [{name: c, user: {token: CANARY}}]}",
];
const ENCRYPTION: &str = "{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [{resources: \
                          [secrets], providers: [{secretbox: {keys: [{name: a, secret: CANARY}]}}, {identity: {}}]}]}";

/// A good document full of canaries.
pub(crate) struct Filled {
    pub(crate) document: Value,
    pub(crate) canaries: Vec<String>,
    /// Secret fields that no form would fit.
    pub(crate) left: BTreeSet<String>,
}

/// Examples with members that exclude those of a kind's own example.
const ALTERNATIVES: [(&str, &str); 6] = [
    ("ControlPlaneConfig", include_str!("webhooks.yaml")),
    (
        "InitConfig",
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: InitConfig\nspec: {kubernetesVersion: v1.36.4, \
         bootstrapToken: {ttl: 2h}}\n",
    ),
    (
        "JoinConfig",
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: JoinConfig\nspec:\n  discovery: {file: {location: \
         'https://example.com/cluster.yaml?key=a'}}\n  tlsBootstrapToken: abcdef.0123456789abcdef\n",
    ),
    (
        "JoinConfig",
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: JoinConfig\nspec:\n  discovery: {file: {location: \
         /etc/cluster.yaml}}\n  tlsBootstrapToken: abcdef.0123456789abcdef\n  controlPlane: {apiServerPort: 6443}\n",
    ),
    ("ProgramsConfig", include_str!("programs_by_uri.yaml")),
    ("ContainerdConfig", include_str!("containerd_with_proxy.yaml")),
];

/// Fills a kind's examples, all of them together in every secret field.
pub(crate) fn filled(kind: &Kind) -> Vec<Filled> {
    let alternatives = ALTERNATIVES.iter().filter(|(name, _)| *name == kind.kind).map(|(_, example)| *example);
    let mut all: Vec<_> =
        std::iter::once(kind.example).chain(alternatives).map(|example| filled_example(kind, example)).collect();
    let left = all.iter().map(|filled| filled.left.clone()).reduce(|left, next| &left & &next).unwrap_or_default();
    all.iter_mut().for_each(|filled| filled.left.clone_from(&left));
    all
}

fn filled_example(kind: &Kind, example: &str) -> Filled {
    let document = as_json(example);
    let schema = (kind.schema)();
    let mut places = Vec::new();
    find(&schema, &document, &mut Vec::new(), "", &mut places);
    let mut filled = Filled { document, canaries: Vec::new(), left: BTreeSet::new() };
    let mut done = BTreeSet::new();
    for Place { path, field } in places {
        let word = format!("canary{}number{}", kind.kind.to_lowercase(), filled.canaries.len());
        // A key is hexadecimal digits.
        let digits = format!("{:0<64}", objects::hex::encode(word.as_bytes()));
        // A token has a secret half of 16 letters.
        let half = format!("{:x<8.8}cn{:06}", kind.kind.to_lowercase(), filled.canaries.len());
        // A key in base64 has 32 bytes.
        let key = format!("{word:A<43}=");
        let words = FORMS.iter().map(|form| (form.replace("CANARY", &word), word.clone()));
        let mut forms = words.chain([
            (digits.clone(), digits),
            (format!("abcdef.{half}"), half),
            (ENCRYPTION.replace("CANARY", &key), word.clone()),
        ]);
        match forms.find_map(|(form, canary)| Some((fits(&filled.document, &path, &form)?, canary))) {
            Some((document, canary)) => {
                (filled.document, _) = (document, done.insert(field));
                filled.canaries.push(canary);
            }
            None => _ = filled.left.insert(field),
        }
    }
    filled.left = filled.left.difference(&done).cloned().collect();
    filled
}

/// Whether a document can be used.
pub(crate) fn is_good(document: &Value) -> bool {
    !read(document).report.has_errors()
}

/// What machineadm makes of a document.
pub(crate) fn read(document: &Value) -> documents::Read {
    let bytes = document.to_string().into_bytes();
    documents::read(vec![Source { name: "canaries".into(), bytes: bytes.into() }])
}

/// The document with this value, if that is a good one.
fn fits(document: &Value, path: &[String], text: &str) -> Option<Value> {
    let mut changed = document.clone();
    let mut at = &mut changed;
    for step in path {
        at = match at {
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            Value::Object(members) => members.entry(step.clone()).or_insert(Value::Null),
            _ => return None,
        };
    }
    *at = text.into();
    is_good(&changed).then_some(changed)
}

struct Place {
    path: Vec<String>,
    /// The field in the schema, all items of a list taken together.
    field: String,
}

/// Every secret field that the document has or could have.
fn find(schema: &Value, value: &Value, path: &mut Vec<String>, field: &str, places: &mut Vec<Place>) {
    let schema = without_null(schema);
    let name = field.rsplit('.').next().unwrap_or_default().to_lowercase();
    let is_text =
        schema["type"] == "string" || schema["type"].as_array().is_some_and(|types| types.contains(&"string".into()));
    let sounds_secret = is_text && schema["enum"].is_null() && SOUNDS_SECRET.iter().any(|word| name.contains(word));
    if schema[SECRET_MARK] == true || sounds_secret {
        places.push(Place { path: path.clone(), field: field.to_owned() });
        return;
    }
    let mut below = |step: String, schema: &Value, value: &Value, field: String| {
        path.push(step);
        find(schema, value, path, &field, places);
        path.pop();
    };
    let none = Map::new();
    for (name, property) in schema["properties"].as_object().unwrap_or(&none) {
        below(name.clone(), property, &value[name.as_str()], format!("{field}.{name}"));
    }
    if schema["additionalProperties"].is_object() {
        let mut names: Vec<String> =
            value.as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default();
        if names.is_empty() {
            names.push("CANARY_VARIABLE".into());
        }
        for name in names {
            let member = &value[name.as_str()];
            below(name, &schema["additionalProperties"], member, format!("{field}.*"));
        }
    }
    if schema["items"].is_object() {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            below(index.to_string(), &schema["items"], item, format!("{field}[]"));
        }
    }
}

/// The schema of what an optional field holds.
fn without_null(schema: &Value) -> &Value {
    let choices = schema["anyOf"].as_array().filter(|choices| choices.iter().any(|choice| choice["type"] == "null"));
    choices.and_then(|choices| choices.iter().find(|choice| choice["type"] != "null")).unwrap_or(schema)
}
