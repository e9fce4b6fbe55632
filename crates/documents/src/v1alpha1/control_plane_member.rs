//! Members of a ControlPlaneConfig whose texts become files: their fields, files and arguments.

/// A member whose text becomes a file that an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    AuditPolicy,
    AuditWebhook,
    Admission,
    Encryption,
    AuthenticationWebhook,
    Authentication,
    Authorization,
}

impl Member {
    pub(super) const ALL: [Self; 7] = [
        Self::AuditPolicy,
        Self::AuditWebhook,
        Self::Admission,
        Self::Encryption,
        Self::AuthenticationWebhook,
        Self::Authentication,
        Self::Authorization,
    ];

    /// Its field.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::AuditPolicy => "spec.audit.policy",
            Self::AuditWebhook => "spec.audit.webhook.kubeconfig",
            Self::Admission => "spec.admission.configuration",
            Self::Encryption => "spec.encryption.configuration",
            Self::AuthenticationWebhook => "spec.authentication.webhook.kubeconfig",
            Self::Authentication => "spec.authentication.configuration",
            Self::Authorization => "spec.authorization.configuration",
        }
    }

    /// Its file.
    pub(super) const fn file(self) -> &'static str {
        match self {
            Self::AuditPolicy => "audit-policy.yaml",
            Self::AuditWebhook => "audit-webhook.conf",
            Self::Admission => "admission.yaml",
            Self::Encryption => "encryption.yaml",
            Self::AuthenticationWebhook => "authentication-webhook.conf",
            Self::Authentication => "authentication.yaml",
            Self::Authorization => "authorization.yaml",
        }
    }

    /// The argument that names the file.
    pub(super) const fn argument(self) -> &'static str {
        match self {
            Self::AuditPolicy => "audit-policy-file",
            Self::AuditWebhook => "audit-webhook-config-file",
            Self::Admission => "admission-control-config-file",
            Self::Encryption => "encryption-provider-config",
            Self::AuthenticationWebhook => "authentication-token-webhook-config-file",
            Self::Authentication => "authentication-config",
            Self::Authorization => "authorization-config",
        }
    }

    /// Arguments of the same purpose, by the beginnings of their names: the API server refuses them beside the file.
    pub(super) const fn excludes(self) -> &'static [&'static str] {
        match self {
            Self::Authentication => &["oidc-"],
            Self::Authorization => &["authorization-mode", "authorization-webhook-", "authorization-policy-file"],
            _ => &[],
        }
    }
}
