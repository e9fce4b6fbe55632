//! ReportConfig: where the progress and the outcome of a run are sent.
use super::{
    API_VERSION, AddressRight, Certificate, Proxy, absolute_path::path_problem, duration, trust_bundle::authorities,
    uri,
};
use crate::{
    Claim, Claimed, Rights, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    limits::URI_BYTES,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// Where reports are sent, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reporting {
    /// The location.
    pub uri: Secret<String>,
    /// CA certificates for its server; empty if nothing particular.
    pub authorities: Vec<Certificate>,
    /// The value of the header `Authorization`, if there is one.
    pub authorization: Option<AuthorizationSource>,
    /// How long a report may take.
    pub timeout: Duration,
    /// The special addresses that reports may go to, in the order of the document.
    pub allow: Vec<AddressRight>,
    /// CA certificates of every TrustBundleConfig before the document. Expansion fills them in.
    pub bundles: Vec<Certificate>,
    /// The last ProxyConfig before the document. Expansion fills it in.
    pub proxy: Option<Proxy>,
}

/// Where the value of the header `Authorization` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizationSource {
    /// In the document.
    Given(Secret<String>),
    /// In a file of the machine that only root can read.
    File(String),
}

/// Sends the progress and the outcome of each run to an https server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("not" = {"required": ["authorization", "authorizationFile"]}))]
pub struct ReportConfig {
    /// URI of the reports: `https://reports.example.com/machines/node-7`. Each report is sent with PUT and replaces the
    /// previous one. Redirects are not followed. Output shows the URI without credentials and query.
    #[serde(serialize_with = "secret::exposed")]
    pub uri: Secret<String>,
    /// CA certificates (PEM) for the https server. When set, no other CA certificates are used. Default: those of the
    /// system and of every TrustBundleConfig before this document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_authority: Option<String>,
    /// Value of the header `Authorization`, such as `Bearer TOKEN`.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub authorization: Option<Secret<String>>,
    /// File with that value, which only root can read. It must exist when the run starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_file: Option<String>,
    /// Timeout of a report, such as `10s`, from 1s to 5m. A run waits that long at its end at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = duration::PATTERN), extend("default" = "10s"))]
    pub timeout: Option<String>,
    /// Special addresses that reports may go to: loopback addresses, link-local addresses. Default: none of them. In a
    /// fetched document, the RemoteConfig that fetched it must allow them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<AddressRight>,
}

impl Document for ReportConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "ReportConfig";
    const SUMMARY: &str = "Sends the progress and the outcome of each run to an https server.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ReportConfig
metadata:
  name: operators
spec:
  uri: https://reports.example.com/machines/node-7
  authorization: Bearer EXAMPLE
  timeout: 5s
";
}

impl Check for ReportConfig {
    type Checked = Box<Reporting>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Box<Reporting> {
        let Self { uri, certificate_authority, authorization, authorization_file, timeout, allow } = self;
        uri::check("https", uri.expose(), "spec.uri", findings);
        if (authorization.is_some() || authorization_file.is_some()) && uri::has_credentials(uri.expose()) {
            findings.error("spec.uri", "contains credentials, and the header `Authorization` is set as well");
        }
        let timeout = match timeout.as_deref().map(duration::parse) {
            None => Some(DEFAULT_TIMEOUT),
            Some(given) => given.ok().filter(|timeout| (SHORTEST..=LONGEST).contains(timeout)),
        };
        if timeout.is_none() {
            findings.error("spec.timeout", "must be a duration from 1s to 5m, such as `10s`");
        }
        Box::new(Reporting {
            uri,
            authorities: authorities("spec.certificateAuthority", certificate_authority.as_deref(), findings),
            authorization: authorization_of(authorization, authorization_file, findings),
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
            allow,
            bundles: Vec::new(),
            proxy: None,
        })
    }
}

fn authorization_of(
    given: Option<Secret<String>>,
    file: Option<String>,
    findings: &mut Findings<'_>,
) -> Option<AuthorizationSource> {
    const HERE: &str = "spec.authorization";
    match (given, file) {
        (None, None) => None,
        (Some(_), Some(_)) => {
            findings.error(HERE, "and `spec.authorizationFile` are both set: remove one of them");
            None
        }
        (Some(value), None) => {
            if let Some(problem) = authorization_problem(value.expose()) {
                findings.error(HERE, problem);
            }
            Some(AuthorizationSource::Given(value))
        }
        (None, Some(file)) => {
            if let Some(problem) = path_problem(&file) {
                findings.error("spec.authorizationFile", problem);
            }
            Some(AuthorizationSource::File(file))
        }
    }
}

/// Why a text cannot be the value of the header `Authorization`.
pub fn authorization_problem(value: &str) -> Option<&'static str> {
    if value.is_empty() || value.len() > URI_BYTES || value.trim() != value {
        return Some("must have 1 to 4096 characters, without white space at its start and end");
    }
    let is_header = value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    (!is_header).then_some("must be printable ASCII in one line")
}

impl Reporting {
    /// The first member that a document with these rights may not have: its path, what it names, and the right.
    pub(crate) fn not_allowed(&self, rights: Rights) -> Option<(String, &'static str, &'static str)> {
        if matches!(self.authorization, Some(AuthorizationSource::File(_))) && !rights.local_files {
            return Some(("spec.authorizationFile".to_owned(), "local files", "localFiles"));
        }
        AddressRight::not_allowed(&self.allow, rights)
    }
}

impl Body for Reporting {
    fn secrets(&self) -> Vec<&[u8]> {
        let mut secrets: Vec<&[u8]> = uri::uri_secrets(self.uri.expose()).into_iter().map(str::as_bytes).collect();
        if let Some(AuthorizationSource::Given(value)) = &self.authorization {
            let value = value.expose();
            secrets.push(value.as_bytes());
            // A program that is given the token prints it without the word `Bearer`.
            secrets.extend(value.split_once(' ').map(|(_, token)| token.trim().as_bytes()));
        }
        secrets
    }

    fn confidential(&self) -> Vec<&[u8]> {
        vec![self.uri.expose().as_bytes()]
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        vec![Claim::new("spec.uri", Claimed::Reports)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyDocument,
        testing::{document, found, problems, spec, with_spec},
    };

    fn reporting(yaml: &str) -> Reporting {
        let AnyDocument::Report(reporting) = spec("ReportConfig", yaml) else { panic!() };
        *reporting
    }

    #[test]
    fn what_is_not_said_is_not_allowed() {
        let reporting = reporting("{uri: 'https://a/b'}");
        assert_eq!((reporting.allow, reporting.authorization), (vec![], None));
        assert_eq!(reporting.timeout, Duration::from_secs(10));
    }

    #[test]
    fn every_member_is_decoded() {
        let yaml = "{uri: 'https://a/b?c', authorizationFile: /etc/a, timeout: 5m, allow: [loopback, linkLocal]}";
        let reporting = reporting(yaml);
        assert_eq!(reporting.authorization, Some(AuthorizationSource::File("/etc/a".into())));
        assert_eq!(reporting.allow, [AddressRight::Loopback, AddressRight::LinkLocal]);
        assert_eq!(reporting.timeout, Duration::from_secs(300));
    }

    #[test]
    fn query_password_and_authorization_are_secrets() {
        let shown = |yaml: &str| -> Vec<String> {
            let reporting = reporting(yaml);
            reporting.secrets().into_iter().map(|secret| String::from_utf8_lossy(secret).into_owned()).collect()
        };
        let secrets = shown("{uri: 'https://a/b?sig=s3', authorization: Bearer t0ken}");
        assert_eq!(secrets, ["sig=s3", "s3", "https://a/b?sig=s3", "Bearer t0ken", "t0ken"]);
        assert_eq!(shown("{uri: 'https://u:pw@a/b'}"), ["pw", "https://u:pw@a/b"]);
        assert_eq!(shown("{uri: 'https://a/b', authorization: t0ken}"), ["t0ken"]);
    }

    #[test]
    fn every_bad_member_is_listed() {
        let yaml = "{uri: 'http://a', timeout: 6m, certificateAuthority: x, authorization: ' a'}";
        let expected = ["uri", "timeout", "certificateAuthority", "authorization"].map(|field| format!("spec.{field}"));
        assert_eq!(problems("ReportConfig", yaml), expected);
        assert_eq!(problems("ReportConfig", "{uri: 'https://a', allow: [localFiles]}"), ["spec.allow[0]"]);
        assert_eq!(found_in("{timeout: 1s}"), ["spec.uri: required, but missing"]);
        for timeout in ["0s", "999ms", "301s", "soon"] {
            assert_eq!(
                problems("ReportConfig", &format!("{{uri: 'https://a/', timeout: {timeout}}}")),
                ["spec.timeout"]
            );
        }
    }

    fn found_in(yaml: &str) -> Vec<String> {
        found(&with_spec("ReportConfig", yaml))
    }

    #[test]
    fn one_source_of_authorization_is_enough() {
        let both = "{uri: 'https://a/', authorization: a, authorizationFile: /b}";
        assert_eq!(
            found_in(both),
            ["spec.authorization: and `spec.authorizationFile` are both set: remove one of them"]
        );
        for more in ["authorization: a", "authorizationFile: /b"] {
            let text = format!("{{uri: 'https://u:p@a/', {more}}}");
            assert_eq!(
                found_in(&text),
                ["spec.uri: contains credentials, and the header `Authorization` is set as well"]
            );
        }
        assert_eq!(problems("ReportConfig", "{uri: 'https://a/', authorizationFile: b}"), ["spec.authorizationFile"]);
    }

    #[test]
    fn a_header_is_one_printable_line() {
        for value in ["Bearer a.b", "x", &"a".repeat(4096)] {
            assert_eq!(authorization_problem(value), None, "{value}");
        }
        for value in ["", " ", "a\nb", "a ", "ä", "a\tb", &"a".repeat(4097)] {
            assert!(authorization_problem(value).is_some(), "{value:?}");
        }
    }

    #[test]
    fn a_machine_reports_to_one_location() {
        let report =
            |name: &str| document("ReportConfig", &format!("metadata: {{name: {name}}}\nspec: {{uri: 'https://a/'}}"));
        let message = "spec.uri: reports are already sent by document 1: a machine has at most one ReportConfig";
        assert_eq!(found(&[report("a"), report("b")].concat()), [message]);
    }

    #[test]
    fn a_document_names_only_what_its_rights_allow() {
        let all = reporting("{uri: 'https://a/', authorizationFile: /b, allow: [linkLocal, loopback]}");
        assert_eq!(all.not_allowed(Rights::ALL), None);
        let path = |rights: Rights| all.not_allowed(rights).map(|(path, _, right)| (path, right));
        assert_eq!(path(Rights::NONE), Some(("spec.authorizationFile".to_owned(), "localFiles")));
        let files = Rights { local_files: true, ..Rights::NONE };
        assert_eq!(path(files), Some(("spec.allow[0]".to_owned(), "linkLocal")));
        assert_eq!(path(Rights { link_local: true, ..files }), Some(("spec.allow[1]".to_owned(), "loopback")));
        assert_eq!(reporting("{uri: 'https://a/'}").not_allowed(Rights::NONE), None);
    }
}
