//! TrustBundleConfig: certificate authorities that the whole machine trusts.
use super::{API_VERSION, DEFAULT_NAME, pem};
use crate::{
    Claim, Claimed,
    document::{Body, Check, Document},
    findings::Findings,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Certificates under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustBundle {
    /// The file's name without its ending.
    pub name: String,
    /// At least one.
    pub certificates: Vec<Certificate>,
}

/// One certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// DER.
    pub der: Vec<u8>,
}

/// Certificate authorities that every program on the machine trusts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustBundleConfig {
    /// One or more CA certificates in PEM. Private keys and certificates of servers are refused.
    #[schemars(regex(pattern = "-----BEGIN CERTIFICATE-----"))]
    pub certificates: String,
}

impl Document for TrustBundleConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "TrustBundleConfig";
    const SUMMARY: &str = "CA certificates that every program on the machine trusts.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: TrustBundleConfig
metadata:
  name: example-root
spec:
  certificates: |
    -----BEGIN CERTIFICATE-----
    MIIBSDCB+6ADAgECAhRl4yyeXCRIxE13bSQLFUYJuCpbjTAFBgMrZXAwGjEYMBYG
    A1UEAwwPRXhhbXBsZSBSb290IENBMB4XDTI2MTExNTIyMTcwNVoXDTM2MTExMjIy
    MTcwNVowGjEYMBYGA1UEAwwPRXhhbXBsZSBSb290IENBMCowBQYDK2VwAyEAQi2d
    nzPoc3Q5FSH+7j1Cnn+aNvT97hAPwjea/rOlnfKjUzBRMB0GA1UdDgQWBBR+DjcJ
    l6jnyq21gGfhOu1PnJvfQDAfBgNVHSMEGDAWgBR+DjcJl6jnyq21gGfhOu1PnJvf
    QDAPBgNVHRMBAf8EBTADAQH/MAUGAytlcANBAPFLxZKGRw0TxOZ5mgbPx7+dPaQ4
    m28sZ5mTj9gyuF0RjbZwouIE++9022EDeygTKKvafShNx7kwY3xNQPuOKw4=
    -----END CERTIFICATE-----
";
}

impl Check for TrustBundleConfig {
    type Checked = TrustBundle;

    fn check(self, name: Option<&str>, findings: &mut Findings<'_>) -> TrustBundle {
        let Self { certificates } = self;
        let (found, problems) = pem::certificates(&certificates);
        if found.is_empty() && problems.is_empty() {
            findings
                .error("spec.certificates", "contains no certificate")
                .hint("start each with the line `-----BEGIN CERTIFICATE-----`");
        }
        for problem in problems {
            findings.error("spec.certificates", problem.to_string());
        }
        let mut certificates: Vec<Certificate> = Vec::new();
        for (index, der) in found.into_iter().enumerate() {
            if !pem::is_authority(&der) {
                findings
                    .error("spec.certificates", format!("certificate {} is not a CA certificate", index + 1))
                    .hint("use the certificate of the CA that issued it");
            }
            match certificates.iter().any(|known| known.der == der) {
                true => _ = findings.warning("spec.certificates", format!("certificate {} is a duplicate", index + 1)),
                false => certificates.push(Certificate { der }),
            }
        }
        TrustBundle { name: name.unwrap_or(DEFAULT_NAME).to_owned(), certificates }
    }
}

impl Body for TrustBundle {
    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let bundle = Claimed::Output { what: "trust bundle", name: Some(&self.name), path: None };
        // Wherever a distribution keeps its anchors, the bundle that programs read is there.
        let read = Claimed::FilesBelow("/etc/ssl/certs");
        vec![Claim::new("metadata.name", bundle), Claim::new("spec.certificates", read)]
    }
}

/// Where distributions look for the certificates of their administrators.
const ANCHOR_DIRS: [&str; 3] =
    ["/usr/local/share/ca-certificates", "/etc/pki/ca-trust/source/anchors", "/etc/pki/trust/anchors"];
const ANCHOR_PREFIX: &str = "machineadm-";

/// The file of one certificate of a bundle in a directory of trust anchors, without its ending.
pub fn trust_anchor(directory: &str, bundle: &str, fingerprint: &str) -> String {
    format!("{directory}/{ANCHOR_PREFIX}{bundle}-{fingerprint}")
}

/// Whether a path can be the file of a certificate.
pub(super) fn is_trust_anchor(path: &str) -> bool {
    let Some((directory, name)) = path.rsplit_once('/') else { return false };
    ANCHOR_DIRS.contains(&directory) && name.starts_with(ANCHOR_PREFIX)
}

/// The certificates of a member that says who may vouch; none where there is none.
pub(crate) fn authorities(here: &str, text: Option<&str>, findings: &mut Findings<'_>) -> Vec<Certificate> {
    let Some(text) = text else { return Vec::new() };
    let (found, problems) = pem::certificates(text);
    if found.is_empty() && problems.is_empty() {
        findings.error(here, "contains no certificate").hint("start each with the line `-----BEGIN CERTIFICATE-----`");
    }
    for problem in problems {
        findings.error(here, problem.to_string());
    }
    found.into_iter().map(|der| Certificate { der }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyDocument,
        testing::{found, problems, spec, with_spec},
    };

    fn example_certificates() -> &'static str {
        TrustBundleConfig::EXAMPLE.split_once("certificates: |\n").unwrap().1
    }

    #[test]
    fn a_bundle_without_a_name_gets_ours() {
        let yaml = format!("certificates: |\n{}", example_certificates());
        let AnyDocument::TrustBundle(bundle) = spec("TrustBundleConfig", &yaml) else { panic!() };
        assert_eq!((bundle.name.as_str(), bundle.certificates.len()), ("machineadm", 1));
    }

    #[test]
    fn a_leaf_certificate_is_refused_and_an_old_root_is_not() {
        let found = |pem: &str| {
            let pem = pem.replace('\n', "\n  ");
            found(&with_spec("TrustBundleConfig", &format!("certificates: |\n  {}", pem.trim_end())))
        };
        let refused = "spec.certificates: certificate 1 is not a CA certificate";
        for (pem, expected) in [
            (include_str!("../../tests/vectors/certificates/ca.pem"), None),
            (include_str!("../../tests/vectors/certificates/self-plain.pem"), None),
            (include_str!("../../tests/vectors/certificates/self-leaf.pem"), Some(refused)),
            (include_str!("../../tests/vectors/certificates/leaf-plain.pem"), Some(refused)),
            (include_str!("../../tests/vectors/certificates/leaf.pem"), Some(refused)),
        ] {
            assert_eq!(found(pem).first().map(String::as_str), expected);
        }
    }

    #[test]
    fn a_repeated_certificate_is_kept_once_with_a_warning() {
        let yaml = format!("certificates: |\n{0}{0}", example_certificates());
        assert_eq!(problems("TrustBundleConfig", &yaml), ["spec.certificates"]);
        let AnyDocument::TrustBundle(bundle) = spec("TrustBundleConfig", &yaml) else { panic!() };
        assert_eq!(bundle.certificates.len(), 1);
    }

    #[test]
    fn a_private_key_and_a_text_without_certificates_are_errors() {
        let key = "certificates: \"-----BEGIN EC PRIVATE KEY-----\\nMAA=\\n-----END EC PRIVATE KEY-----\"";
        assert_eq!(problems("TrustBundleConfig", key), ["spec.certificates"]);
        assert_eq!(problems("TrustBundleConfig", "certificates: hello"), ["spec.certificates"]);
    }
}
