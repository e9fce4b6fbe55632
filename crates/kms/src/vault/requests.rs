//! One request to Vault: with a token that is valid, and with what a failure means.
use super::answers::failure;
use super::file_token::FileToken;
use super::login::{Refused, Session, Token};
use super::{VaultAuth, VaultSettings};
use crate::chain::chain;
use crate::{Failure, FailureKind, small_file};
use fetch::{Answer, Client, Identity, Limits, Method, Reach, Request, Settings, Trust};
use secret::Secret;
use serde_json::Value;
use std::path::Path;

const ANSWER_LIMIT: usize = 256 << 10;
/// The path that the root namespace alone has: with the header of another one Vault answers 404, and OpenBao 400.
const HEALTH: &str = "sys/health";

/// The servers of one key.
pub(super) struct Server {
    settings: VaultSettings,
    session: Session,
    file_token: FileToken,
}

impl Server {
    pub(super) fn new(settings: VaultSettings) -> Self {
        Self { settings, session: Session::default(), file_token: FileToken::default() }
    }

    pub(super) fn settings(&self) -> &VaultSettings {
        &self.settings
    }

    pub(super) fn get(&self, path: &str) -> Result<Value, Failure> {
        self.with_token(Method::Get, path, None)
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.with_token(Method::Post, path, Some(body))
    }

    /// The id of the cluster, which every server of it answers without a token.
    pub(super) fn cluster_id(&self) -> Result<String, Failure> {
        let path = format!("{HEALTH}?standbyok=true&perfstandbyok=true");
        let answer = self.exchange(Method::Get, &path, None, None)?;
        let found = read(HEALTH, &answer)?;
        let id = found["cluster_id"].as_str().filter(|id| is_cluster_id(id)).map(str::to_owned);
        id.ok_or_else(|| Failure::new(FailureKind::Unreachable, "sys/health has no cluster_id"))
    }

    /// A token that was valid a moment ago may have been revoked: then one new login is tried.
    fn with_token(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let token = self.token()?;
        let mut answer = self.exchange(method, path, body, Some(&token))?;
        if answer.status == 403 && self.settings.auth.logs_in() && self.may_be_replaced(&token) {
            self.session.forget(&token);
            answer = self.exchange(method, path, body, Some(&self.token()?))?;
        }
        read(path, &answer)
    }

    /// Whether a new login may help against a refusal: the token is gone, or its role may have got other policies since.
    /// Where a right is missing, a login for each refusal would leave Vault full of tokens, and use up a secret id that is
    /// valid for a number of logins.
    fn may_be_replaced(&self, token: &Token) -> bool {
        match self.session.refused(token) {
            Refused::Replace => true,
            Refused::Right => false,
            Refused::LookUp => {
                let known = self.exchange(Method::Get, "auth/token/lookup-self", None, Some(token));
                known.is_ok_and(|answer| answer.status == 403)
            }
        }
    }

    fn token(&self) -> Result<Token, Failure> {
        if let VaultAuth::Token { file } = &self.settings.auth {
            return self.file_token.token(file, self);
        }
        self.session.token(self)
    }

    /// One request and its answer, whatever its status.
    pub(super) fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        token: Option<&Token>,
    ) -> Result<Answer, Failure> {
        let unreachable = |error: fetch::Error| Failure::new(FailureKind::Unreachable, chain(&error));
        let request = self.request(method, path, body, token).map_err(unreachable)?;
        self.client()?.send(&request).map_err(unreachable)
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        token: Option<&Token>,
    ) -> fetch::Result<Request> {
        let url = format!("{}/v1/{path}", self.settings.address.trim_end_matches('/'));
        let mut request = Request::new(method, &url)?.with_header("X-Vault-Request", Secret::new("true".to_owned()));
        if let Some(namespace) = self.settings.namespace.as_ref().filter(|_| !path.starts_with(HEALTH)) {
            request = request.with_header("X-Vault-Namespace", Secret::new(namespace.clone()));
        }
        if let Some(token) = token {
            request = request.with_header("X-Vault-Token", token.clone());
        }
        Ok(match body {
            Some(body) => request.with_body("application/json", body.to_string().into_bytes()),
            None => request,
        })
    }

    /// Made for each request, so that replaced certificates count at once.
    fn client(&self) -> Result<Client, Failure> {
        let denied = |error: fetch::Error| Failure::new(FailureKind::AccessDenied, chain(&error));
        let trust = match &self.settings.ca_file {
            Some(file) => Trust::Only(fetch::certificates(&read_file(file)?).map_err(denied)?),
            None => Trust::System { and: Vec::new() },
        };
        let mut settings = Settings::new(trust);
        // Its address is the operator's own word.
        settings.reach = Reach::ANYWHERE;
        settings.limits =
            Limits { connect: self.settings.timeout, total: self.settings.timeout, body: ANSWER_LIMIT, redirects: 0 };
        if let VaultAuth::Certificate { certificate_file, key_file, .. } = &self.settings.auth {
            let key = Secret::new(read_file(key_file)?);
            settings.identity = Some(Identity::from_pem(&read_file(certificate_file)?, key).map_err(denied)?);
        }
        Client::new(settings).map_err(denied)
    }
}

/// Whether a text can be the id of a cluster, a UUID.
pub(super) fn is_cluster_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

impl VaultAuth {
    const fn logs_in(&self) -> bool {
        !matches!(self, Self::Token { .. })
    }
}

/// The JSON of a success, or what the failure means.
pub(super) fn read(what: &str, answer: &Answer) -> Result<Value, Failure> {
    if !answer.is_success() {
        return Err(failure(what, answer.status, &answer.body));
    }
    serde_json::from_slice(&answer.body)
        .map_err(|_| Failure::new(FailureKind::Unreachable, format!("{what} did not answer with JSON")))
}

/// A credential in a file, without the line's end.
pub(super) fn read_secret(path: &Path) -> Result<String, Failure> {
    let text = String::from_utf8(read_file(path)?).ok().map(|text| text.trim().to_owned());
    let denied = || Failure::new(FailureKind::AccessDenied, format!("{} is empty or not text", path.display()));
    text.filter(|text| !text.is_empty()).ok_or_else(denied)
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    small_file::read(path).map_err(|error| {
        Failure::new(FailureKind::AccessDenied, format!("cannot read the credential {}: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_namespace_goes_with_requests_to_its_paths_and_a_token_only_where_there_is_one() {
        let server = Server::new(VaultSettings {
            address: "https://vault:8200/".to_owned(),
            namespace: Some("team/a".to_owned()),
            mount: "transit".to_owned(),
            key: "k".to_owned(),
            ca_file: None,
            auth: VaultAuth::Token { file: "/none".into() },
            timeout: Duration::from_secs(1),
        });
        let token = Secret::new("t".to_owned());
        for (token, wanted) in [(None, 2), (Some(&token), 3)] {
            let request = server.request(Method::Get, "transit/keys/k", None, token).unwrap();
            assert_eq!(request.url.as_str(), "https://vault:8200/v1/transit/keys/k");
            let namespace = ("X-Vault-Namespace".to_owned(), Secret::new("team/a".to_owned()));
            assert!(request.headers.contains(&namespace));
            assert_eq!(request.headers.len(), wanted);
        }
        let health = server.request(Method::Get, "sys/health?standbyok=true", None, None).unwrap();
        assert!(health.headers.iter().all(|(name, _)| name != "X-Vault-Namespace"), "only the root namespace has it");
    }
}
