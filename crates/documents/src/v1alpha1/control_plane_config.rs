//! ControlPlaneConfig: what the API server of a control plane node reads from files: audit policy, admission, encryption,
//! authentication and authorization.
use super::{
    API_VERSION,
    api_server_texts::{self, ADMISSION, AUDIT_POLICY, AUTHENTICATION, AUTHORIZATION, Checked, check_kubeconfig},
    control_plane::Arguments,
    control_plane_files::ControlPlane,
    control_plane_member::Member,
    duration, encryption_configuration,
};
use crate::{
    Secret,
    document::{Check, Document},
    findings::Findings,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Files, arguments and volumes of the API server of a control plane node. Each text is YAML as Kubernetes defines it; it
/// is checked and written to `/etc/kubernetes/machineadm`, which only root can read. All control plane nodes of a
/// cluster need the same document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlPlaneConfig {
    /// What the API server records of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditSpec>,
    /// Admission plugins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionSpec>,
    /// Encryption of what etcd stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<EncryptionSpec>,
    /// Who a client is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationSpec>,
    /// What a client may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization: Option<AuthorizationSpec>,
    /// Further files in `/etc/kubernetes/machineadm`, which the texts and arguments of this document refer to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ControlPlaneFileSpec>,
    /// Further arguments of kube-apiserver, by their names without dashes. They replace those that kubeadm sets. One that
    /// is removed here later stays in the ConfigMap kubeadm-config until it is removed there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: Arguments,
}

/// The audit log. Without `log` and `webhook`, events are written to the default log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditSpec {
    /// Which requests are recorded, and how much of them: `audit.k8s.io/v1`, kind Policy.
    pub policy: String,
    /// The log file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<AuditLogSpec>,
    /// A server that gets the events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<AuditWebhookSpec>,
}

/// A log file with its older parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditLogSpec {
    /// Absolute path of the log. Its directory is created, and the API server can write to it.
    #[serde(default = "audit_log")]
    pub path: String,
    /// Days after which a rotated log is deleted. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_age_days: Option<u32>,
    /// Largest number of rotated logs. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_backups: Option<u32>,
    /// Size in MiB at which the log is rotated. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_size_megabytes: Option<u32>,
}

impl Default for AuditLogSpec {
    fn default() -> Self {
        Self { path: audit_log(), max_age_days: None, max_backups: None, max_size_megabytes: None }
    }
}

fn audit_log() -> String {
    "/var/log/kubernetes/audit/audit.log".to_owned()
}

/// A server that gets audit events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditWebhookSpec {
    /// Kubeconfig that names the server, and the credentials of the API server for it.
    #[serde(serialize_with = "secret::exposed")]
    pub kubeconfig: Secret<String>,
}

/// Admission plugins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdmissionSpec {
    /// Plugins that are enabled beside the default ones and NodeRestriction, such as `ImagePolicyWebhook`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enable: Vec<String>,
    /// Default plugins that are disabled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disable: Vec<String>,
    /// Configuration of plugins: `apiserver.config.k8s.io/v1`, kind AdmissionConfiguration. A `path` in it is the name of
    /// one of `files`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
}

/// Encryption of what etcd stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EncryptionSpec {
    /// Which resources are encrypted with which keys: `apiserver.config.k8s.io/v1`, kind EncryptionConfiguration. The
    /// directory of a KMS plugin's socket is mounted. Every control plane node needs the same keys: without them, what
    /// etcd stores cannot be read.
    #[serde(serialize_with = "secret::exposed")]
    pub configuration: Secret<String>,
}

/// Who a client is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthenticationSpec {
    /// A server that verifies bearer tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<AuthenticationWebhookSpec>,
    /// Issuers of JWTs, and anonymous access: `apiserver.config.k8s.io`, kind AuthenticationConfiguration, version v1
    /// (Kubernetes 1.34 or newer), v1beta1 (1.30 or newer) or v1alpha1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
}

/// A server that verifies bearer tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthenticationWebhookSpec {
    /// Kubeconfig that names the server, and the credentials of the API server for it.
    #[serde(serialize_with = "secret::exposed")]
    pub kubeconfig: Secret<String>,
    /// How long an answer is used again. Default: `2m`.
    #[serde(rename = "cacheTTL", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = duration::PATTERN))]
    pub cache_ttl: Option<String>,
    /// Version of TokenReview that the server is asked with. Default: `v1`.
    #[serde(default)]
    pub version: TokenReviewVersion,
}

/// A version of `authentication.k8s.io`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenReviewVersion {
    /// The stable version.
    #[default]
    V1,
    /// For servers that know no other.
    V1Beta1,
}

impl TokenReviewVersion {
    const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V1Beta1 => "v1beta1",
        }
    }
}

/// What a client may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthorizationSpec {
    /// Authorizers in their order: `apiserver.config.k8s.io`, kind AuthorizationConfiguration, version v1 (Kubernetes 1.32
    /// or newer), v1beta1 (1.30 or newer) or v1alpha1. `Node` and `RBAC` must be among them.
    pub configuration: String,
}

/// A file in `/etc/kubernetes/machineadm`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlPlaneFileSpec {
    /// Name of the file, without a directory, such as `oidc-ca.crt`.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"))]
    pub name: String,
    /// Its content.
    #[serde(serialize_with = "secret::exposed")]
    pub content: Secret<String>,
}

impl Document for ControlPlaneConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "ControlPlaneConfig";
    const SUMMARY: &str =
        "Audit policy, admission, encryption, authentication and authorization of the API server, with their files.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ControlPlaneConfig
metadata:
  name: api-server
spec:
  audit:
    policy: |
      apiVersion: audit.k8s.io/v1
      kind: Policy
      rules:
      - level: Metadata
    log:
      maxAgeDays: 30
      maxBackups: 10
      maxSizeMegabytes: 100
  admission:
    enable: [AlwaysPullImages]
  encryption:
    configuration: |
      apiVersion: apiserver.config.k8s.io/v1
      kind: EncryptionConfiguration
      resources:
      - resources: [secrets]
        providers:
        - secretbox:
            keys:
            - name: first
              secret: ZXhhbXBsZSBvZiBhIGtleSB3aXRoIDMyIGJ5dGVzLi4=
        - identity: {}
";
}

impl Check for ControlPlaneConfig {
    type Checked = Box<ControlPlane>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Box<ControlPlane> {
        let Self { audit, admission, encryption, authentication, authorization, files, arguments } = self;
        let mut made = ControlPlane::default();
        if let Some(audit) = audit {
            audit.check(&mut made, findings);
        }
        if let Some(admission) = admission {
            admission.check(&mut made, findings);
        }
        if let Some(EncryptionSpec { configuration }) = encryption {
            let read = encryption_configuration::read(configuration.expose(), findings);
            let checked = Checked { secrets: read.secrets, ..Checked::default() };
            made.text(Member::Encryption, configuration.expose(), checked);
            made.sockets(&read.socket_directories);
        }
        if let Some(authentication) = authentication {
            authentication.check(&mut made, findings);
        }
        if let Some(AuthorizationSpec { configuration }) = authorization {
            let checked = api_server_texts::check(&AUTHORIZATION, &configuration, findings);
            made.text(Member::Authorization, &configuration, checked);
        }
        for (index, file) in files.into_iter().enumerate() {
            made.further_file(index, file, findings);
        }
        made.further_arguments(&arguments, findings);
        made.finish(findings);
        Box::new(made)
    }
}

impl AuditSpec {
    fn check(self, made: &mut ControlPlane, findings: &mut Findings<'_>) {
        let Self { policy, log, webhook } = self;
        let checked = api_server_texts::check(&AUDIT_POLICY, &policy, findings);
        made.text(Member::AuditPolicy, &policy, checked);
        let log = log.or_else(|| webhook.is_none().then(AuditLogSpec::default));
        if let Some(AuditLogSpec { path, max_age_days, max_backups, max_size_megabytes }) = log {
            made.log(&path, findings);
            for (argument, field, value) in [
                ("audit-log-maxage", "maxAgeDays", max_age_days),
                ("audit-log-maxbackup", "maxBackups", max_backups),
                ("audit-log-maxsize", "maxSizeMegabytes", max_size_megabytes),
            ] {
                let here = format!("spec.audit.log.{field}");
                match value {
                    Some(0) => _ = findings.error(&here, "must be at least 1"),
                    Some(value) => made.argument(argument, value.to_string(), here),
                    None => {}
                }
            }
        }
        if let Some(AuditWebhookSpec { kubeconfig }) = webhook {
            let member = Member::AuditWebhook;
            let checked = check_kubeconfig(member.field(), &kubeconfig, findings);
            made.text(member, kubeconfig.expose(), checked);
        }
    }
}

impl AdmissionSpec {
    fn check(self, made: &mut ControlPlane, findings: &mut Findings<'_>) {
        let Self { enable, disable, configuration } = self;
        made.admission_plugins(&enable, &disable, findings);
        if let Some(configuration) = configuration {
            let checked = api_server_texts::check(&ADMISSION, &configuration, findings);
            made.text(Member::Admission, &configuration, checked);
        }
    }
}

impl AuthenticationSpec {
    fn check(self, made: &mut ControlPlane, findings: &mut Findings<'_>) {
        let Self { webhook, configuration } = self;
        if let Some(AuthenticationWebhookSpec { kubeconfig, cache_ttl, version }) = webhook {
            let member = Member::AuthenticationWebhook;
            let checked = check_kubeconfig(member.field(), &kubeconfig, findings);
            made.text(member, kubeconfig.expose(), checked);
            made.argument(
                "authentication-token-webhook-version",
                version.name().to_owned(),
                "spec.authentication.webhook.version".to_owned(),
            );
            if let Some(ttl) = cache_ttl {
                let here = "spec.authentication.webhook.cacheTTL";
                if let Err(problem) = duration::parse(&ttl) {
                    findings.error(here, problem.to_string());
                }
                made.argument("authentication-token-webhook-cache-ttl", ttl, here.to_owned());
            }
        }
        if let Some(configuration) = configuration {
            let checked = api_server_texts::check(&AUTHENTICATION, &configuration, findings);
            made.text(Member::Authentication, &configuration, checked);
        }
    }
}

#[cfg(test)]
mod tests;
