//! Every document kind, in one table, and how a document finds its row.
use crate::{
    AnyDocument,
    decode::decode,
    findings::Findings,
    metadata::Metadata,
    nearest::{did_you_mean, nearest},
    tree::{Node, Value},
    v1alpha1::{
        CommandsConfig, EncryptedConfig, FilesConfig, InitConfig, KernelModulesConfig, ProxyConfig, RemoteConfig,
        ScopeConfig, SysctlConfig, TrustBundleConfig,
    },
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::fmt;

/// A document kind: its `spec` as it is written, and what it comes to once it is checked.
pub(crate) trait Document: DeserializeOwned + JsonSchema {
    /// Group and version.
    const API_VERSION: &str;
    /// Kind.
    const KIND: &str;
    /// What it is for, in one line.
    const SUMMARY: &str;
    /// A whole document.
    const EXAMPLE: &str;
    /// What the engine gets.
    type Checked: Into<AnyDocument>;
    /// Adds everything that is wrong with this document to the findings; `None` only if something is.
    fn check(self, name: Option<&str>, findings: &mut Findings<'_>) -> Option<Self::Checked>;
}

/// One row of the table.
pub struct Kind {
    /// Group and version.
    pub api_version: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// A whole document as people write it.
    pub example: &'static str,
    /// The JSON schema of a whole document.
    pub schema: fn() -> serde_json::Value,
    pub(crate) decode: fn(&Node, &mut Findings<'_>) -> Option<Body>,
}

/// A document's name and what it asks for.
pub(crate) type Body = (Option<String>, AnyDocument);

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Kind={}", self.api_version, self.kind)
    }
}

/// The kinds machineadm knows.
pub const KINDS: &[Kind] = &[
    kind::<FilesConfig>(),
    kind::<SysctlConfig>(),
    kind::<KernelModulesConfig>(),
    kind::<CommandsConfig>(),
    kind::<TrustBundleConfig>(),
    kind::<ProxyConfig>(),
    kind::<InitConfig>(),
    kind::<RemoteConfig>(),
    kind::<EncryptedConfig>(),
    kind::<ScopeConfig>(),
];

const fn kind<D: Document>() -> Kind {
    Kind {
        api_version: D::API_VERSION,
        kind: D::KIND,
        summary: D::SUMMARY,
        example: D::EXAMPLE,
        schema: schema_of::<D>,
        decode: decode_as::<D>,
    }
}

fn schema_of<D: Document>() -> serde_json::Value {
    // Draft 7, with nothing referred to by name: what editors understand best.
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut generator = settings.into_generator();
    json!({
        "title": D::KIND,
        "description": D::SUMMARY,
        "type": "object",
        "required": ["apiVersion", "kind", "spec"],
        "additionalProperties": false,
        "properties": {
            "apiVersion": {"type": "string", "const": D::API_VERSION, "description": "The API's group and version."},
            "kind": {"type": "string", "const": D::KIND, "description": "What kind of document this is."},
            "metadata": generator.subschema_for::<Option<Metadata>>(),
            "spec": generator.subschema_for::<D>(),
        },
    })
}

fn decode_as<D: Document>(root: &Node, findings: &mut Findings<'_>) -> Option<Body> {
    let metadata = root.get("metadata").map_or(Ok(Metadata::default()), decode::<Metadata>);
    let (Ok(metadata), Some(Ok(spec))) = (metadata, root.get("spec").map(decode::<D>)) else {
        findings.error("", format!("can't be read as {}", D::KIND));
        return None;
    };
    let name = metadata.check(findings);
    let checked = spec.check(name.as_deref(), findings)?;
    Some((name, checked.into()))
}

/// The row for a document. Where there is none, the findings say why.
pub(crate) fn find(root: &Node, findings: &mut Findings<'_>) -> Option<&'static Kind> {
    if !matches!(root.value, Value::Mapping(_)) {
        findings.error("", "must be a mapping with `apiVersion`, `kind` and `spec`");
        return None;
    }
    let text = |field: &str| root.get(field).and_then(Node::text);
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let known = kind.and_then(|kind| KINDS.iter().find(|known| known.kind == kind));
    if known.is_none() {
        // With a known kind the walk against its schema says so.
        for field in ["apiVersion", "kind"].into_iter().filter(|field| text(field).is_none()) {
            let missing = root.get(field).is_none();
            findings.error(field, if missing { "required, but missing" } else { "must be text" });
        }
    }
    if let Some(api_version) = api_version
        && !KINDS.iter().any(|known| known.api_version == api_version)
    {
        unknown_api_version(api_version, findings);
        return None;
    }
    if let (None, Some(kind)) = (known, kind) {
        let hint = did_you_mean(kind, KINDS.iter().map(|known| known.kind));
        let message = match findings.word(kind) {
            Some(word) => format!("unknown kind {word}"),
            None => "unknown kind".to_owned(),
        };
        findings.error("kind", message).hint(hint.unwrap_or_else(|| format!("known are {}", kinds_in_words())));
    }
    known
}

fn unknown_api_version(api_version: &str, findings: &mut Findings<'_>) {
    let group = |api_version: &str| api_version.split('/').next().map(str::to_ascii_lowercase);
    let known = || KINDS.iter().map(|known| known.api_version);
    if known().any(|known| group(known) == group(api_version)) {
        let hint = format!("this machineadm reads `{}`", crate::v1alpha1::API_VERSION);
        findings.error("apiVersion", "unknown version of machineadm's documents").hint(hint);
    } else if let Some(known) = nearest(api_version, known()) {
        findings.error("apiVersion", "unknown apiVersion").hint(format!("did you mean `{known}`?"));
    } else {
        findings
            .error("apiVersion", "nothing on this machine handles documents of this group")
            .hint(format!("machineadm's own are `{}`", crate::v1alpha1::API_VERSION));
    }
}

fn kinds_in_words() -> String {
    KINDS.iter().map(|known| known.kind).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::KINDS;
    use std::collections::HashSet;

    #[test]
    fn each_kind_is_listed_once() {
        let names: HashSet<_> = KINDS.iter().map(|known| (known.api_version, known.kind)).collect();
        assert_eq!(names.len(), KINDS.len());
    }

    #[test]
    fn every_example_is_of_its_kind() {
        for known in KINDS {
            let head = format!("apiVersion: {}\nkind: {}\n", known.api_version, known.kind);
            assert!(known.example.starts_with(&head), "{}", known.kind);
        }
    }
}
