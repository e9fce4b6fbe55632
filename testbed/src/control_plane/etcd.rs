//! What etcd really stores, read past the API server.
use super::{ControlPlane, Part, curl};
use crate::{Error, Result, child};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

impl ControlPlane {
    /// The client URL of etcd.
    pub fn etcd_url(&self) -> Result<String> {
        Ok(format!("https://127.0.0.1:{}", self.find(Part::Etcd)?.1.number()))
    }

    /// The bytes stored under a key such as `/registry/secrets/default/name`; `None` when there is no such key.
    pub fn stored(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let answer = self.range(json!({ "key": encode(key.as_bytes()) }))?;
        answer["kvs"][0]["value"].as_str().map(decode).transpose()
    }

    /// All keys that begin so, in order.
    pub fn stored_keys(&self, prefix: &str) -> Result<Vec<String>> {
        // The range ends before the first key that no longer begins so: the last byte counted up.
        let mut end = prefix.as_bytes().to_vec();
        if let Some(last) = end.last_mut() {
            *last = last.saturating_add(1);
        }
        let answer =
            self.range(json!({ "key": encode(prefix.as_bytes()), "range_end": encode(&end), "keys_only": true }))?;
        let keys = answer["kvs"].as_array().into_iter().flatten().filter_map(|entry| entry["key"].as_str());
        keys.map(|key| Ok(String::from_utf8_lossy(&decode(key)?).into_owned())).collect()
    }

    fn range(&self, request: Value) -> Result<Value> {
        let url = format!("{}/v3/kv/range", self.etcd_url()?);
        let answer = child::check(curl(self.claim.directory(), &url).args(["--data", &request.to_string()]), LIMIT)?;
        serde_json::from_str(&answer).map_err(|_| unreadable(&answer))
    }
}

fn encode(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

fn decode(text: &str) -> Result<Vec<u8>> {
    BASE64_STANDARD.decode(text).map_err(|_| unreadable(text))
}

fn unreadable(found: &str) -> Error {
    Error::Unreadable { what: "an answer of etcd".to_owned(), found: found.to_owned() }
}
