//! The contract of KMS v2: Status, Encrypt and Decrypt of one key.
use crate::configuration::OnOutage;
use crate::key::Key;
use crate::v2::key_management_service_server::KeyManagementService;
use crate::v2::{DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, StatusRequest, StatusResponse};
use kms::{CIPHERTEXT_LIMIT, Failure, FailureKind};
use std::collections::HashMap;
use std::sync::Arc;
use tonic::{Code, Request, Response, Status};
use zeroize::Zeroizing;

/// The version of the contract, in every Status.
const VERSION: &str = "v2";
/// The only text that kube-apiserver takes for healthy.
const OK: &str = "ok";

/// The annotation with the version of the key; stored beside each object, in clear.
pub const VERSION_ANNOTATION: &str = "version.kms.machineadm.cluster.x-k8s.io";
/// The epoch beside it.
pub const EPOCH_ANNOTATION: &str = "epoch.kms.machineadm.cluster.x-k8s.io";

/// What one message may have, in bytes: annotations may have 32 KiB, ciphertext and key id 1 KiB each.
pub(crate) const MESSAGE_LIMIT: usize = 40 << 10;

/// The service of one key.
pub(crate) struct Service(pub(crate) Arc<Key>);

#[tonic::async_trait]
impl KeyManagementService for Service {
    async fn status(&self, _: Request<StatusRequest>) -> Result<Response<StatusResponse>, Status> {
        let health = self.0.health().await;
        let (healthz, key_id) = match (health.result, health.last_id, self.0.settings.on_outage) {
            (Ok(id), ..) => (OK.to_owned(), id),
            (Err(failure), Some(id), OnOutage::Continue) => (self.unhealthy(&failure), id),
            (Err(failure), ..) => return Err(Status::new(code(failure.kind), self.unhealthy(&failure))),
        };
        Ok(Response::new(StatusResponse { version: VERSION.to_owned(), healthz, key_id: key_id.as_str().to_owned() }))
    }

    async fn encrypt(&self, request: Request<EncryptRequest>) -> Result<Response<EncryptResponse>, Status> {
        let plaintext = Zeroizing::new(request.into_inner().plaintext);
        // No ciphertext is shorter than its plaintext: what cannot become a good one does not wait for the service.
        if plaintext.is_empty() || plaintext.len() > CIPHERTEXT_LIMIT {
            let message = format!("the plaintext has {} bytes: 1 to {CIPHERTEXT_LIMIT} are allowed", plaintext.len());
            return Err(refused(&Failure::invalid(message)));
        }
        let (sealed, id) = self.0.encrypt(plaintext).await.map_err(|failure| refused(&failure))?;
        let annotations = HashMap::from([
            (VERSION_ANNOTATION.to_owned(), sealed.version.version.into_bytes()),
            (EPOCH_ANNOTATION.to_owned(), self.0.settings.epoch.to_string().into_bytes()),
        ]);
        let key_id = id.as_str().to_owned();
        Ok(Response::new(EncryptResponse { ciphertext: sealed.ciphertext, key_id, annotations }))
    }

    async fn decrypt(&self, request: Request<DecryptRequest>) -> Result<Response<DecryptResponse>, Status> {
        let DecryptRequest { ciphertext, uid: _, key_id, annotations } = request.into_inner();
        let named = named_version(&ciphertext, &annotations).map_err(|failure| refused(&failure))?;
        // They may be long, and the call may wait.
        drop(annotations);
        let opened = match named {
            Some((version, epoch)) => self.0.decrypt(ciphertext, key_id, version, epoch).await,
            None => self.0.decrypt_of_other_plugin(ciphertext, key_id).await,
        };
        let opened = opened.map_err(|failure| refused(&failure))?;
        Ok(Response::new(DecryptResponse { plaintext: opened.to_vec() }))
    }
}

impl Service {
    fn unhealthy(&self, failure: &Failure) -> String {
        format!("key {}: {failure}", self.0.settings.name)
    }
}

/// The version and epoch that a request's annotations name; `None` for a request with no annotation at all, which can be
/// of another plugin.
pub fn named_version(
    ciphertext: &[u8],
    annotations: &HashMap<String, Vec<u8>>,
) -> Result<Option<(String, u64)>, Failure> {
    if ciphertext.is_empty() || ciphertext.len() > CIPHERTEXT_LIMIT {
        return Err(Failure::invalid(format!("the ciphertext has {} bytes: 1 to 1024 are allowed", ciphertext.len())));
    }
    if annotations.is_empty() {
        return Ok(None);
    }
    let text = |name: &str| {
        let bytes = annotations.get(name).filter(|bytes| bytes.len() <= 256);
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).filter(|text| !text.is_empty());
        text.ok_or_else(|| Failure::invalid(format!("the annotation {name} is missing or not valid")))
    };
    let version = text(VERSION_ANNOTATION)?.to_owned();
    // Digits alone: one epoch has one spelling.
    let epoch = text(EPOCH_ANNOTATION)?;
    let number = epoch.parse::<u64>().ok().filter(|number| number.to_string() == epoch);
    let number =
        number.ok_or_else(|| Failure::invalid(format!("the annotation {EPOCH_ANNOTATION} is not a number")))?;
    Ok(Some((version, number)))
}

fn refused(failure: &Failure) -> Status {
    Status::new(code(failure.kind), failure.to_string())
}

/// The code of gRPC for a kind of failure.
pub(crate) const fn code(kind: FailureKind) -> Code {
    match kind {
        FailureKind::Unreachable => Code::Unavailable,
        FailureKind::Throttled => Code::ResourceExhausted,
        FailureKind::AccessDenied => Code::PermissionDenied,
        FailureKind::Disabled | FailureKind::PendingDeletion | FailureKind::DecryptsOnly => Code::FailedPrecondition,
        FailureKind::Missing => Code::NotFound,
        FailureKind::InvalidRequest => Code::InvalidArgument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Configuration;

    const DOCS: &str = include_str!("../../../docs/operating/kms.md");

    #[test]
    fn the_docs_have_each_kind_of_failure_with_its_code() {
        for kind in FailureKind::ALL {
            let row = DOCS.lines().find(|line| line.starts_with(&format!("| `{kind}` |"))).unwrap();
            assert!(row.ends_with(&format!("| {:?} |", code(*kind))), "{row}");
        }
    }

    #[test]
    fn the_example_of_the_docs_is_valid() {
        let example = DOCS.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let text: String =
            example.lines().map(|line| format!("{}\n", line.strip_prefix("   ").unwrap_or(line))).collect();
        let found = Configuration::parse(&text).unwrap();
        assert_eq!((found.keys.len(), found.health.is_some()), (1, true));
    }
}
