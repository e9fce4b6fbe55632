//! One signed request to AWS KMS, and what a failure means.
use super::AwsSettings;
use super::answers::Refusal;
use super::credentials::{CredentialSource, Keys, denied};
use super::signing::Signable;
pub(super) use crate::chain::chain;
use crate::{Failure, FailureKind, small_file};
use fetch::{Answer, Client, Limits, Method, Reach, Request, Settings, Trust};
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use zeroize::Zeroizing;

const ANSWER_LIMIT: usize = 256 << 10;
const CONTENT_TYPE: &str = "application/x-amz-json-1.1";
/// The name of KMS in requests.
const SERVICE: &str = "TrentService";

/// KMS in one region, with credentials.
pub(super) struct Server {
    settings: AwsSettings,
    credentials: CredentialSource,
    /// The client with its open connection, and the CA certificates that it was made with.
    client: Mutex<Option<(Vec<u8>, Arc<Client>)>>,
}

impl Server {
    pub(super) fn new(settings: AwsSettings) -> Self {
        let credentials = CredentialSource::new(settings.credentials.clone(), settings.timeout);
        Self { settings, credentials, client: Mutex::default() }
    }

    pub(super) fn settings(&self) -> &AwsSettings {
        &self.settings
    }

    /// Does an operation. Credentials that were valid a moment ago may have been revoked: then others are tried once.
    pub(super) fn call(&self, operation: &str, body: &Value) -> Result<Value, Refusal> {
        let failed = |failure| Refusal { name: String::new(), failure };
        let bytes = Zeroizing::new(body.to_string().into_bytes());
        let keys = self.credentials.keys().map_err(failed)?;
        let mut result = self.exchange(operation, &bytes, &keys).map_err(failed)?;
        if result.as_ref().err().is_some_and(Refusal::is_of_credentials) && self.credentials.forget(&keys) {
            let keys = self.credentials.keys().map_err(failed)?;
            result = self.exchange(operation, &bytes, &keys).map_err(failed)?;
        }
        result
    }

    fn exchange(&self, operation: &str, body: &[u8], keys: &Keys) -> Result<Result<Value, Refusal>, Failure> {
        let answer = self.send(&self.request(operation, body, keys, SystemTime::now())?)?;
        if !answer.is_success() {
            return Ok(Err(Refusal::read(operation, answer.status, &answer.body)));
        }
        let read = serde_json::from_slice(&answer.body);
        read.map(Ok)
            .map_err(|_| Failure::new(FailureKind::Unreachable, format!("{operation} did not answer with JSON")))
    }

    /// The signed request of an operation.
    fn request(&self, operation: &str, body: &[u8], keys: &Keys, now: SystemTime) -> Result<Request, Failure> {
        let target = format!("{SERVICE}.{operation}");
        let url = format!("{}/", self.settings.endpoint.trim_end_matches('/'));
        let headers = [("content-type", CONTENT_TYPE), ("x-amz-target", target.as_str())];
        let signable = Signable { url: &url, region: &self.settings.region, headers, body };
        let signed = signable.sign(keys, now)?;
        let mut request = Request::new(Method::Post, &url).map_err(|error| unreachable(&error))?;
        request = request.with_header("x-amz-target", secret::Secret::new(target));
        for (name, value) in signed {
            request = request.with_header(&name, value);
        }
        Ok(request.with_body(CONTENT_TYPE, body.to_vec()))
    }

    /// Every operation here can be repeated: one that meets a connection which the server has just closed is sent again.
    fn send(&self, request: &Request) -> Result<Answer, Failure> {
        let client = self.client()?;
        match client.send(request) {
            Err(fetch::Error::EndedEarly { .. }) => client.send(request),
            other => other,
        }
        .map_err(|error| unreachable(&error))
    }

    /// The client; made again when its CA certificates have changed.
    fn client(&self) -> Result<Arc<Client>, Failure> {
        let ca = match &self.settings.ca_file {
            Some(file) => read_file(file)?,
            None => Vec::new(),
        };
        let mut held = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = held.as_ref().filter(|(made_with, _)| *made_with == ca) {
            return Ok(Arc::clone(client));
        }
        let made = Arc::new(client(trust(self.settings.ca_file.as_deref())?, self.settings.timeout)?);
        *held = Some((ca, Arc::clone(&made)));
        Ok(made)
    }
}

/// A client for AWS: its addresses are the operator's own word, and it follows no redirect.
pub(super) fn client(trust: Trust, timeout: Duration) -> Result<Client, Failure> {
    let mut settings = Settings::new(trust);
    settings.reach = Reach::ANYWHERE;
    settings.limits = Limits { connect: timeout, total: timeout, body: ANSWER_LIMIT, redirects: 0 };
    Client::new(settings).map_err(|error| denied(chain(&error)))
}

/// The CA certificates of a file, or those of the system.
pub(super) fn trust(ca_file: Option<&Path>) -> Result<Trust, Failure> {
    let Some(file) = ca_file else { return Ok(Trust::System { and: Vec::new() }) };
    fetch::certificates(&read_file(file)?).map(Trust::Only).map_err(|error| denied(chain(&error)))
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    small_file::read(path)
        .map_err(|error| denied(format!("cannot read the CA certificates {}: {error}", path.display())))
}

fn unreachable(error: &fetch::Error) -> Failure {
    Failure::new(FailureKind::Unreachable, chain(error))
}
