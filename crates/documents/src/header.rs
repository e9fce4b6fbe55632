//! The header of a document: from its `apiVersion` and `kind` to its row in the table.
use crate::{
    KINDS, Kind,
    findings::Findings,
    nearest::{did_you_mean, nearest},
    tree::{Node, Value},
    v1alpha1::API_VERSION,
};

/// Whose a document is.
pub(crate) enum Owner {
    /// One of ours: its row.
    Own(&'static Kind),
    /// Another group's.
    Foreign,
}

/// Whose a document is. Where nobody can say, the findings say why.
pub(crate) fn owner(root: &Node, findings: &mut Findings<'_>) -> Option<Owner> {
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
        return match kind {
            Some(_) if is_foreign(api_version) => Some(Owner::Foreign),
            Some(_) => {
                unknown_api_version(api_version, findings);
                None
            }
            None => None,
        };
    }
    if let (None, Some(kind)) = (known, kind) {
        let hint = did_you_mean(kind, KINDS.iter().map(|known| known.kind));
        let message = match findings.word(kind) {
            Some(word) => format!("unknown kind {word}"),
            None => "unknown kind".to_owned(),
        };
        findings.error("kind", message).hint(hint.unwrap_or_else(|| format!("known kinds: {}", kinds_in_words())));
    }
    known.map(Owner::Own)
}

/// Whether a group is neither ours nor probably meant to be.
fn is_foreign(api_version: &str) -> bool {
    !is_our_group(api_version) && nearest(api_version, [API_VERSION]).is_none()
}

fn is_our_group(api_version: &str) -> bool {
    let group = |api_version: &str| api_version.split('/').next().map(str::to_ascii_lowercase);
    group(api_version) == group(API_VERSION)
}

fn unknown_api_version(api_version: &str, findings: &mut Findings<'_>) {
    if is_our_group(api_version) {
        let hint = format!("this machineadm reads `{API_VERSION}`");
        findings.error("apiVersion", "unknown version of machineadm's documents").hint(hint);
    } else {
        findings.error("apiVersion", "unknown apiVersion").hint(format!("did you mean `{API_VERSION}`?"));
    }
}

fn kinds_in_words() -> String {
    KINDS.iter().map(|known| known.kind).collect::<Vec<_>>().join(", ")
}
