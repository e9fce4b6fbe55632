//! Certificate authorities that the whole machine trusts.
use super::files::own_file;
use crate::{Known, Phase, PlanError, Planned, Step, Wanted};
use base64::{Engine, prelude::BASE64_STANDARD};
use documents::v1alpha1::Certificate;
use host::{Change, Error, Inspect, certificate_bodies, hex};
use sha2::{Digest, Sha256};

pub(crate) struct Trust;

impl Phase for Trust {
    fn name(&self) -> &'static str {
        "trust"
    }

    fn summary(&self) -> &'static str {
        "puts certificates into the system's trust store"
    }

    fn plan(&self, machine: &Wanted, _: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError> {
        let mut planned = Planned::default();
        if machine.trust.is_empty() {
            return Ok(planned);
        }
        let Some(store) = seen.trust_store()? else {
            return Err(PlanError::Look(Error::Unfit {
                what: "the trust store".into(),
                why: "this system has neither update-ca-certificates nor update-ca-trust".into(),
                advice: "install the package ca-certificates, then run again".into(),
            }));
        };
        let bundle = seen.file(store.bundle)?;
        let trusted = certificate_bodies(bundle.as_ref().map_or(&[], |file| file.contents.expose()));
        let mut missing = Vec::new();
        for bundle in &machine.trust {
            for certificate in &bundle.certificates {
                let body = BASE64_STANDARD.encode(&certificate.der);
                // One certificate a file: Debian's program skips files that hold more.
                let path =
                    format!("{}/machineadm-{}-{}.{}", store.anchors, bundle.name, short(certificate), store.ending);
                planned.steps.extend(own_file(seen, &path, pem(&body), 0o644)?);
                if !trusted.contains(&body) {
                    missing.push(body);
                }
            }
        }
        if !missing.is_empty() {
            planned.steps.push(Step::Ensure(Change::RefreshTrust { store, missing }));
        }
        Ok(planned)
    }
}

fn pem(body: &str) -> Vec<u8> {
    let lines = body.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line) + "\n");
    format!("-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n", lines.collect::<String>()).into_bytes()
}

fn short(certificate: &Certificate) -> String {
    hex(&Sha256::digest(&certificate.der)[..4])
}
