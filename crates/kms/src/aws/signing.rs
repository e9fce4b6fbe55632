//! Signature Version 4 of one request.
use super::credentials::Keys;
use crate::{Failure, FailureKind};
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use secret::Secret;
use std::time::SystemTime;

/// The service that the signatures are for.
const SERVICE: &str = "kms";

/// What is signed, beside the host.
pub(super) struct Signable<'a> {
    /// The URL of the POST.
    pub(super) url: &'a str,
    /// The region that the signature is for.
    pub(super) region: &'a str,
    /// The headers that are signed.
    pub(super) headers: [(&'a str, &'a str); 2],
    /// The body.
    pub(super) body: &'a [u8],
}

impl Signable<'_> {
    /// The headers that carry the signature.
    pub(super) fn sign(&self, keys: &Keys, now: SystemTime) -> Result<Vec<(String, Secret<String>)>, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(FailureKind::AccessDenied, format!("the request cannot be signed: {error}"))
        };
        let token = keys.session_token.as_ref().map(|token| token.expose().clone());
        let id = keys.access_key_id.clone();
        let identity = Credentials::new(id, keys.secret_access_key.expose(), token, None, "machineadm").into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(self.region)
            .name(SERVICE)
            .time(now)
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| failed(&error))?;
        let body = SignableBody::Bytes(self.body);
        let request =
            SignableRequest::new("POST", self.url, self.headers.into_iter(), body).map_err(|error| failed(&error))?;
        let signed = sign(request, &parameters.into()).map_err(|error| failed(&error))?;
        let (instructions, _) = signed.into_parts();
        Ok(instructions.headers().map(|(name, value)| (name.to_owned(), Secret::new(value.to_owned()))).collect())
    }
}
