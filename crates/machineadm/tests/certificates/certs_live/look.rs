//! What a cluster has of the copy, as kubectl sees it, and how a command ended.
use crate::support::{certs_bed::CertsBed, run_output::RunOutput};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};
use testbed::Result;

/// For conditions that take seconds at most; this is for a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// The copy.
pub(crate) const COPY: &str = "kubeadm-certs";

impl CertsBed {
    /// Every Secret of kube-system, by its name.
    pub(crate) fn secrets(&self) -> Result<BTreeMap<String, Value>> {
        let list = self.plane.kubectl(&["--namespace=kube-system", "get", "secrets", "--output=json"])?;
        let list: Value = serde_json::from_str(&list).unwrap();
        let item = |item: &Value| (item["metadata"]["name"].as_str().unwrap().to_owned(), item.clone());
        Ok(list["items"].as_array().unwrap().iter().map(item).collect())
    }

    pub(crate) fn has_copy(&self) -> Result<bool> {
        Ok(self.secrets()?.contains_key(COPY))
    }

    /// Changes entries of the copy in the cluster.
    pub(crate) fn patch_copy(&self, data: &Value) -> Result<()> {
        let patch = serde_json::json!({"data": data}).to_string();
        let words = ["--namespace=kube-system", "patch", "secret", COPY, "--type=merge", "--patch", &patch];
        self.plane.kubectl(&words).map(drop)
    }
}

/// The names of a Secret's entries.
pub(crate) fn entries(secret: &Value) -> Vec<&str> {
    secret["data"].as_object().unwrap().keys().map(String::as_str).collect()
}

/// An entry of a Secret.
pub(crate) fn entry(secret: &Value, name: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(secret["data"][name].as_str().unwrap()).unwrap()
}

/// The same as text.
pub(crate) fn text(secret: &Value, name: &str) -> String {
    String::from_utf8(entry(secret, name)).unwrap()
}

/// The tokens that do nothing but end the copy.
pub(crate) fn ttl_tokens(secrets: &BTreeMap<String, Value>) -> Vec<&Value> {
    let is_one = |secret: &&Value| {
        secret["type"] == "bootstrap.kubernetes.io/token"
            && secret["data"]["description"].is_string()
            && text(secret, "description") == "Proxy for managing TTL for the kubeadm-certs secret"
    };
    secrets.values().filter(is_one).collect()
}

/// A run that must succeed.
pub(crate) fn done(ran: RunOutput) -> RunOutput {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// A run that must fail with this code, this cause and this remedy, and without a result.
pub(crate) fn refused(ran: &RunOutput, code: i32, cause: &str, remedy: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{ran:?}");
    for words in [cause, remedy] {
        assert!(ran.stderr.contains(words), "no {words:?} in: {}", ran.stderr);
    }
}
