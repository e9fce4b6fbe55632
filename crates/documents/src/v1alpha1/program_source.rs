//! Where a program comes from, and the SHA-256 that it must have.
use super::{
    absolute_path::{is_virtual, path_problem},
    uri,
};
use crate::{Secret, findings::Findings, path::member};
use objects::Sha256Sum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file that is fetched or copied, and the SHA-256 that it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSource {
    /// Where it is.
    pub location: ProgramLocation,
    /// What its bytes must come to.
    pub sha256: Sha256Sum,
}

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramLocation {
    /// On an https server. The query may be a password.
    Uri(Secret<String>),
    /// On the machine itself.
    Path(String),
}

impl ProgramLocation {
    /// As it may be shown.
    pub fn shown(&self) -> String {
        match self {
            Self::Uri(uri) => uri::without_secrets(uri.expose()),
            Self::Path(path) => path.clone(),
        }
    }
}

/// A file and its SHA-256: either `source` or `uri`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["source"]}, {"required": ["uri"]}]))]
pub struct SourceSpec {
    /// Path below `location`, such as `bin/kubeadm`, or an absolute path on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub source: Option<String>,
    /// Complete https URI in place of `source`, such as a presigned one. Output shows it without credentials and query.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub uri: Option<Secret<String>>,
    /// SHA-256 of the file, 64 hexadecimal digits. It is verified before the file is installed or executed.
    #[schemars(regex(pattern = "^[0-9a-fA-F]{64}$"))]
    pub sha256: String,
}

/// The base of relative sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Uri(Secret<String>),
    Directory(String),
}

impl Base {
    /// Reads a location.
    pub(super) fn check(given: Option<Secret<String>>, here: &str, findings: &mut Findings<'_>) -> Option<Self> {
        let given = given?;
        let text = given.expose();
        if text.starts_with('/') {
            let directory = text.strip_suffix('/').unwrap_or(text).to_owned();
            if let Some(problem) = local_problem(&directory) {
                findings.error(here, problem);
            }
            return Some(Self::Directory(directory));
        }
        if !text.starts_with("https://") {
            findings.error(here, "must be an https URI or the absolute path of a directory");
            return None;
        }
        uri::check("https", text, here, findings);
        if text.contains('#') {
            findings.error(here, "must be written without `#`");
        }
        Some(Self::Uri(given))
    }

    /// The location of a relative source; a query of the base, such as a signature, is a query of the source.
    fn join(&self, source: &str) -> ProgramLocation {
        match self {
            Self::Directory(directory) => ProgramLocation::Path(format!("{directory}/{source}")),
            Self::Uri(base) => {
                let (base, query) = match base.expose().split_once('?') {
                    Some((base, query)) => (base, format!("?{query}")),
                    None => (base.expose().as_str(), String::new()),
                };
                let base = base.strip_suffix('/').unwrap_or(base);
                ProgramLocation::Uri(Secret::new(format!("{base}/{source}{query}")))
            }
        }
    }
}

/// Reads a source; every problem is reported.
pub(super) fn check(spec: SourceSpec, base: Option<&Base>, here: &str, findings: &mut Findings<'_>) -> ProgramSource {
    let SourceSpec { source, uri, sha256 } = spec;
    let sum = Sha256Sum::parse(&sha256);
    if sum.is_none() {
        findings.error(&member(here, "sha256"), "must be 64 hexadecimal digits");
    }
    let nowhere = || ProgramLocation::Path(String::new());
    let location = match (source, uri) {
        (None, None) => {
            findings.error(here, "requires `source` or `uri`");
            nowhere()
        }
        (Some(_), Some(_)) => {
            findings.error(here, "`source` and `uri` are both set: remove one of them");
            nowhere()
        }
        (None, Some(uri)) => {
            uri::check("https", uri.expose(), &member(here, "uri"), findings);
            ProgramLocation::Uri(uri)
        }
        (Some(source), None) => {
            let here = member(here, "source");
            if source.starts_with('/') {
                if let Some(problem) = local_problem(&source) {
                    findings.error(&here, problem);
                }
                ProgramLocation::Path(source)
            } else if let Some(problem) = relative_problem(&source) {
                findings.error(&here, problem);
                nowhere()
            } else if let Some(base) = base {
                base.join(&source)
            } else {
                findings.error(&here, "is relative: set `spec.location`, or write an absolute path or a `uri`");
                nowhere()
            }
        }
    };
    ProgramSource { location, sha256: sum.unwrap_or(Sha256Sum([0; 32])) }
}

pub(super) fn local_problem(path: &str) -> Option<&'static str> {
    path_problem(path).or(is_virtual(path).then_some("must not be below /proc, /sys or /dev"))
}

fn relative_problem(source: &str) -> Option<&'static str> {
    if source.contains("://") {
        return Some("must be a path: write a complete URI as `uri`");
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._+~".contains(&byte);
    if !source.bytes().all(is_plain) {
        return Some("must be letters, digits, `-`, `.`, `_`, `+`, `~` and `/`");
    }
    let has_odd_part = source.split('/').any(|part| matches!(part, "" | "." | ".."));
    has_odd_part.then_some("must be written without `.`, `..`, doubled slashes and a slash at its end")
}
