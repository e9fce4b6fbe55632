//! Texts that the API server reads, as Kubernetes defines them: checked as far as a mistake would keep it from starting, or
//! the cluster from working.
use super::control_plane_files::in_directory;
use crate::{Secret, findings::Findings};
use objects::{
    kubeconfig::{Kubeconfig, List},
    yaml::{self, Tree},
};
use serde_json::Value;

/// A format of the API server's.
pub(super) struct Format {
    /// The field that holds it.
    field: &'static str,
    group: &'static str,
    kind: &'static str,
    /// Versions, and since which minor version of Kubernetes they are there; none where every version has it.
    versions: &'static [(&'static str, Option<u32>)],
    /// Members at the top, beside apiVersion and kind.
    members: &'static [&'static str],
    /// What is wrong inside, with paths.
    problems: fn(&Value) -> Vec<String>,
}

const GROUP: &str = "apiserver.config.k8s.io";

pub(super) const AUDIT_POLICY: Format = Format {
    field: "spec.audit.policy",
    group: "audit.k8s.io",
    kind: "Policy",
    versions: &[("v1", None)],
    members: &["metadata", "omitManagedFields", "omitStages", "rules"],
    problems: policy_problems,
};

pub(super) const ADMISSION: Format = Format {
    field: "spec.admission.configuration",
    group: GROUP,
    kind: "AdmissionConfiguration",
    versions: &[("v1", None)],
    members: &["plugins"],
    problems: |_| Vec::new(),
};

pub(super) const ENCRYPTION: Format = Format {
    field: "spec.encryption.configuration",
    group: GROUP,
    kind: "EncryptionConfiguration",
    versions: &[("v1", None)],
    members: &["resources"],
    problems: |_| Vec::new(),
};

/// <https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration>
pub(super) const AUTHENTICATION: Format = Format {
    field: "spec.authentication.configuration",
    group: GROUP,
    kind: "AuthenticationConfiguration",
    versions: &[("v1", Some(34)), ("v1beta1", Some(30)), ("v1alpha1", Some(30))],
    members: &["anonymous", "jwt"],
    problems: issuer_problems,
};

/// <https://kubernetes.io/docs/reference/access-authn-authz/authorization/#using-configuration-file-for-authorization>
pub(super) const AUTHORIZATION: Format = Format {
    field: "spec.authorization.configuration",
    group: GROUP,
    kind: "AuthorizationConfiguration",
    versions: &[("v1", Some(32)), ("v1beta1", Some(30)), ("v1alpha1", Some(30))],
    members: &["authorizers"],
    problems: authorizer_problems,
};

/// A text that was read.
#[derive(Default)]
pub(super) struct Checked {
    /// The first minor version of Kubernetes that reads it.
    pub(super) minor: Option<u32>,
    /// The files of the API server's directory that it names.
    pub(super) files: Vec<String>,
    /// Its keys, passwords and tokens.
    pub(super) secrets: Vec<Secret<String>>,
}

/// Reports every problem of a text.
pub(super) fn check(format: &Format, text: &str, findings: &mut Findings<'_>) -> Checked {
    let Some(tree) = tree(format, text, findings) else { return Checked::default() };
    for problem in (format.problems)(&tree.value) {
        findings.error(format.field, problem);
    }
    if format.kind == AUTHENTICATION.kind && tree.value["anonymous"]["enabled"] == false {
        findings
            .warning(
                format.field,
                "anonymous.enabled is false: the kubelet could not probe the API server, and would restart it",
            )
            .hint("set anonymous.enabled to true, with conditions for the paths /livez, /readyz and /healthz");
    }
    let version = tree.value["apiVersion"].as_str().and_then(|text| text.rsplit_once('/')).map(|(_, version)| version);
    let minor = format.versions.iter().find(|(name, _)| Some(*name) == version).and_then(|(_, minor)| *minor);
    let mut files = Vec::new();
    named_files(&tree.value, &mut files);
    let relative = tree.value["plugins"].as_array().into_iter().flatten().filter_map(|plugin| plugin["path"].as_str());
    files.extend(relative.filter(|path| !path.starts_with('/')).map(str::to_owned));
    Checked { minor, files, secrets: Vec::new() }
}

/// The tree of a text that has the form of its kind.
pub(super) fn tree(format: &Format, text: &str, findings: &mut Findings<'_>) -> Option<Tree> {
    let tree = match yaml::parse(text) {
        Ok(tree) => tree,
        Err(error) => {
            findings.error(format.field, error.to_string());
            return None;
        }
    };
    if tree.goes_on {
        findings.error(format.field, "has more than one document (`---` or `...`): remove the others");
    }
    for path in &tree.repeated {
        let message = match findings.word(path) {
            Some(path) => format!("{path} is set twice"),
            None => "a member is set twice".to_owned(),
        };
        findings.error(format.field, message);
    }
    let versions: Vec<_> = format.versions.iter().map(|(version, _)| format!("{}/{version}", format.group)).collect();
    let is_kind = tree.value["kind"] == format.kind;
    if !is_kind || !tree.value["apiVersion"].as_str().is_some_and(|found| versions.iter().any(|name| name == found)) {
        let message = format!("must be of kind {}, apiVersion {}", format.kind, versions.join(" or "));
        findings.error(format.field, message);
        return None;
    }
    let is_known = |name: &str| ["apiVersion", "kind"].contains(&name) || format.members.contains(&name);
    for name in tree.value.as_object()?.keys().filter(|name| !is_known(name)) {
        let message = match findings.word(name) {
            Some(name) => format!("{name} is not a member of {}", format.kind),
            None => format!("has a member that {} does not have", format.kind),
        };
        findings.error(format.field, message);
    }
    Some(tree)
}

/// Every text below a value that is the path of a file in the API server's directory.
fn named_files(value: &Value, files: &mut Vec<String>) {
    match value {
        Value::String(text) => files.extend(in_directory(text).map(str::to_owned)),
        Value::Array(items) => items.iter().for_each(|item| named_files(item, files)),
        Value::Object(members) => members.values().for_each(|member| named_files(member, files)),
        _ => {}
    }
}

fn items<'v>(value: &'v Value, member: &str) -> &'v [Value] {
    value[member].as_array().map_or(&[], Vec::as_slice)
}

fn policy_problems(policy: &Value) -> Vec<String> {
    const LEVELS: [&str; 4] = ["None", "Metadata", "Request", "RequestResponse"];
    let rules = items(policy, "rules");
    if rules.is_empty() {
        return vec!["rules must have at least one rule".to_owned()];
    }
    let has_level = |rule: &Value| rule["level"].as_str().is_some_and(|level| LEVELS.contains(&level));
    let without = rules.iter().enumerate().filter(|(_, rule)| !has_level(rule));
    without.map(|(index, _)| format!("rules[{index}].level must be one of {}", LEVELS.join(", "))).collect()
}

fn issuer_problems(configuration: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, jwt) in items(configuration, "jwt").iter().enumerate() {
        if !jwt["issuer"]["url"].as_str().is_some_and(|url| url.starts_with("https://")) {
            problems.push(format!("jwt[{index}].issuer.url must be an https URL"));
        }
        if items(&jwt["issuer"], "audiences").is_empty() {
            problems.push(format!("jwt[{index}].issuer.audiences must have at least one audience"));
        }
        let username = &jwt["claimMappings"]["username"];
        if username["claim"].is_null() && username["expression"].is_null() {
            problems.push(format!("jwt[{index}].claimMappings.username must have a claim or an expression"));
        }
    }
    problems
}

/// Without Node no kubelet could work, and without RBAC neither kubeadm nor the controllers.
fn authorizer_problems(configuration: &Value) -> Vec<String> {
    let authorizers = items(configuration, "authorizers");
    let mut problems: Vec<String> = ["Node", "RBAC"]
        .into_iter()
        .filter(|wanted| !authorizers.iter().any(|authorizer| authorizer["type"] == *wanted))
        .map(|missing| {
            format!("authorizers must have one of type {missing}: without it the cluster would stop working")
        })
        .collect();
    for (index, authorizer) in authorizers.iter().enumerate() {
        if authorizer["name"].as_str().is_none_or(str::is_empty) {
            problems.push(format!("authorizers[{index}].name is required, but missing"));
        }
    }
    problems
}

/// Reports every problem of a kubeconfig by which the API server calls a webhook.
pub(super) fn check_kubeconfig(here: &str, text: &Secret<String>, findings: &mut Findings<'_>) -> Checked {
    let kubeconfig = match Kubeconfig::read(text.expose().as_bytes()) {
        Ok(kubeconfig) => kubeconfig,
        Err(problem) => {
            findings.error(here, problem.to_string());
            return Checked::default();
        }
    };
    for problem in kubeconfig.problems() {
        findings.error(here, problem.to_string());
    }
    let context = kubeconfig.entry(List::Contexts, kubeconfig.current_context());
    let cluster = context.and_then(|context| kubeconfig.entry(List::Clusters, context.members["cluster"].as_str()?));
    let is_secure = |server: &str| server.starts_with("https://");
    if !cluster.is_some_and(|cluster| cluster.members["server"].as_str().is_some_and(is_secure)) {
        findings.error(here, "must have a current-context whose cluster has an https server");
    }
    let mut checked = Checked::default();
    for value in kubeconfig.entries(List::Users).flat_map(|user| user.members.values()) {
        texts(value, &mut checked.secrets);
    }
    for member in kubeconfig.members().values() {
        named_files(member, &mut checked.files);
    }
    checked
}

/// Every text below a value.
fn texts(value: &Value, found: &mut Vec<Secret<String>>) {
    match value {
        Value::String(text) => found.push(Secret::new(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        _ => {}
    }
}
