//! The plugin in its container image, on a machine with containerd.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
extern crate kms as machineadm_kms;

#[expect(dead_code, reason = "the tests of crates/kms use the rest")]
#[path = "../../../kms/tests/aws/fake_aws_kms.rs"]
mod fake_aws_kms;
#[expect(dead_code, reason = "the tests of crates/kms use the rest")]
#[path = "../../../kms/tests/aws/fake_credentials.rs"]
mod fake_credentials;
mod image;
#[path = "../../../kms/tests/aws/sigv4.rs"]
mod sigv4;
mod static_pod;

use machineadm_benches::machine_kms_plugin;
use serde_json::{Value, json};
use tempfile::TempDir;
use testbed::programs::KMS_CLIENT;
use testbed::{Bed, Machine, Profile, Result, plugin_image};

/// A machine that has the image, and kube-apiserver's own client.
fn with_image(bed: &Bed) -> Result<Machine> {
    let directory = TempDir::new().unwrap();
    let image = directory.path().join("image.tar");
    plugin_image::write(&machine_kms_plugin().unwrap(), &image)?;
    let machine = bed.machine("kms", &Profile::node())?;
    machine.boot()?;
    machine.copy_in(&image, "/var/tmp/image.tar")?;
    machine.copy_in(&KMS_CLIENT.ensure()?.judge("kms-client")?, "/opt/kms-client")?;
    machine.shell("mkdir -p /run/kmsplugin /etc/kms && ctr -n k8s.io images import /var/tmp/image.tar")?;
    Ok(machine)
}

/// What kube-apiserver's own client is answered.
fn status(machine: &Machine) -> Result<Value, String> {
    let requests = [json!({"do": "connect", "socket": "/run/kmsplugin/a.sock"}), json!({"do": "status"})];
    let requests = requests.map(|request| format!("{request}\n")).concat();
    let printed = machine.shell(&format!("printf '%s' '{requests}' | /opt/kms-client"));
    let printed = printed.map_err(|error| error.to_string())?;
    serde_json::from_str(printed.lines().last().unwrap_or_default()).map_err(|_| printed.clone())
}
