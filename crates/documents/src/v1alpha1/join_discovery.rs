//! How a JoinConfig finds and verifies its cluster: by a token, or by a kubeconfig.
use super::{absolute_path::path_problem, duration};
use crate::{Secret, findings::Findings, path};
use discovery::{
    BootstrapToken, Endpoint, Pin,
    method::{Pinning, Source, Verification, source},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a cluster is found and verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinDiscovery {
    /// By a token that signed its cluster-info.
    Token {
        /// API servers, tried in turn.
        endpoints: Vec<Endpoint>,
        /// The token.
        token: TokenSource,
        /// What else the cluster is known by.
        pinning: Pinning,
    },
    /// By a kubeconfig from a location that is trusted already.
    File {
        /// The location.
        source: Source,
        /// What a kubeconfig without CA certificates needs.
        verification: Verification,
    },
}

/// Where a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenSource {
    /// In the document.
    Given(BootstrapToken),
    /// In a file of the machine that only root can read.
    File(String),
}

/// How the cluster is found and verified: exactly one of `token` and `file`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["token"]}, {"required": ["file"]}]))]
pub struct DiscoverySpec {
    /// Discovery by a bootstrap token and CA pins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenSpec>,
    /// Discovery by a kubeconfig without credentials, from a location that is trusted already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileSpec>,
    /// How long the cluster may take to answer: a machine may boot before its control plane. Default: `5m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = duration::PATTERN), extend("default" = "5m"))]
    pub timeout: Option<String>,
}

/// Discovery by a bootstrap token. One of `token` and `tokenFile`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["token"]}, {"required": ["tokenFile"]}]))]
pub struct TokenSpec {
    /// API servers, tried in turn: `host:port`, or a bare host with port 6443.
    #[schemars(length(min = 1))]
    pub endpoints: Vec<String>,
    /// Bootstrap token, such as `abcdef.0123456789abcdef`.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret<String>>,
    /// File with the token, which only root can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<String>,
    /// CA pins: public key hashes of CA certificates of the cluster, as `sha256:HEX`. One match is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ca_pins: Vec<String>,
    /// Whether the cluster is discovered without a CA pin: anyone else who has the token can then pose as the cluster.
    #[serde(default, rename = "unsafeWithoutCAPins", skip_serializing_if = "std::ops::Not::not")]
    pub unsafe_without_ca_pins: bool,
}

/// Discovery by a kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileSpec {
    /// Absolute path or https URL of the kubeconfig. It must not contain credentials.
    #[serde(serialize_with = "secret::exposed")]
    pub location: Secret<String>,
    /// Whether a kubeconfig without CA certificates is accepted although the system's CA certificates do not verify the
    /// API server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_untrusted_certificate: bool,
}

/// In place of a discovery that is reported as invalid; it is never used.
pub(super) fn nowhere() -> JoinDiscovery {
    JoinDiscovery::File { source: Source::Path(String::new()), verification: Verification::Required }
}

pub(super) fn discovery_of(spec: DiscoverySpec, findings: &mut Findings<'_>) -> Option<JoinDiscovery> {
    match (spec.token, spec.file) {
        (Some(token), None) => by_token(token, findings),
        (None, Some(file)) => by_file(file, findings),
        (Some(_), Some(_)) => {
            let text = "`token` and `file` are both set: keep the one that this machine can trust";
            findings.error("spec.discovery", text);
            None
        }
        (None, None) => {
            findings.error("spec.discovery", "requires `token` or `file`");
            None
        }
    }
}

fn by_token(spec: TokenSpec, findings: &mut Findings<'_>) -> Option<JoinDiscovery> {
    const HERE: &str = "spec.discovery.token";
    if spec.endpoints.is_empty() {
        findings.error(&path::member(HERE, "endpoints"), "must name at least one API server");
    }
    let mut endpoints = Vec::new();
    for (index, text) in spec.endpoints.iter().enumerate() {
        match text.parse::<Endpoint>() {
            Ok(endpoint) => endpoints.push(endpoint),
            Err(error) => {
                _ = findings.error(&path::item(&path::member(HERE, "endpoints"), index), error.to_string());
            }
        }
    }
    let mut pins = Vec::new();
    for (index, text) in spec.ca_pins.iter().enumerate() {
        match text.parse::<Pin>() {
            Ok(pin) => pins.push(pin),
            Err(error) => {
                _ = findings.error(&path::item(&path::member(HERE, "caPins"), index), error.to_string());
            }
        }
    }
    if spec.ca_pins.is_empty() && !spec.unsafe_without_ca_pins {
        findings
            .error(HERE, "requires `caPins`: anyone else who has the token can pose as the cluster")
            .hint("set the CA pin that the cluster prints, or accept that risk with `unsafeWithoutCAPins: true`");
    }
    let pinning = if pins.is_empty() { Pinning::Without } else { Pinning::Pins(pins) };
    let names = ["spec.discovery.token.token", "spec.discovery.token.tokenFile"];
    let is_missing = spec.token.is_none() && spec.token_file.is_none();
    if is_missing {
        findings.error(HERE, "requires `token` or `tokenFile`");
    }
    let token = token_of(names, spec.token, spec.token_file, findings)?;
    Some(JoinDiscovery::Token { endpoints, token, pinning })
}

fn by_file(spec: FileSpec, findings: &mut Findings<'_>) -> Option<JoinDiscovery> {
    const HERE: &str = "spec.discovery.file.location";
    let verification = if spec.accept_untrusted_certificate { Verification::Waived } else { Verification::Required };
    match source(spec.location.expose()) {
        Ok(Source::StandardInput) => {
            findings.error(HERE, "must be an absolute path or an https URL");
            None
        }
        Ok(Source::Path(file)) if path_problem(&file).is_some() => {
            findings.error(HERE, "must be an absolute path or an https URL");
            None
        }
        Ok(source) => Some(JoinDiscovery::File { source, verification }),
        Err(problem) => {
            findings.error(HERE, problem);
            None
        }
    }
}

/// A token that is given or in a file; problems are reported.
pub(super) fn token_of(
    [here, file_here]: [&str; 2],
    given: Option<Secret<String>>,
    file: Option<String>,
    findings: &mut Findings<'_>,
) -> Option<TokenSource> {
    match (given, file) {
        (None, None) => None,
        (Some(_), Some(_)) => {
            findings.error(here, format!("and `{file_here}` are both set: remove one of them"));
            None
        }
        (Some(text), None) => match text.expose().parse() {
            Ok(token) => Some(TokenSource::Given(token)),
            Err(error) => {
                let error: discovery::token::NoToken = error;
                findings.error(here, error.to_string());
                None
            }
        },
        (None, Some(file)) => match path_problem(&file) {
            None => Some(TokenSource::File(file)),
            Some(problem) => {
                findings.error(file_here, problem);
                None
            }
        },
    }
}
