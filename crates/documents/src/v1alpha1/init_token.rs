//! The bootstrap token that a new cluster gets.
use crate::{Secret, findings::Findings};
use discovery::{BootstrapToken, Lifetime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bootstrap token that the cluster is created with. It can be used for discovery and for joining.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitTokenSpec {
    /// Token, `id.secret`, from `machineadm token generate`. Default: a random token, which `machineadm token list` shows.
    /// Anyone who has it can join the cluster as a node until it expires.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret<String>>,
    /// Time until the token expires, such as `2h30m`; `0` is never. Default: `24h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

/// The same, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitToken {
    /// The token; kubeadm generates one if absent.
    pub token: Option<BootstrapToken>,
    /// How long it lives.
    pub lifetime: Lifetime,
}

impl InitTokenSpec {
    pub(super) fn read(&self, findings: &mut Findings<'_>) -> InitToken {
        let token = self.token.as_ref().and_then(|text| match text.expose().parse() {
            Ok(token) => Some(token),
            Err(error) => {
                let error: discovery::token::NoToken = error;
                findings.error("spec.bootstrapToken.token", error.to_string());
                None
            }
        });
        let lifetime = match self.ttl.as_deref().map(Lifetime::read) {
            None => Lifetime::default(),
            Some(Ok(lifetime)) => lifetime,
            Some(Err(error)) => {
                findings.error("spec.bootstrapToken.ttl", error.to_string());
                Lifetime::default()
            }
        };
        InitToken { token, lifetime }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AnyDocument,
        testing::{found, read_text, with_spec},
    };
    use discovery::Lifetime;

    fn spec(token: &str) -> String {
        with_spec("InitConfig", &format!("{{kubernetesVersion: v1.36.4, {token}}}"))
    }

    #[test]
    fn a_token_has_a_form_and_a_time_and_is_not_quoted() {
        let message = found(&spec("bootstrapToken: {token: abcdef.hunter2, ttl: 1d}"));
        assert_eq!(message.len(), 2, "{message:?}");
        assert!(message[0].starts_with("spec.bootstrapToken.token: "), "{message:?}");
        assert!(message[1].starts_with("spec.bootstrapToken.ttl: must be a duration"), "{message:?}");
        assert!(!message.concat().contains("hunter2"), "{message:?}");
        let both = "without: [bootstrapToken], bootstrapToken: {ttl: 1h}";
        let message =
            "spec.bootstrapToken: has no effect: the cluster is created without a bootstrap token (`without`)";
        assert_eq!(found(&spec(both)), [message]);
    }

    #[test]
    fn a_ttl_of_zero_is_for_ever_and_none_is_a_day() {
        let lifetime = |token: &str| match &read_text(&spec(token)).documents[0].body {
            AnyDocument::Init(init) => init.bootstrap_token.as_ref().map(|token| token.lifetime),
            other => panic!("{other:?}"),
        };
        assert_eq!(lifetime("bootstrapToken: {ttl: '0'}"), Some(Lifetime::Forever));
        assert_eq!(lifetime("bootstrapToken: {token: abcdef.0123456789abcdef}"), Some(Lifetime::default()));
        assert_eq!(lifetime("podSubnets: []"), None);
    }
}
