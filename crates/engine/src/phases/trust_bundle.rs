//! TrustBundleConfig: CA certificates that the whole machine trusts.
use super::{OwnFile, Phase, Role, no_acts};
use crate::{Fault, Look, PlanError, Planned, Step};
use base64::{Engine, prelude::BASE64_STANDARD};
use documents::{
    AnyDocument, Decoded,
    v1alpha1::{Certificate, trust_anchor},
};
use host::{Change, Error, certificate_bodies};
use objects::{hex, pem};
use sha2::{Digest, Sha256};

pub(super) const PHASE: Phase = Phase {
    kind: "TrustBundleConfig",
    summary: "puts CA certificates into the system's trust store",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::TrustBundle(bundle) = &document.body else { return Ok(planned) };
    let Some(store) = look.host.trust_store()? else {
        return Err(PlanError::known(Fault::NotInstalled)(Error::Unfit {
            what: "the trust store".into(),
            why: "this system has neither update-ca-certificates nor update-ca-trust".into(),
            advice: "install the package ca-certificates, then run again".into(),
        }));
    };
    let stored = look.host.file(store.bundle)?;
    let trusted = certificate_bodies(stored.as_ref().map_or(&[], |file| file.contents.expose()));
    let mut missing = Vec::new();
    for certificate in &bundle.certificates {
        let body = BASE64_STANDARD.encode(&certificate.der);
        // One certificate a file: Debian's program skips files that hold more.
        let path = format!("{}.{}", trust_anchor(store.anchors, &bundle.name, &short(certificate)), store.ending);
        OwnFile {
            path: &path,
            contents: pem::encode(pem::CERTIFICATE, &certificate.der).into_bytes(),
            mode: 0o644,
            confidential: document.sealed,
        }
        .plan(look, &mut planned)?;
        if !trusted.contains(&body) {
            missing.push(body);
        }
    }
    if !missing.is_empty() {
        planned.steps.push(Step::Ensure(Change::RefreshTrust { store, missing }));
    }
    Ok(planned)
}

fn short(certificate: &Certificate) -> String {
    hex::encode(&Sha256::digest(&certificate.der)[..4])
}
