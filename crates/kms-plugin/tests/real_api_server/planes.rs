//! A real kube-apiserver that encrypts with the plugin, and what etcd stores.
use crate::support::{Client, Plugin, encode, error};
use serde_json::json;
use std::time::Duration;
use testbed::control_plane::{ControlPlane, Options, Part};
use testbed::until;

/// kube-apiserver looks at a healthy plugin at most every 20 s when it is asked for its health, and each minute by itself.
const ADOPTION: Duration = Duration::from_secs(90);
/// What stands before each encrypted object.
const PREFIX: &[u8] = b"k8s:enc:kms:v2:plugin:";

pub(crate) fn options(plugin: &Plugin) -> Options {
    let encryption = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n\
        - resources: [secrets]\n  providers:\n  - kms: {{apiVersion: v2, name: plugin, endpoint: 'unix://{}'}}\n",
        plugin.socket("a").display()
    );
    Options { encryption: Some(encryption), controllers: Vec::new(), ..Options::default() }
}

pub(crate) fn create(plane: &ControlPlane, name: &str) -> testbed::Result<()> {
    plane.kubectl(&["create", "secret", "generic", name, &format!("--from-literal=text={name}")]).map(drop)
}

pub(crate) fn read(plane: &ControlPlane, name: &str) -> String {
    plane.kubectl(&["get", "secret", name, "-o", "jsonpath={.data.text}"]).unwrap()
}

/// The key of a Secret in etcd, and the EncryptedObject below it.
pub(crate) fn encrypted_object(plane: &ControlPlane, name: &str) -> (String, Vec<u8>) {
    let key = format!("/registry/secrets/default/{name}");
    let stored = plane.stored(&key).unwrap().unwrap();
    assert!(!stored.windows(name.len()).any(|window| window == name.as_bytes()), "the Secret is stored in clear");
    (key, stored.strip_prefix(PREFIX).expect("encrypted by the plugin").to_vec())
}

/// The id of the key that the stored object names, read past the API server with Kubernetes' own types.
pub(crate) fn stored_id(plane: &ControlPlane, client: &mut Client, name: &str) -> String {
    named_id(client, &encrypted_object(plane, name).1)
}

/// The id of the key that an EncryptedObject names.
pub(crate) fn named_id(client: &mut Client, object: &[u8]) -> String {
    let decoded = client.ask(&json!({"do": "decode", "data": encode(object)}));
    assert_eq!((error(&decoded), decoded["source"].as_str()), ("", Some("HKDF_SHA256_XNONCE_AES_GCM_SEED")));
    decoded["keyID"].as_str().unwrap().to_owned()
}

/// Writes Secrets until one is stored with this key; kube-apiserver looks at its plugin when its health is asked for.
pub(crate) fn wait_for_adoption(plane: &ControlPlane, client: &mut Client, id: &str) {
    let mut number = 0;
    until("kube-apiserver writes with the new key", ADOPTION, || {
        number += 1;
        let name = format!("adopted-{number}");
        // Its answer is of no interest here: asking is what makes the server look.
        let _ = plane.kubectl(&["get", "--raw", "/readyz/kms-providers"]);
        create(plane, &name).map_err(|error| error.to_string())?;
        let found = stored_id(plane, client, &name);
        if found == id { Ok(()) } else { Err(found) }
    })
    .unwrap();
}

/// Kills the plugin again and again and writes a Secret each time, then reads everything through a new API server.
pub(crate) fn kill_before_each_write(plane: &mut ControlPlane, plugin: &mut Plugin, times: usize) {
    let mut written = Vec::new();
    for number in 0..times {
        plugin.kill();
        let name = format!("killed-{number}");
        // A write may fail while the plugin is away; one that is answered must be readable ever after.
        if create(plane, &name).is_ok() {
            written.push(name);
        }
        plugin.start();
    }
    assert!(written.len() * 10 >= times * 9, "writes continue without the plugin: {} of {times}", written.len());
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    for name in &written {
        assert_eq!(stored_id(plane, &mut client, name), id, "{name}");
    }
    plane.kill(Part::ApiServer(0)).unwrap();
    plane.restart(Part::ApiServer(0)).unwrap();
    for name in &written {
        assert_eq!(read(plane, name), encode(name.as_bytes()), "{name}");
    }
}
